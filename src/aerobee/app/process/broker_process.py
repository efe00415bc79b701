"""BrokerPart is a broker as a part of a process: it keeps the ports, and runs one life of the
broker after another behind them.

    take the ports ─▶ run a life ─▶ ready ─▶ the service wants another role ─▶ end the life,
    run the next ─▶ …

Nothing is changed before the ports are bound and the store is locked: a second broker on one port
or one store fails to start and leaves the first one alone. The same service is on two ports,
because Java clients may send to the one two below (VIP channel).

A change of role, and a log that must be cut because it differs from its master's, are another life:
the service is stopped, the store closed and opened again, a new service built. Connections are
closed; the ports stay bound, so that clients who come meanwhile wait instead of being refused.

Imports more than 15 modules because it puts the others together.
"""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable, Sequence

from aerobee.app.process.broker_life import BrokerLife, Build
from aerobee.app.process.doors import Doors
from aerobee.app.process.holdings import Holdings, holdings_of
from aerobee.app.process.lifecycle import CannotStart, Ended, explained, shout_if_open
from aerobee.app.process.monitor import Monitor
from aerobee.app.process.safety import safety_of
from aerobee.app.process.store_reset import set_log_aside
from aerobee.app.settings.broker_settings import (
    NO_GRPC,
    VIP_PORT_STEP,
    BrokerSettings,
)
from aerobee.app.settings.config import ListenConfig, given_in_file
from aerobee.app.settings.monitor_settings import Exporter
from aerobee.model.broker_role import Stage
from aerobee.net.listener import bind, port_of
from aerobee.ports.clock import Clock
from aerobee.ports.service import Peer, Rebuild
from aerobee.protocol.text.java_properties import write_properties
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.raft_seat import RaftSeat
from aerobee.system.clock import SystemClock
from aerobee.system.disk import MappedDisk
from aerobee.system.entropy import SystemEntropy

_log = logging.getLogger(__name__)

HAND_OVER_SECONDS_MAX = 2.0
HAND_OVERS_MAX = 3
"""A member that is to stop may be elected again, by others that stop, too."""
_LOOK_SECONDS = 0.005
_QUIET_LOOK_SECONDS = 0.05
_FREE_PAIR_TRIES = 50


