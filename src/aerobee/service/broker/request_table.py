"""The request table of a broker: one row per request code.

    code → header → handler → lane

A handler is a method of a small object that was given what it needs. It gets the request and its
header, read and checked, and returns the answer, or None and answers later. It raises a
RemoteProtocolError for a peer's mistake; the caller answers with that.

A lane is a class of requests that are refused together under overload: pulls go on while sends are
held back. The rights that a request needs are in a table of their own (`service/access`), which the
gate asks before this one is looked at.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple, TypeAlias, TypeVar

from aerobee.model.names import pop_retry_topic
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode, request_name
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.audit import Audit
from aerobee.service.access.fast_gate import FastGate
from aerobee.service.access.gate import Gate
from aerobee.service.access.group_limits import FindFlow, no_flow
from aerobee.service.access.request_limits import (
    NO_CONSUMER,
    NO_LIMITS,
    Consumer,
    LimitConfig,
    RequestLimits,
)
from aerobee.service.request import Answer, Request, excess_remark

H = TypeVar("H")


class Lane(Enum):
    SEND = "send"
    PULL = "pull"
    CLIENT = "client"
    """Heartbeats, offsets, locks. Small, and never held back."""
    ADMIN = "admin"


class Row(NamedTuple):
    code: RequestCode
    header: type[Any]
    handle: Callable[[Request, Any], Answer | None]
    lane: Lane
    takes_excess: bool = False
    """Whether the handler itself refuses a header that is too large."""

    def serve(self, request: Request) -> Answer | None:
        if request.command.excess and not self.takes_excess:
            return Answer(ResponseCode.INVALID_PARAMETER, excess_remark(request.command.excess))
        return self.handle(request, read_header(self.header, request.command.ext_fields))


RequestTable: TypeAlias = dict[int, Row]


class Reception:
    """Takes requests: the gate lets them pass or not, the table says who serves them."""

    def __init__(
        self,
        gate: Gate,
        table: RequestTable,
        peers: Mapping[ChannelId, Peer],
        fast_gate: FastGate | None = None,
        audit: Audit | None = None,
        limits: LimitConfig = NO_LIMITS,
        find_flow: FindFlow = no_flow,
    ) -> None:
        """`fast_gate` guards the fast paths; None: nobody is asked who it is. `audit` is told of
        requests that passed. `find_flow`: what consumer groups have got."""
        self._audit = audit
        self.limits = RequestLimits(limits, peers, fast_gate, find_flow)
        self.gate = gate
        self._peers = peers
        self.table = table
        """By request code."""
        self.fast_gate = fast_gate
        self.inner = gate.inner
        """The user that signs the broker's own requests, if there is one."""

    def serve(self, request: Request) -> Answer | None:
        request.host = self._peers[request.channel].host
        code = request.command.code
        row = self.table.get(code)
        if not self.gate.is_open:
            refusal = self.gate.refuse(request, request.host)
            if refusal is not None:
                is_send = row is not None and row.lane is Lane.SEND
                return self.limits.refuse(request, is_send=is_send) or refusal
            if self.fast_gate is not None:
                self.fast_gate.note(request)
        if self._audit is not None:
            self._audit.passed(request, request.host)
        if row is None:
            return Answer(
                ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
                f"request type {code} not supported: "
                f"this broker does not serve {request_name(code)}",
            )
        fields = request.command.ext_fields
        consumer = consumer_of(row.lane, fields.get("consumerGroup", ""), fields.get("topic", ""))
        return self.limited(request, row.lane, consumer) or row.serve(request)

    def limited(self, request: Request, lane: Lane, consumer: Consumer) -> Answer | None:
        """The answer to a request beyond the limits of its user, its address or its consumer group;
        None: it is within."""
        if lane is Lane.CLIENT:
            return None
        return self.limits.refuse(request, consumer, is_send=lane is Lane.SEND)

    def forget(self, channel: ChannelId) -> None:
        """A connection is closed."""
        self.gate.forget(channel)
        self.limits.forget(channel)
        if self.fast_gate is not None:
            self.fast_gate.forget(channel)


def consumer_of(lane: Lane, group: str, topic: str) -> Consumer:
    """The consumer of a pull or a pop. It may get messages of its retry topic, too."""
    if lane is not Lane.PULL or not group:
        return NO_CONSUMER
    return Consumer(group, (topic, pop_retry_topic(group, topic)))


def row(
    code: RequestCode,
    header: type[H],
    handle: Callable[[Request, H], Answer | None],
    lane: Lane,
    *,
    takes_excess: bool = False,
) -> Row:
    """A row whose handler takes the header that it names."""
    return Row(code, header, handle, lane, takes_excess)


def request_table(rows: Iterable[Row]) -> RequestTable:
    table: RequestTable = {}
    for one in rows:
        assert one.code not in table, one.code
        table[one.code] = one
    return table
