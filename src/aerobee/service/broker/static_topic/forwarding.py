"""Forwarding sends requests about physical queues to the masters of other brokers.

Addresses are those of the topic's route. A forwarded request says `lo` false, so that it is not
translated again, and the broker that it is for (`bname`).
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from aerobee.model.route import MASTER_ID, TopicRoute
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode, find_response_code
from aerobee.service.broker.static_topic.translation import Ask
from aerobee.service.request import Answer
from aerobee.service.topic_routes import TopicRoutes

TIMEOUT_MS = 3_000
WAITING_MAX = 10_000
LOGICAL, BROKER_NAME = "lo", "bname"

Then: TypeAlias = Callable[[Answer], None]


class _Ticket(NamedTuple):
    broker: str
    then: Then


class Forwarding:
    def __init__(self, routes: TopicRoutes, outbox: Effects) -> None:
        self._routes = routes
        self._outbox = outbox
        self._waiting = 0

    def ask(self, topic: str, ask: Ask, now: Now, then: Then) -> None:
        """Call `then` once with the answer, perhaps at once; with SYSTEM_ERROR if the broker is not
        known or does not answer."""

        def routed(route: TopicRoute | None) -> None:
            address = _master_of(ask.broker, route)
            if address is None:
                then(_failed(ask.broker, "its address is not known"))
            elif self._waiting >= WAITING_MAX:
                then(Answer(ResponseCode.SYSTEM_BUSY, "too many requests wait for other brokers"))
            else:
                self._waiting += 1
                fields = {**write_header(ask.header), LOGICAL: "false", BROKER_NAME: ask.broker}
                command = RemotingCommand(ask.code, ext_fields=fields)
                self._outbox.append(Dial(address, command, TIMEOUT_MS, _Ticket(ask.broker, then)))

        self._routes.find(topic, now, routed)

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Handle the answer to a request; tickets of others are ignored."""
        if not isinstance(ticket, _Ticket):
            return
        self._waiting -= 1
        if answer is None:
            ticket.then(_failed(ticket.broker, "it does not answer"))
            return
        code = find_response_code(answer.code)
        if code is None:
            ticket.then(_failed(ticket.broker, f"code {answer.code}: {answer.remark}"))
            return
        ticket.then(Answer(code, answer.remark, answer.ext_fields, bytes(answer.body)))


def _master_of(broker: str, route: TopicRoute | None) -> str | None:
    for one in route.brokers if route is not None else ():
        if one.name == broker:
            return one.addresses.get(MASTER_ID)
    return None


def _failed(broker: str, why: str) -> Answer:
    return Answer(
        ResponseCode.SYSTEM_ERROR, f"the broker {broker}, which has a part of the queue: {why}"
    )