class BrokerPart:
    """A broker, as a part of a process."""

    def __init__(
        self,
        settings: BrokerSettings,
        build: Build,
        nameservers: Callable[[], Sequence[str]] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`nameservers`, if given, is called at the start and replaces the name servers of the
        settings. `clock` is for tests, and may jump."""
        self._settings = settings
        self._build = build
        self._nameservers = nameservers
        self._undo = contextlib.AsyncExitStack()
        self._is_own_time = clock is None
        self._clock: Clock = clock or SystemClock()
        self._monitor = Monitor(self._clock)
        self._seat: RaftSeat | None = None
        if settings.raft.is_on:
            self._seat = RaftSeat(settings.raft, settings.group, SystemEntropy())
        self._doors: Doors | None = None
        self._life: BrokerLife | None = None
        self._rebuilding: asyncio.Task[None] | None = None
        self._wanted: Rebuild | None = None
        # A life may ask for the next one before its start is over.
        self._changing = asyncio.Lock()
        self._report: Ended | None = None
        self.hands_over = True
        """Whether a leader that stops has another member lead first, and serves its clients until
        they know; looked at all the time."""
        self.address = ""
        """Where it is reached, once it has started."""
        self.grpc_address = ""
        """Where clients of gRPC reach it; empty: nowhere."""
        self.metrics_address = ""
        """Where its pages are; empty: nowhere."""

    @property
    def name(self) -> str:
        return self._settings.names.name

    @property
    def broker_id(self) -> int:
        return self._settings.broker_id

    @property
    def replication(self) -> ReplicationConfig:
        """Its role, and the settings of replication at its start."""
        return self._settings.replication

    @property
    def refuses_sends(self) -> bool:
        """Whether its store takes nothing now, for lack of slaves or of room on the disk."""
        return self._life is not None and self._life.store.appender.refusal is not None

    @property
    def leads(self) -> bool:
        """Whether it leads its Raft group, takes sends, and name servers know it."""
        is_leader = self._seat is not None and self.replication.role.is_master
        return is_leader and not self._monitor.obstacles()

    async def start(self, failed: Ended) -> str:
        settings = self._settings
        self._report = failed
        if settings.ignored:
            _log.info("settings without a meaning here: %s", ", ".join(settings.ignored))
        for warning in settings.warnings:
            _log.warning("%s", warning)
        async with contextlib.AsyncExitStack() as undo:
            listen = settings.listen
            home, is_exposed = settings.paths.root, settings.is_exposed
            asks = settings.access.authenticates
            guards = (settings.tls, settings.audit, home, undo)
            safety = safety_of(*guards, is_exposed=is_exposed, asks=asks)
            self._monitor.show_safety(safety)
            sockets, vip_sockets = _bind_pair(listen)
            for bound in (*sockets, *vip_sockets):
                undo.callback(bound.close)
            port = port_of(sockets[0])
            ha_port = settings.raft.port if self._seat is not None else settings.names.ha_port
            ha_sockets = _bind_ha(listen, ha_port, port)
            for bound in ha_sockets:
                undo.callback(bound.close)
            grpc_sockets = _bind_grpc(listen, settings.names.grpc_port)
            for bound in grpc_sockets:
                undo.callback(bound.close)
            self._doors = Doors(
                port,
                (*sockets, *vip_sockets),
                port_of(ha_sockets[0]),
                tuple(ha_sockets),
                safety.tls_state,
                port_of(grpc_sockets[0]) if grpc_sockets else 0,
                tuple(grpc_sockets),
                safety.audit_sink,
            )
            places = [f"broker {Peer(listen.host, self._doors.port)}"]
            if grpc_sockets:
                self.grpc_address = str(Peer(listen.host, self._doors.grpc_port))
                places.append(f"gRPC {self.grpc_address}")
            if settings.monitor.exporter is Exporter.PROM:
                # Before the store is opened, which may take its time: it is seen to start.
                undo.push_async_callback(self._monitor.close)
                self.metrics_address = await self._monitor.listen(settings.pages_at)
                places.append(f"metrics {self.metrics_address}")
            undo.push_async_callback(self._end_life)
            async with self._changing:
                await self._begin_life(Rebuild("", stage=self._first_stage()))
            self._undo = undo.pop_all()
        self.address = str(Peer(listen.host, self._doors.port))
        if settings.is_exposed:
            shout_if_open(sockets)
        return ", ".join(places)

    def _failed(self, error: BaseException) -> None:
        assert self._report is not None
        self.hands_over = False  # nobody is served any more
        self._report(error)

    def hurry(self) -> None:
        """Wait for no client: called when a stop is asked for once more."""
        self.hands_over = False

    async def stop(self) -> None:
        await self._depart()
        if self._rebuilding is not None:
            await asyncio.wait([self._rebuilding])
        # First of all: pages look into a store that another thread closes.
        await self._monitor.close()
        await self._undo.aclose()

    async def _depart(self) -> None:
        """Have another member of the group lead before this one is gone, and serve clients that
        still ask this one: they wait for milliseconds instead of for an election."""
        seat = self._seat
        if seat is None or self._life is None:
            return
        departure, hand_overs = seat.departure, 0
        while self.hands_over:
            node, now_ms = seat.node, self._clock.now().monotonic_ms
            leads = node.leading is not None
            departure.begin(now_ms, leads=leads)
            self.wake()
            if leads:
                hand_overs += 1
                if hand_overs > HAND_OVERS_MAX or not await self._hand_over(seat):
                    return
            elif departure.is_over(now_ms, has_leader=node.leader is not None):
                return
            else:
                await asyncio.sleep(_QUIET_LOOK_SECONDS)

    async def _hand_over(self, seat: RaftSeat) -> bool:
        """Whether this member does not lead any more."""
        if not seat.hand_over():
            return False
        self.wake()
        loop = asyncio.get_running_loop()
        end = loop.time() + HAND_OVER_SECONDS_MAX
        while seat.node.leading is not None and self.hands_over and loop.time() < end:
            await asyncio.sleep(_LOOK_SECONDS)
        return seat.node.leading is None

    def wake(self) -> None:
        """Run the broker's due work at once: called after the clock was moved."""
        if self._life is not None:
            self._life.wake()

    def holdings(self) -> Holdings:
        """Return the counts of applications' topics and messages; none while it is built anew."""
        if self._life is None:
            return Holdings()
        names = self._settings.names
        return holdings_of(self._life.store, cluster=names.cluster, broker=names.name)

    # One life after another.

    def _first_stage(self) -> Stage:
        """A master whose slave may have acted for it asks before it serves, if anybody can say who
        the slaves are."""
        if self._seat is not None:
            return Stage.FOLLOWING
        told = self._settings.nameservers if self._nameservers is None else self._nameservers()
        returns = self._settings.replication.returns_isolated and bool(told)
        return Stage.RETURNING if returns else Stage.USUAL

    async def _begin_life(self, wanted: Rebuild) -> None:
        assert self._doors is not None
        nameservers = None if self._nameservers is None else self._nameservers()
        if self._seat is not None:
            self._settings = self._settings.as_member(leads=wanted.stage is Stage.LEADING)
        life = BrokerLife(
            self._settings, self._doors, self._clock, self._is_own_time, wanted.stage, self._seat
        )
        if wanted.is_emptied:
            await asyncio.to_thread(set_log_aside, self._settings.paths.root)
        told = (self._failed, self._rebuild, wanted.cut_at)
        watch = await life.start(self._build, nameservers, *told)
        self._life = life
        if watch is not None:
            self._monitor.show(watch, life.connections)

    async def _end_life(self) -> None:
        self._monitor.hide()
        if self._life is not None:
            life, self._life = self._life, None
            await life.stop()

    def _save_changes(self) -> None:
        """Have the next process start in this role, too. Settings that were changed by request
        while it ran are in the file already, and stay."""
        path, role = self._settings.paths.changes, self._settings.role_texts()
        kept = {key: text for key, text, _ in given_in_file(path)} if os.path.exists(path) else {}
        MappedDisk().replace(path, write_properties({**kept, **role}).encode())

    def _rebuild(self, wanted: Rebuild) -> None:
        """The service asks for another life. A second wish of a life that is going to end is
        dropped: the next one looks for itself. The next one's own wish, which may come before its
        start is over, is fulfilled after it: it comes only once."""
        if self._wanted is None:
            self._wanted = wanted
        if self._rebuilding is None:
            self._rebuilding = asyncio.get_running_loop().create_task(self._live_on())

    async def _live_on(self) -> None:
        try:
            async with self._changing:
                while self._wanted is not None and self._life is not None:
                    await self._change_life(self._wanted)
        finally:
            self._rebuilding = None

    async def _change_life(self, wanted: Rebuild) -> None:
        _log.warning("the broker is built anew: %s", wanted.reason)
        try:
            await self._end_life()
            self._wanted = None
            if wanted.role is not None:
                self._settings = self._settings.with_role(wanted.role)
                await asyncio.to_thread(self._save_changes)
            await self._begin_life(wanted)
        except Exception as error:
            self._failed(error)


def _bind_ha(listen: ListenConfig, ha_port: int, port: int) -> list[socket.socket]:
    """Bind the port for slaves: the given one, or the one after the broker's own. If that is taken,
    any that is free, because name servers tell slaves where it is."""
    if ha_port == 0:
        with contextlib.suppress(OSError):
            return bind(listen.host, port + 1)
    at = ListenConfig(ha_port, listen.host)
    with explained(at, hint="slaves connect there; choose another with haListenPort"):
        return bind(at.host, at.port)


def _bind_grpc(listen: ListenConfig, grpc_port: int) -> list[socket.socket]:
    """Bind the port for clients of gRPC, if there is one."""
    if grpc_port == NO_GRPC:
        return []
    at = ListenConfig(grpc_port, listen.host)
    with explained(at, hint="clients of gRPC connect there; choose another with grpcServerPort"):
        return bind(at.host, at.port)


def _bind_pair(listen: ListenConfig) -> tuple[list[socket.socket], list[socket.socket]]:
    """Bind a port, and the one two below it; for port 0 a free pair."""
    hint = "choose another with --port, or listenPort in the file"
    for tries_left in reversed(range(_FREE_PAIR_TRIES if listen.port == 0 else 1)):
        with explained(listen, hint=hint):
            sockets = bind(listen.host, listen.port)
        vip = ListenConfig(port_of(sockets[0]) - VIP_PORT_STEP, listen.host)
        try:
            with explained(vip, hint=f"a broker needs two ports; {hint}"):
                return sockets, bind(vip.host, vip.port)
        except CannotStart:
            for bound in sockets:
                bound.close()
            if tries_left == 0:
                raise
    raise AssertionError("there is one try at least")
