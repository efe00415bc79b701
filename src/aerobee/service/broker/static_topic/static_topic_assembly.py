"""Puts the static topic room together: the request that makes static topics, and the translation in
front of the requests of all rooms.
"""

from collections.abc import Sequence

from aerobee.ports.clock import Now
from aerobee.ports.service import Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.topics import Topics
from aerobee.service.broker.static_topic.expired_parts import ExpiredParts
from aerobee.service.broker.static_topic.forwarding import Forwarding
from aerobee.service.broker.static_topic.logical_rows import LogicalRows
from aerobee.service.broker.static_topic.static_topic_handlers import Announce, StaticTopicHandlers
from aerobee.service.topic_routes import TopicRoutes


class StaticTopicAssembly:
    def __init__(
        self, identity: BrokerIdentity, topics: Topics, routes: TopicRoutes, outbox: Effects
    ) -> None:
        self._identity = identity
        self._topics = topics
        self._forwarding = Forwarding(routes, outbox)
        self._expired_parts = ExpiredParts(topics.mappings, self._forwarding)

    def rows(self, rows: Sequence[Row], announce: Announce) -> list[Row]:
        """The rows of the broker, with the translation in front of those about queues, and the row
        of this room."""
        made = StaticTopicHandlers(self._topics, self._identity, announce)
        return [*LogicalRows(rows, self._topics.mappings, self._forwarding).rows(), *made.rows()]

    def on_tick(self, now: Now) -> None:
        """Called on masters: slaves copy their mappings."""
        self._expired_parts.on_tick(now)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """The answer to a `Dial`; tickets of others are ignored."""
        self._forwarding.on_answer(ticket, answer, now)
