"""TopicRoutes looks up the route of a topic in the whole cluster, from the name servers.

An answer is cached for a few seconds, and lookups meanwhile share one request. If a name server
does not answer the next one is asked; if none does, the last route that was known holds on.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from aerobee.errors import ProtocolError
from aerobee.model.route import TopicRoute
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.topic_route import decode_topic_route
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

BELIEVED_MS = 5_000
TIMEOUT_MS = 3_000
TOPICS_MAX = 10_000
WAITING_MAX = 10_000

Then: TypeAlias = Callable[[TopicRoute | None], None]
"""Called with the route; None: it is not known."""


class _Ticket(NamedTuple):
    topic: str
    tries: int


class _Known(NamedTuple):
    route: TopicRoute
    until_ms: int


class TopicRoutes:
    def __init__(self, addresses: Sequence[str], outbox: Effects) -> None:
        """`addresses` of the name servers."""
        self._addresses = addresses
        self._outbox = outbox
        self._known: dict[str, _Known] = {}
        self._waiting: dict[str, list[Then]] = {}
        self._waiting_count = 0
        self._first = 0
        self.is_silent = False
        """Whether no name server gave a sound answer to the last lookup."""

    def find(self, topic: str, now: Now, then: Then) -> None:
        """Call `then` with the route, perhaps at once."""
        known = self._known.get(topic)
        if known is not None and now.monotonic_ms < known.until_ms:
            then(known.route)
        elif not self._addresses or self._waiting_count >= WAITING_MAX:
            then(None)
        else:
            self._waiting_count += 1
            waiting = self._waiting.setdefault(topic, [])
            waiting.append(then)
            if len(waiting) == 1:
                self._ask(_Ticket(topic, 0))

    def known(self, topic: str) -> TopicRoute | None:
        """The last route of a topic that a name server told, whether or not it is still believed;
        None: there is none, or the topic is gone."""
        known = self._known.get(topic)
        return None if known is None else known.route

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Handle the answer to a request; tickets of others are ignored."""
        if not isinstance(ticket, _Ticket):
            return
        route = _route_in(answer)
        if route is None and ticket.tries + 1 < len(self._addresses):
            self._first += 1
            self._ask(ticket._replace(tries=ticket.tries + 1))
            return
        is_gone = answer is not None and answer.code == ResponseCode.TOPIC_NOT_EXIST
        self.is_silent = route is None and not is_gone
        known = self._known.get(ticket.topic)
        if self.is_silent and known is not None:
            route = known.route
        if route is None:
            self._known.pop(ticket.topic, None)
        else:
            if len(self._known) >= TOPICS_MAX:
                self._known.clear()
            self._known[ticket.topic] = _Known(route, now.monotonic_ms + BELIEVED_MS)
        for then in self._waiting.pop(ticket.topic, []):
            self._waiting_count -= 1
            then(route)

    def _ask(self, ticket: _Ticket) -> None:
        address = self._addresses[self._first % len(self._addresses)]
        command = RemotingCommand(
            RequestCode.GET_ROUTEINFO_BY_TOPIC, ext_fields={"topic": ticket.topic}
        )
        self._outbox.append(Dial(address, command, TIMEOUT_MS, ticket))


def _route_in(answer: RemotingCommand | None) -> TopicRoute | None:
    if answer is None or answer.code != 0:
        return None
    try:
        return decode_topic_route(bytes(answer.body))
    except ProtocolError:
        return None
