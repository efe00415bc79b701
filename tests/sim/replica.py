"""A broker of a group of copies: its side of replication, as a story looks at it."""

from collections.abc import Callable
from typing import Any

from aerobee.model.broker_role import RoleChange
from aerobee.model.topic import DataVersion
from aerobee.ports.service import ChannelId, Peer, Rebuild, Service
from aerobee.protocol.bodies.broker_state import decode_broker_versions
from aerobee.protocol.headers.replication import ChangeRoleHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.replication.in_sync import Copy
from aerobee.replication.replica import ReplicaState
from aerobee.service.broker.replication.master_side import MasterSide
from aerobee.service.broker.replication.slave_side import SlaveSide
from aerobee.sim.broker_node import BrokerNode
from aerobee.sim.timed_worker import TimedDiskWorker
from aerobee.storage.config import FlushMode

READ_BYTES = 1 << 16
ASK_AGAIN_MS = 500
_ASKING = ChannelId(-1_000_000)


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
        self._has_given_up = False
        self._ask_ms = 0

    @property
    def has_lost(self) -> bool:
        """Whether its disk failed, so that its end may lose what was not synced."""
        return self._has_given_up and self.plan.storage.flush_mode is FlushMode.ASYNC

    def _gave_up(self, error: BaseException) -> None:
        self._has_given_up = True
        super()._gave_up(error)

    def _build(self, worker: TimedDiskWorker) -> Service:
        self.lives_as = self.role
        self._has_given_up = False
        self._ask_ms = 0
        return super()._build(worker)

    def rebuild(self, wanted: Rebuild) -> None:
        if wanted.cut_at is not None:
            self._is_cutting(self, wanted.cut_at)
        super().rebuild(wanted)

    def become(self, role: RoleChange) -> None:
        """Have this role from the next life on, which begins now if it is up. A slave is promoted
        by request: one that is down, when it is back."""
        if role.role.is_master and not self.lives_as.role.is_master:
            if self.is_serving:
                self._ask_to_be_master(role)
            return
        self.role = role
        if self.is_serving and self.lives_as != role:
            self.rebuild(Rebuild("told so", role))

    def _ask_to_be_master(self, role: RoleChange) -> None:
        process, driver, now = self._process, self._driver, self.host.clock.now()
        if process is None or driver is None or now.monotonic_ms < self._ask_ms:
            return
        self._ask_ms = now.monotonic_ms + ASK_AGAIN_MS  # its disk may have been full
        header = ChangeRoleHeader(role.role.value, role.broker_id, force=True)
        command = RemotingCommand(RequestCode.CHANGE_BROKER_ROLE, ext_fields=write_header(header))

        def ask() -> None:
            self.broker.on_open(_ASKING, Peer(self.host.name, 1), now)
            driver.handle(_ASKING, command)

        process.loop.run(ask)

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

    @property
    def counted(self) -> int:
        """A master's: slaves that count."""
        side = self._side
        assert isinstance(side, MasterSide)
        return side.in_sync.connected()

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

    def is_record_end(self, log_offset: int) -> bool:
        """Whether a record of its log, or the filler behind one, ends here."""
        store = self.store
        if log_offset in (store.end_offset, store.min_offset, 0):
            return True
        begins = list(store.log_range.records_in(log_offset))
        last_size = int.from_bytes(store.log_slices(begins[-1], 4), "big")
        return log_offset in (*begins, begins[-1] + last_size)

    def versions(self) -> dict[str, DataVersion]:
        """Of its tables of topics and groups."""
        answer = self.ask(RemotingCommand(RequestCode.COPY_BROKER_STATE))
        found = decode_broker_versions(bytes(answer.body))
        return {"topics": found.topics, "groups": found.groups}

    def log_bytes(self, start: int, end: int) -> bytes:
        """Of its log, as far as it goes."""
        found = bytearray()
        while start < end and (part := self.store.log_slices(start, min(READ_BYTES, end - start))):
            found += part
            start += len(part)
        return bytes(found)
