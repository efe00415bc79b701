"""Puts the room of group members together: what a leader or a follower has besides its side.

both       requests that only a leader serves
leader     tables of its own term, which name servers hear of
"""

import logging
from collections.abc import Sequence

from aerobee.ports.clock import Now
from aerobee.ports.service import Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.cluster.registration import Registration
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.promotion import Promotion
from aerobee.service.broker.replication.raft.group_handlers import RaftGroupHandlers
from aerobee.service.broker.replication.raft.leader_requests import LeaderRequests
from aerobee.service.broker.replication.raft.raft_side import RaftSide
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.tables import Tables
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

REST_MS_MAX = 1_000


class RaftAssembly:
    """Of a broker that is no member of a group, nothing."""

    def __init__(
        self, identity: BrokerIdentity, side: object, registration: Registration, outbox: Effects
    ) -> None:
        """`side` is the side of replication that the broker is on."""
        self._identity = identity
        self._side = side if isinstance(side, RaftSide) else None
        self._registration = registration
        self._requests = None if self._side is None else LeaderRequests(self._side, outbox)

    @property
    def is_member(self) -> bool:
        return self._side is not None

    @property
    def is_switching(self) -> bool:
        """Whether another life of this broker follows its end at once."""
        return self._side is not None and self._side.is_switching

    def rows(self, rows: Sequence[Row]) -> list[Row]:
        """The rows of a member."""
        if self._side is None or self._requests is None:
            return list(rows)
        own = RaftGroupHandlers(self._identity, self._side).rows()
        codes = {one.code for one in own}
        return self._requests.rows([*own, *(one for one in rows if one.code not in codes)])

    def begin_term(self, tables: Tables, store: Store, now: Now) -> None:
        """Of a leader: its tables are those of its term, and name servers hear of it after that."""
        if self._side is None:
            return
        self._registration.is_held = True

        def begun(error: BaseException | None) -> None:
            if error is not None:
                _log.error("the tables of a new leader were not saved: %s", error)
            self._registration.is_held = False

        promotion = Promotion(tables.topics, tables.groups, store, _hold_nothing)
        promotion.prepare(now, begun, self._side.node.term)

    # Duties.

    def on_tick(self, now: Now) -> None:
        if self._requests is not None:
            self._requests.on_tick(now)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        if self._requests is not None:
            self._requests.on_answer(ticket, answer, now)

    def rest_ms(self, now: Now) -> int:
        return REST_MS_MAX if self._requests is None else self._requests.rest_ms(now)


def _hold_nothing(is_on: bool) -> None:
    """A leader copies no tables."""
