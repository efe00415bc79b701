"""BrokerPart starts and stops a broker on real sockets, files and clocks.

    take the ports ─▶ lock and recover the store ─▶ build ─▶ listen ─▶ tell name servers ─▶ ready
    stop listening ─▶ goodbye, last answers, offsets ─▶ close the store ─▶ done

Nothing is changed before the ports are bound and the store is locked: a second broker on one port
or one store fails to start and leaves the first one alone. The same service is on two ports,
because Java clients may send to the one two below (VIP channel).

Imports more than 15 modules because it puts the others together.
"""

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from aerobee.app.process.holdings import Holdings, holdings_of
from aerobee.app.process.lifecycle import CannotStart, Ended, explained, warn_if_open
from aerobee.app.process.monitor import Monitor
from aerobee.app.settings.broker_settings import (
    VIP_PORT_STEP,
    BrokerSettings,
)
from aerobee.app.settings.config import ListenConfig
from aerobee.app.settings.monitor_settings import Exporter
from aerobee.errors import DiskFull, StorageError
from aerobee.net.driver import Driver
from aerobee.net.listener import bind, outward_address, packed_address, port_of
from aerobee.ports.clock import Clock, Now
from aerobee.ports.service import Peer, Service
from aerobee.ports.watch import WatchedService
from aerobee.protocol.remoting.frame import FrameLimits
from aerobee.service.broker.config import SETTINGS, BrokerConfig, BrokerIdentity
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.storage.config import StorageConfig
from aerobee.storage.store import Store
from aerobee.system.clock import SystemClock
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker

_log = logging.getLogger(__name__)

ANNOUNCE_SECONDS_MAX = 5.0
"""How long a start waits for name servers: who is told that we are ready should find us there."""
PROGRESS_SECONDS = 1.0
_FREE_PAIR_TRIES = 50

Build: TypeAlias = Callable[
    [
        BrokerIdentity,
        LiveConfig[BrokerConfig],
        Store,
        MappedDisk,
        ThreadDiskWorker,
        Sequence[str],
        Now,
    ],
    Service,
]
"""Makes the service: who it is, what it may be told, what it stands on, the name servers, now."""


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
        self._driver: Driver | None = None
        self._clock: Clock = clock or SystemClock()
        self._is_own_time = clock is None
        self._monitor = Monitor(self._clock)
        self._store: Store | None = None
        self.address = ""
        """Where it is reached, once it has started."""
        self.metrics_address = ""
        """Where its pages are; empty: nowhere."""

    @property
    def name(self) -> str:
        return self._settings.names.name

    async def start(self, failed: Ended) -> str:
        settings = self._settings
        if settings.ignored:
            _log.info("settings without a meaning here: %s", ", ".join(settings.ignored))
        async with contextlib.AsyncExitStack() as undo:
            listen = settings.listen
            sockets, vip_sockets = _bind_pair(listen)
            for bound in (*sockets, *vip_sockets):
                undo.callback(bound.close)
            port = port_of(sockets[0])
            places = [f"broker {Peer(listen.host, port)}"]
            if settings.monitor.exporter is Exporter.PROM:
                # Before the store is opened, which may take its time: it is seen to start.
                undo.push_async_callback(self._monitor.close)
                at = ListenConfig(settings.monitor.port, settings.monitor.host or listen.host)
                self.metrics_address = await self._monitor.listen(at)
                places.append(f"metrics {self.metrics_address}")
            identity, store_host = self._identity(port)
            worker = ThreadDiskWorker(self.wake)
            undo.callback(worker.close)
            disk = MappedDisk()
            storage = replace(settings.storage, store_host=store_host)
            store = await self._open(disk, storage, worker)
            undo.push_async_callback(asyncio.to_thread, store.close)
            service = self._service(identity, store, disk, worker)
            driver = self._driver = Driver(
                service,
                self._clock,
                FrameLimits(),
                listen.connections_max,
                drops_idle=self._is_own_time,
            )
            with explained(listen, hint="it was free a moment ago"):
                await driver.start([*sockets, *vip_sockets], failed)
            undo.push_async_callback(driver.stop)
            await driver.settle(ANNOUNCE_SECONDS_MAX)
            if hasattr(service, "watch"):
                self._monitor.show(cast(WatchedService, service).watch, driver.connections)
            # First of all, when it stops: pages look into a store that another thread closes.
            undo.push_async_callback(self._monitor.close)
            self._undo = undo.pop_all()
        self._store, self.address = store, str(Peer(listen.host, port))
        warn_if_open(sockets)
        return ", ".join(places)

    async def stop(self) -> None:
        await self._undo.aclose()

    def wake(self) -> None:
        """Run the broker's due work at once: called from a disk thread after its work, and after
        the clock was moved."""
        if self._driver is not None:
            self._driver.tick_soon()

    def holdings(self) -> Holdings:
        """Return the counts of applications' topics and messages; only while it runs."""
        assert self._store is not None  # it has started
        names = self._settings.names
        return holdings_of(self._store, cluster=names.cluster, broker=names.name)

    def _identity(self, port: int) -> tuple[BrokerIdentity, bytes]:
        """Return the broker's identity, and the address for message ids."""
        names = self._settings.names
        host = names.host or outward_address(self._settings.listen.host)
        try:
            store_host = packed_address(host, port)
        except OSError as error:
            raise CannotStart(
                f"{host} is no address of this machine: {error.strerror}", hint="see brokerIP1"
            ) from None
        address = str(Peer(host, port))
        ha_address = str(Peer(host, names.ha_port or port + 1))
        return BrokerIdentity(names.name, names.cluster, 0, address, ha_address), store_host

    async def _open(
        self, disk: MappedDisk, storage: StorageConfig, worker: ThreadDiskWorker
    ) -> Store:
        """Open the store on another thread: recovery may take long, and signals must be handled."""
        root = self._settings.paths.root
        try:
            store = await asyncio.to_thread(
                Store.open, disk, root, storage, worker, progress=_Progress(root)
            )
        except StorageError as error:
            raise CannotStart(str(error)) from None
        except OSError as error:
            reason = f"{error.strerror}: {error.filename}" if error.filename else str(error)
            raise CannotStart(
                f"cannot open the store {root}: {reason}", hint="see --store, storePathRootDir"
            ) from None
        refusal = store.appender.refusal
        if isinstance(refusal, DiskFull):
            _log.warning("sends are refused until there is room: %s", refusal)
        return store

    def _service(
        self, identity: BrokerIdentity, store: Store, disk: MappedDisk, worker: ThreadDiskWorker
    ) -> Service:
        settings = self._settings
        config = LiveConfig(
            settings.service,
            SETTINGS,
            ChangesFile(disk, settings.paths.changes, settings.changes),
            worker,
            settings.shown(),
        )
        nameservers = settings.nameservers if self._nameservers is None else self._nameservers()
        if not nameservers:
            _log.warning("no name server is told: clients cannot find this broker (see -n)")
        now = self._clock.now()
        try:
            return self._build(identity, config, store, disk, worker, nameservers, now)
        except StorageError as error:
            raise CannotStart(str(error)) from None


class _Progress:
    """Logs a line at intervals while a store is opened, because that may take long."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._said = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._said >= PROGRESS_SECONDS:
            self._said = now
            percent = 100 * done // total if total else 100
            _log.info("opening the store: %s: %d %%", what, percent, extra={"store": self._root})


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
