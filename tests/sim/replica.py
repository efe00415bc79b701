"""A broker of a group of copies: its side of replication, as a story looks at it."""

from collections.abc import Callable
from typing import Any

from aerobee.model.broker_role import RoleChange
from aerobee.ports.service import Rebuild, Service
from aerobee.replication.in_sync import Copy
from aerobee.replication.replica import ReplicaState
from aerobee.service.broker.replication.master_side import MasterSide
from aerobee.service.broker.replication.slave_side import SlaveSide
from aerobee.sim.broker_node import BrokerNode
from aerobee.sim.timed_worker import TimedDiskWorker
from aerobee.storage.config import FlushMode

READ_BYTES = 1 << 16


class ReplicaNode(BrokerNode):
    def __init__(
        self, *args: Any, number: int, is_cutting: Callable[["ReplicaNode", int], None]
    ) -> None:
        """`is_cutting` is called before the log of the next life is cut."""
        super().__init__(*args)
        self.number = number
        self.lives_as = self.role
        """The role of the service that runs."""
        self._is_cutting = is_cutting

    def _build(self, worker: TimedDiskWorker) -> Service:
        self.lives_as = self.role
        return super()._build(worker)

    def rebuild(self, wanted: Rebuild) -> None:
        if wanted.cut_at is not None:
            self._is_cutting(self, wanted.cut_at)
        super().rebuild(wanted)

    def become(self, role: RoleChange) -> None:
        """Have this role from the next life on, which begins now if it is up."""
        self.role = role
        if self.is_serving and self.lives_as != role:
            self.rebuild(Rebuild("told so", role))

    # Its side.

    @property
    def _side(self) -> object:
        return self.broker._duties.links

    @property
    def is_master(self) -> bool:
        return self.is_serving and isinstance(self._side, MasterSide)

    def copies(self) -> list[Copy]:
        """A master's: the connections of its slaves."""
        side = self._side
        assert isinstance(side, MasterSide)
        return list(side.in_sync._copies.values())

    def followed(self) -> tuple[str, int] | None:
        """A slave's: the HA address that it follows, and since when; None: it follows nobody."""
        if not self.is_serving or not isinstance(self._side, SlaveSide):
            return None
        status = self._side.replica.status(self.host.clock.now())
        if status.state is not ReplicaState.FOLLOWING:
            return None
        return status.master, self.host.clock.now().monotonic_ms - status.in_state_ms

    def why_not(self) -> str:
        """A slave's: why it does not follow."""
        if not self.is_serving or not isinstance(self._side, SlaveSide):
            return ""
        return self._side.replica.status(self.host.clock.now()).why_not

    @property
    def safe_offset(self) -> int:
        """As far as it may acknowledge."""
        is_sync = self.plan.storage.flush_mode is FlushMode.SYNC
        return self.store.flushed_offset if is_sync else self.store.end_offset

    def log_bytes(self, start: int, end: int) -> bytes:
        """Of its log, as far as it goes."""
        found = bytearray()
        while start < end and (part := self.store.log_slices(start, min(READ_BYTES, end - start))):
            found += part
            start += len(part)
        return bytes(found)
