"""BrokerLife runs a broker on real files and clocks from one building to the next: store, service,
driver.

    lock and recover the store ─▶ build ─▶ listen ─▶ tell name servers
    stop listening ─▶ goodbye, last answers, offsets ─▶ close the store

Imports more than 15 modules because it puts the others together.
"""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias, cast

from aerobee.app.process.access_key import read_access_key
from aerobee.app.process.doors import Doors
from aerobee.app.process.lifecycle import CannotStart, Ended, explained
from aerobee.app.process.log_repair import LogRepair
from aerobee.app.settings.broker_settings import WITHOUT_EFFECT, BrokerSettings
from aerobee.errors import AerobeeError, CorruptRecord, DiskFull, StorageError
from aerobee.model.broker_role import Stage
from aerobee.net.driver import Driver
from aerobee.ports.clock import Clock, Now
from aerobee.ports.service import Peer, Rebuild, Service
from aerobee.ports.watch import AskingWatch, WatchedService
from aerobee.protocol.remoting.frame import FrameLimits
from aerobee.replication.raft_seat import RaftSeat
from aerobee.service.access.config import AccessConfig
from aerobee.service.broker.config import SETTINGS, BrokerConfig, BrokerIdentity
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.storage.config import StorageConfig
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker

_log = logging.getLogger(__name__)

ANNOUNCE_SECONDS_MAX = 5.0
"""How long a start waits for name servers: who is told that we are ready should find us there."""
PROGRESS_SECONDS = 1.0

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


class BrokerLife:
    """One life: started once, stopped once."""

    def __init__(
        self,
        settings: BrokerSettings,
        doors: Doors,
        clock: Clock,
        is_own_time: bool,
        stage: Stage = Stage.USUAL,
        seat: RaftSeat | None = None,
    ) -> None:
        """`is_own_time`: off where a test moves the clock. `seat`: of a member of a Raft group."""
        self._stage = stage
        self._seat = seat
        self._settings = settings
        self._doors = doors
        self._clock = clock
        self._is_own_time = is_own_time
        self._undo = contextlib.AsyncExitStack()
        self._driver: Driver | None = None
        self._store: Store | None = None

    @property
    def store(self) -> Store:
        assert self._store is not None  # it has started
        return self._store

    def connections(self) -> int:
        return 0 if self._driver is None else self._driver.connections()

    def wake(self) -> None:
        """Run the broker's due work at once: called from a disk thread after its work."""
        if self._driver is not None:
            self._driver.tick_soon()

    async def start(
        self,
        build: Build,
        nameservers: Sequence[str] | None,
        failed: Ended,
        rebuild: Callable[[Rebuild], None],
        cut_at: int | None,
    ) -> AskingWatch | None:
        """Open the store, build the service and serve. Returns what monitoring shows of it.

        `cut_at`: the log ends there. CannotStart: nothing is left behind.
        """
        settings = self._settings
        async with contextlib.AsyncExitStack() as undo:
            identity, store_host = self._identity()
            worker = ThreadDiskWorker(self.wake)
            undo.callback(worker.close)
            disk = MappedDisk()
            storage = replace(settings.storage, store_host=store_host)
            tls = self._doors.tls
            outgoing = None if tls is None else tls.outgoing
            repair = LogRepair(identity, self._addresses(nameservers), outgoing)
            store = await self._open(disk, storage, worker, cut_at, repair)
            undo.push_async_callback(asyncio.to_thread, store.close)
            service = self._service(build, identity, store, disk, worker, nameservers)
            driver = self._driver = Driver(
                service,
                self._clock,
                FrameLimits(),
                settings.listen.connections_max,
                drops_idle=self._is_own_time,
                rebuild=rebuild,
                tls=tls,
            )
            # Copies of the sockets: closing these leaves the port bound.
            sockets = [bound.dup() for bound in self._doors.sockets]
            ha_sockets = [bound.dup() for bound in self._doors.ha_sockets]
            grpc_sockets = [bound.dup() for bound in self._doors.grpc_sockets]
            with explained(settings.listen, hint="it was free a moment ago"):
                await driver.start(sockets, failed, ha_sockets, grpc_sockets)
            undo.push_async_callback(driver.stop)
            await driver.settle(ANNOUNCE_SECONDS_MAX)
            self._undo = undo.pop_all()
        self._store = store
        return cast(WatchedService, service).watch if hasattr(service, "watch") else None

    async def stop(self) -> None:
        await self._undo.aclose()
        self._driver = None

    def _identity(self) -> tuple[BrokerIdentity, bytes]:
        """Return the broker's identity, and the address for message ids."""
        names, port = self._settings.names, self._doors.port
        host = names.host or self._doors.outward_host(self._settings.listen.host)
        try:
            store_host = self._doors.packed_address(host)
        except OSError as error:
            raise CannotStart(
                f"{host} is no address of this machine: {error.strerror}", hint="see brokerIP1"
            ) from None
        address = str(Peer(host, port))
        ha_address = str(Peer(host, self._doors.ha_port))
        settings = self._settings
        identity = BrokerIdentity(
            names.name,
            names.cluster,
            settings.broker_id,
            address,
            ha_address,
            settings.replication,
            os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            self._stage,
            self._access(),
            self._seat,
            Peer(host, self._doors.grpc_port) if self._doors.grpc_sockets else None,
            self._doors.audit,
        )
        return identity, store_host

    def _access(self) -> AccessConfig:
        """Return the settings of access, with the key if users are stored."""
        access = self._settings.access
        if not access.authenticates:
            return access
        return replace(access, key=read_access_key(self._settings.key_path))

    def _addresses(self, nameservers: Sequence[str] | None) -> Sequence[str]:
        return self._settings.nameservers if nameservers is None else nameservers

    async def _open(
        self,
        disk: MappedDisk,
        storage: StorageConfig,
        worker: ThreadDiskWorker,
        cut_at: int | None,
        repair: LogRepair,
    ) -> Store:
        """Open the store on another thread: recovery may take long, and signals must be handled.
        Damaged records are fetched from a replica, if there is one."""
        root = self._settings.paths.root
        open_store = partial(
            Store.open, disk, root, storage, worker, progress=_Progress(root), cut_at=cut_at
        )
        try:
            while True:
                try:
                    store = await asyncio.to_thread(open_store)
                    break
                except CorruptRecord as damage:
                    if not await repair.repair(disk, root, damage):
                        raise
        except AerobeeError as error:
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
        self,
        build: Build,
        identity: BrokerIdentity,
        store: Store,
        disk: MappedDisk,
        worker: ThreadDiskWorker,
        nameservers: Sequence[str] | None,
    ) -> Service:
        settings = self._settings
        config = LiveConfig(
            settings.service,
            SETTINGS,
            ChangesFile(disk, settings.paths.changes, settings.changes),
            worker,
            settings.shown(),
            WITHOUT_EFFECT,
        )
        addresses = self._addresses(nameservers)
        if not addresses:
            _log.warning("no name server is told: clients cannot find this broker (see -n)")
        now = self._clock.now()
        try:
            return build(identity, config, store, disk, worker, addresses, now)
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
