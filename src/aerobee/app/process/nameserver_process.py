"""NameServerPart starts and stops a name server on real sockets, files and clocks.

Nothing is changed before the port is bound and its files are locked: a second name server on one
port, or with the same files, fails to start and leaves the first one alone.

Imports more than 15 modules because it puts the others together.
"""

import contextlib
import logging
import os

from aerobee.app.process.lifecycle import CannotStart, Ended, explained, shout_if_open
from aerobee.app.process.monitor import Monitor
from aerobee.app.process.safety import Safety, safety_of
from aerobee.app.settings.monitor_settings import Exporter
from aerobee.app.settings.nameserver_settings import WITHOUT_EFFECT, NameServerSettings
from aerobee.errors import CorruptFile
from aerobee.net.driver import Driver
from aerobee.net.listener import bind, port_of
from aerobee.net.tls_config import TlsMode
from aerobee.ports.disk import FileLock
from aerobee.ports.service import Peer
from aerobee.protocol.remoting.frame import FRAME_BYTES_MAX, FrameLimits
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.service.nameserver.config import SETTINGS
from aerobee.service.nameserver.key_values import KeyValues
from aerobee.service.nameserver.nameserver import NameServer
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.system.clock import SystemClock
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker

_log = logging.getLogger(__name__)

_PORT_HINT = (
    "choose another with --port, of aerobee up with --nameserver-port, or listenPort in the file"
)


class NameServerPart:
    """A name server, as a part of a process."""

    def __init__(self, settings: NameServerSettings) -> None:
        self._settings = settings
        self._undo = contextlib.AsyncExitStack()
        self._driver: Driver | None = None
        self._monitor = Monitor(SystemClock())
        self.address = ""
        """Where it is reached, once it has started."""

    @property
    def tls_mode(self) -> TlsMode:
        return self._settings.tls.mode

    @property
    def asks(self) -> bool:
        """Whether users are asked who they are."""
        return self._settings.access.authenticates

    async def start(self, failed: Ended) -> str:
        settings = self._settings
        if settings.ignored:
            _log.info("settings without a meaning here: %s", ", ".join(settings.ignored))
        async with contextlib.AsyncExitStack() as undo:
            listen = settings.listen
            home, is_exposed = os.path.dirname(settings.paths.key_values), settings.is_exposed
            asks = settings.access.authenticates
            guards = (settings.tls, settings.audit, home, undo)
            safety = safety_of(*guards, is_exposed=is_exposed, asks=asks)
            self._monitor.show_safety(safety)
            with explained(listen, hint=_PORT_HINT):
                sockets = bind(listen.host, listen.port)
            for bound in sockets:
                undo.callback(bound.close)
            disk = MappedDisk()
            undo.callback(self._lock(disk).release)
            worker = ThreadDiskWorker(self._wake)
            undo.callback(worker.close)
            service = self._service(disk, worker, safety)
            driver = self._driver = Driver(
                service,
                SystemClock(),
                FrameLimits(FRAME_BYTES_MAX),  # a broker tells of all its topics in one
                listen.connections_max,
                tls=safety.tls_state,
            )
            with explained(listen, hint="it was free a moment ago"):
                await driver.start(sockets, failed)
            undo.push_async_callback(driver.stop)
            places = [f"nameserver {Peer(listen.host, port_of(sockets[0]))}"]
            if settings.monitor.exporter is Exporter.PROM:
                undo.push_async_callback(self._monitor.close)
                self._monitor.show(service.watch, driver.connections)
                places.append(f"metrics {await self._monitor.listen(settings.pages_at)}")
            self._undo = undo.pop_all()
        if settings.is_exposed:
            shout_if_open(sockets)
        self.address = str(Peer(listen.host, port_of(sockets[0])))
        return ", ".join(places)

    async def stop(self) -> None:
        await self._undo.aclose()

    def _wake(self) -> None:
        """Run due work at once: called from a disk thread after its work."""
        if self._driver is not None:
            self._driver.tick_soon()

    def _lock(self, disk: MappedDisk) -> FileLock:
        path = self._settings.paths.key_values
        try:
            return disk.lock(f"{path}.lock")
        except BlockingIOError:
            raise CannotStart(
                f"another name server uses {path}",
                hint="give each its own kvConfigPath, each aerobee up its own --store",
            ) from None
        except OSError as error:
            reason = f"{error.strerror}: {error.filename}"
            raise CannotStart(f"cannot write {path}: {reason}", hint="see kvConfigPath") from None

    def _service(self, disk: MappedDisk, worker: ThreadDiskWorker, safety: Safety) -> NameServer:
        settings = self._settings
        try:
            key_values = KeyValues(
                ConfigFile(disk, settings.paths.key_values, is_pretty=False), worker
            )
        except CorruptFile as error:
            raise CannotStart(str(error)) from None
        if key_values.fault:
            _log.warning("the backup of the key-values had to do: %s", key_values.fault)
        config = LiveConfig(
            settings.service,
            SETTINGS,
            ChangesFile(disk, settings.paths.changes, settings.changes),
            worker,
            settings.shown(),
            WITHOUT_EFFECT,
        )
        told = (settings.access, safety.audit_sink)
        return NameServer(config, key_values, worker, SystemClock().now(), *told)
