"""A broker in the simulated network: its store on a disk that can lose power, and the service that
the product builds.

Started and stopped in the order in which the product does it: the store is opened before anybody is
accepted, and closed after the last answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from aerobee.model.broker_role import MASTER_ID, RoleChange
from aerobee.ports.service import ChannelId, Peer, Rebuild, Reply, Service
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.assembly import build_broker
from aerobee.service.broker.broker import Broker
from aerobee.service.broker.config import SETTINGS, BrokerConfig, BrokerIdentity
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.sim.network import Host
from aerobee.sim.node import Fate, Node
from aerobee.sim.timed_worker import DelayMs, TimedDiskWorker
from aerobee.storage.config import StorageConfig
from aerobee.storage.store import Store

ROOT = "store"


@dataclass(frozen=True)
class BrokerPlan:
    """How a broker is set up."""

    storage: StorageConfig
    config: BrokerConfig
    nameservers: Sequence[str]
    disk_bytes: int = 1 << 40
    """Of a disk that has room."""
    open_store: Callable[..., Store] = Store.open
    build: Callable[..., Broker] = build_broker
    """Others where a test plants a mistake."""
    replication: ReplicationConfig = field(default_factory=ReplicationConfig)
    """As in its configuration file; a change of role replaces the role and the master's address."""
    broker_id: int = MASTER_ID
    grpc_port: int = 0
    """For clients of gRPC; 0: they are not served."""


class BrokerNode(Node):
    def __init__(
        self, name: str, host: Host, port: int, fate: Fate, delay_ms: DelayMs, plan: BrokerPlan
    ) -> None:
        super().__init__(name, host, port, fate, delay_ms)
        self.plan = plan
        self.ha_port = port + 1
        self.grpc_port = plan.grpc_port
        self.role = RoleChange(
            plan.replication.role, plan.broker_id, plan.replication.master_ha_address
        )
        """For the next start."""
        self._cut_at: int | None = None
        self.has_failing_disk = False
        """Whether a call of its disk was made to fail: then it may give up."""
        self._worker: TimedDiskWorker | None = None
        self._store: Store | None = None
        self._broker: Broker | None = None
        self._asked = 0

    @property
    def store(self) -> Store:
        """What it has stored. Only while it is up."""
        assert self._store is not None, f"{self.name} is down"
        return self._store

    @property
    def broker(self) -> Broker:
        """The service. Only while it is up."""
        assert self._broker is not None, f"{self.name} is down"
        return self._broker

    @property
    def is_serving(self) -> bool:
        return self._broker is not None and self._driver is not None

    def _build(self, worker: TimedDiskWorker) -> Service:
        plan, disk = self.plan, self.disk
        self._worker = worker
        cut_at, self._cut_at = self._cut_at, None
        store = plan.open_store(disk, ROOT, plan.storage, worker, cut_at=cut_at)
        live = LiveConfig(
            plan.config,
            SETTINGS,
            ChangesFile(disk, f"{ROOT}/config/broker.properties", {}),
            worker,
            {},
        )
        broker = plan.build(
            self._identity(),
            live,
            store,
            disk,
            worker,
            plan.nameservers,
            self.host.clock.now(),
        )
        self._store, self._broker = store, broker
        return broker

    def _identity(self) -> BrokerIdentity:
        role = self.role
        return BrokerIdentity(
            self.name,
            "Sim",
            role.broker_id,
            self.address,
            self.ha_address,
            replace(self.plan.replication, role=role.role, master_ha_address=role.master_address),
            grpc_address=Peer(self.host.name, self.grpc_port) if self.grpc_port else None,
        )

    @property
    def ha_address(self) -> str:
        return str(Peer(self.host.name, self.ha_port))

    def _become(self, wanted: Rebuild) -> None:
        self.role = wanted.role or self.role
        self._cut_at = wanted.cut_at

    def _close(self) -> None:
        if self._store is not None and self._worker is not None:
            self._store.close()
            self._worker.close()

    def _forget(self) -> None:
        self._store = self._broker = self._worker = None

    def may_fail(self) -> bool:
        return self.has_failing_disk or self.disk.capacity_bytes < self.plan.disk_bytes

    def ask(self, command: RemotingCommand) -> RemotingCommand:
        """What it answers at once, asked by nobody: no time passes. For questions only."""
        assert self._broker is not None, f"{self.name} is down"
        self._asked -= 1
        channel, now, broker = ChannelId(self._asked), self.host.clock.now(), self._broker
        broker.on_open(channel, Peer(self.host.name, 1), now)
        effects = broker.on_command(channel, command, now)
        broker.on_closed(channel, now)
        (answer,) = [one.command for one in effects if isinstance(one, Reply)]
        return answer
