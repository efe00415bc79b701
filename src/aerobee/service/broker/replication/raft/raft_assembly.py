"""Puts the room of group members together: what a leader or a follower has besides its side.

both       requests that only a leader serves
follower   users and rules of its group's log
leader     tables of its own term, which name servers hear of, and whose changes go to the log;
           its lease, without which it answers no read

Imports more than 15 modules because it puts the others together.
"""

import logging
from collections.abc import Sequence

from aerobee.ports.clock import Now
from aerobee.ports.service import Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.access.access_store import AccessStore
from aerobee.service.broker.cluster.registration import Registration
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.replication.promotion import Promotion
from aerobee.service.broker.replication.raft.access_following import AccessFollowing
from aerobee.service.broker.replication.raft.controller_handlers import ControllerHandlers
from aerobee.service.broker.replication.raft.group_handlers import RaftGroupHandlers
from aerobee.service.broker.replication.raft.leader_requests import LeaderRequests
from aerobee.service.broker.replication.raft.lease_gate import LeaderLease, LeaseGate
from aerobee.service.broker.replication.raft.raft_side import RaftSide
from aerobee.service.broker.replication.raft.table_journal import TableJournal
from aerobee.service.broker.replication.raft.table_restoring import (
    group_start,
    open_own_tables,
)
from aerobee.service.broker.replication.raft.table_rows import (
    ModeTable,
    SafeDelays,
    TimerProgress,
)
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Tables
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

REST_MS_MAX = 1_000


class RaftAssembly:
    """Of a broker that is no member of a group, nothing."""

    open_tables = staticmethod(open_own_tables)

    def __init__(
        self,
        identity: BrokerIdentity,
        side: object,
        store: Store,
        registration: Registration,
        outbox: Effects,
    ) -> None:
        """`side` is the side of replication that the broker is on."""
        self._identity = identity
        self._store = store
        self._side = side if isinstance(side, RaftSide) else None
        self._registration = registration
        self._outbox = outbox
        self._requests: LeaderRequests | None = None
        self._journal: TableJournal | None = None
        self._following: AccessFollowing | None = None
        leads = self._side is not None and self._side.leads
        self._lease = None if self._side is None else LeaderLease(self._side)
        self._gate = LeaseGate(self._lease) if self._lease is not None and leads else None
        self._is_registered = True
        self._departure = None if identity.raft is None else identity.raft.departure
        if self._side is not None and self._departure is not None:
            self._requests = LeaderRequests(self._side, self._departure, outbox)
            self._leave_routes()

    @property
    def is_member(self) -> bool:
        return self._side is not None

    @property
    def is_switching(self) -> bool:
        """Whether another life of this broker follows its end at once."""
        return self._side is not None and self._side.is_switching

    def may_take(self, now: Now) -> bool:
        """Whether fast paths may serve: of a leader, while it has its lease; of a follower, unless
        it is to stop: then it forwards."""
        if self._side is None or self._lease is None or self._departure is None:
            return True
        if not self._side.leads:
            if self._departure.is_begun:
                return False
            self._departure.heard(now.monotonic_ms)
        return self._lease.may_answer(now.monotonic_ms, now)

    def _leave_routes(self) -> None:
        """Of a member that is to stop, and does not lead any more: name servers forget it."""
        side, departure = self._side, self._departure
        if side is None or departure is None or side.leads or not departure.is_begun:
            return
        if self._is_registered:
            self._is_registered = False
            self._outbox.extend(self._registration.unregister())

    def rows(self, rows: Sequence[Row]) -> list[Row]:
        """The rows of a member."""
        if self._side is None or self._requests is None:
            return list(rows)
        own = RaftGroupHandlers(self._identity, self._side).rows()
        own += ControllerHandlers(self._identity, self._side).rows()
        codes = {one.code for one in own}
        others = [one for one in rows if one.code not in codes]
        if self._journal is not None:
            others = self._journal.rows(others)
        if self._gate is not None:
            others = self._gate.rows(others)
        return self._requests.rows([*own, *others])

    def begin_term(self, tables: Tables, store: Store, answers: SafeAnswers, now: Now) -> None:
        """Of a leader: its tables are those of its term, and name servers hear of it after that."""
        if self._side is None:
            return
        self._journal = TableJournal(tables, store, answers, now)
        self._registration.is_held = True

        def begun(error: BaseException | None) -> None:
            if error is not None:
                _log.error("the tables of a new leader were not saved: %s", error)
            self._registration.is_held = False

        promotion = Promotion(tables.topics, tables.groups, store, _hold_nothing)
        promotion.prepare(now, begun, self._side.node.term)

    def watch(
        self,
        safe_delays: SafeDelays,
        timer: TimerProgress,
        modes: ModeTable,
        access: AccessStore | None,
    ) -> None:
        """Of a leader: the state of these goes to the log, too. Of a follower: users and rules come
        from there."""
        if self._journal is not None:
            self._journal.watch(safe_delays, timer, modes)
        inner, seat = self._identity.access.inner, self._identity.raft
        if access is None or inner is None or seat is None:
            return
        if self._journal is not None:
            self._journal.watch_access(access, inner)
        else:
            self._following = AccessFollowing(self._store, access, inner, group_start(seat))

    # Duties.

    def on_round(self, now: Now) -> None:
        if self._journal is not None:
            self._journal.on_round(now)

    def on_tick(self, now: Now) -> None:
        self._leave_routes()
        if self._requests is not None:
            self._requests.on_tick(now)
        if self._following is not None:
            self._following.on_tick()
        if self._journal is not None:
            self._journal.on_tick(now)
        if self._gate is not None:
            self._gate.on_tick(now)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        if self._requests is not None:
            self._requests.on_answer(ticket, answer, now)

    def rest_ms(self, now: Now) -> int:
        rest_ms = REST_MS_MAX if self._requests is None else self._requests.rest_ms(now)
        if self._gate is not None:
            rest_ms = min(rest_ms, self._gate.rest_ms())
        if self._following is not None:
            rest_ms = min(rest_ms, self._following.rest_ms())
        return rest_ms if self._journal is None else min(rest_ms, self._journal.rest_ms(now))


def _hold_nothing(is_on: bool) -> None:
    """A leader copies no tables."""
