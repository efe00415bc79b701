"""A name server in the simulated network, with a disk of its own for what administrators change.

Routes are in its memory: a new process knows nothing until brokers come back.
"""

from aerobee.ports.service import Service
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.service.nameserver.config import SETTINGS, NameServerConfig
from aerobee.service.nameserver.key_values import KeyValues
from aerobee.service.nameserver.nameserver import NameServer
from aerobee.sim.network import Host
from aerobee.sim.node import Fate, Node
from aerobee.sim.timed_worker import DelayMs, TimedDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile


class NameServerNode(Node):
    def __init__(
        self,
        name: str,
        host: Host,
        port: int,
        fate: Fate,
        delay_ms: DelayMs,
        config: NameServerConfig,
    ) -> None:
        super().__init__(name, host, port, fate, delay_ms)
        self._config = config
        self._worker: TimedDiskWorker | None = None

    def _build(self, worker: TimedDiskWorker) -> Service:
        self._worker = worker
        live = LiveConfig(
            self._config,
            SETTINGS,
            ChangesFile(self.disk, "namesrv/namesrv.properties", {}),
            worker,
            {},
        )
        key_values = KeyValues(
            ConfigFile(self.disk, "namesrv/kvConfig.json", is_pretty=False), worker
        )
        return NameServer(live, key_values, worker, self.host.clock.now())

    def _close(self) -> None:
        if self._worker is not None:
            self._worker.close()
