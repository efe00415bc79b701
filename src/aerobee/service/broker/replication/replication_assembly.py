"""Puts the replication room together: the side that this broker is on, the answers that wait for
slaves, the copying of metadata, and the requests about all of it.

Imports more than 15 modules because it puts the others together.
"""

from collections.abc import Callable, Sequence

from aerobee.ports.clock import Now
from aerobee.ports.service import Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.cluster.cluster_assembly import ClusterAssembly
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.fast_path import FastPath, NoFastPath
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.replication.acting.acting_assembly import ActingAssembly
from aerobee.service.broker.replication.acting.side_choice import copies_of
from aerobee.service.broker.replication.broker_suggestion import BrokerSuggestion, FindGroup
from aerobee.service.broker.replication.log_reading_handlers import LogReadingHandlers
from aerobee.service.broker.replication.metadata.metadata_assembly import (
    MetadataAssembly,
    state_rows,
)
from aerobee.service.broker.replication.metadata.snapshot_applying import (
    Hooks,
    SetCleanup,
    TakeModes,
)
from aerobee.service.broker.replication.raft.raft_assembly import RaftAssembly
from aerobee.service.broker.replication.replica_handlers import HaExchangeHandlers, ReplicaHandlers
from aerobee.service.broker.replication.role_handlers import role_rows
from aerobee.service.broker.replication.shared_access import SharedAccess
from aerobee.service.broker.replication.slave_requests import rows_by_stage
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Ground, Tables


class ReplicationAssembly:
    """Built before the send room: whether answers wait for slaves decides how that is built."""

    open_tables = RaftAssembly.open_tables

    def __init__(
        self,
        identity: BrokerIdentity,
        ground: Ground,
        cluster: ClusterAssembly,
        outbox: Effects,
        sync_timeout_ms: Callable[[], int],
        find_group: FindGroup,
        now: Now,
    ) -> None:
        self._identity = identity
        store = self._store = ground.store
        self._outbox = outbox
        self._metadata: MetadataAssembly | None = None
        self.acting = ActingAssembly(identity, ground, cluster, outbox, now)
        self.side = self.acting.side
        self.access = SharedAccess(identity, self.side, outbox)
        self._raft = RaftAssembly(identity, self.side, store, cluster.registration, outbox)
        self.watch = self._raft.watch
        self.may_take = self._raft.may_take if self._raft.is_member else None
        self.answers = SafeAnswers(store, sync_timeout_ms, copies_of(self.side, identity))
        self.suggestion = BrokerSuggestion(identity, store, find_group, self.side.has_slave)

    def rows(self, rows: Sequence[Row], tables: Tables, ground: Ground, now: Now) -> list[Row]:
        """The rows of the other rooms and of this one; those that a slave refuses are replaced."""
        side, store = self.side, self._store
        exchange = HaExchangeHandlers(
            self._identity, side.status, store.end_offset, self.acting.follow
        )
        found = [
            *rows,
            *LogReadingHandlers(store, tables.topics, tables.groups).rows(),
            *ReplicaHandlers(side.status).rows(),
            *exchange.rows(),
            *self.acting.rows(),
            *state_rows(tables, ground, now, self.access.made),
        ]
        if self._raft.is_member:
            return self._raft.rows(found)
        known_term, hold = self.acting.known_term, self._hold_copies
        found += role_rows(side.status, known_term, tables, store, hold, self._outbox)
        return rows_by_stage(self._identity, found, side.master)

    def copy_metadata(
        self,
        tables: Tables,
        ground: Ground,
        take_modes: TakeModes,
        set_cleanup: SetCleanup,
        now: Now,
    ) -> None:
        """A slave's: copy everything beside the log from the master. CorruptFile."""
        if self._identity.is_master:
            self.acting.return_to(tables, ground)
            self._raft.begin_term(tables, self._store, self.answers, now)
            return

        def delete_before(topic: str, log_offset: int) -> None:
            self._store.delete_topic(topic.encode(), before=log_offset)

        hooks = Hooks(take_modes, set_cleanup, delete_before)
        self._metadata = MetadataAssembly(
            tables, ground, hooks, self.side.master, self._identity.address, self._outbox, now
        )
        self.acting.when_following(self._metadata.copy_soon)

    def _hold_copies(self, is_on: bool) -> None:
        if self._metadata is not None:
            self._metadata.hold(is_on=is_on)

    # Duties.

    def on_round(self, now: Now) -> None:
        self._raft.on_round(now)
        self.side.on_round(now)

    def on_tick(self, now: Now) -> None:
        self._raft.on_tick(now)
        self.side.on_tick(now)
        self.acting.on_tick(now)
        if self._metadata is not None:
            self._metadata.on_tick(now)
        self.access.on_tick(now)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        self.side.on_answer(ticket, answer, now)
        self._raft.on_answer(ticket, answer, now)
        self.acting.on_answer(ticket, answer, now)
        if self._metadata is not None:
            self._metadata.on_answer(ticket, answer, now)
        self.access.on_answer(ticket, answer, now)

    def rest_ms(self, now: Now) -> int:
        rooms = (self.side, self.acting, self.access, self._raft)
        rest_ms = min(room.rest_ms(now) for room in rooms)
        return rest_ms if self._metadata is None else min(rest_ms, self._metadata.rest_ms(now))

    def stop(self, now: Now) -> None:
        """Close the links, and finish the saves that have begun. Blocks on the disk."""
        self.side.stop(now)
        if self._metadata is not None:
            self._metadata.stop(now)
        self.access.stop()

    @property
    def is_switching(self) -> bool:
        """Whether another life of this broker follows its end at once."""
        return self._raft.is_switching

    def only_on_master(self, fast_path: FastPath) -> FastPath:
        """A fast path that a slave does not have."""
        return fast_path if self._identity.takes_messages else NoFastPath()
