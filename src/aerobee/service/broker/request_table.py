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

from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode, request_name
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.fast_gate import FastGate
from aerobee.service.access.gate import Gate
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
    ) -> None:
        """`fast_gate` guards the fast paths; None: nobody is asked who it is."""
        self.gate = gate
        self._peers = peers
        self.table = table
        """By request code."""
        self.fast_gate = fast_gate
        self.inner = gate.inner
        """The user that signs the broker's own requests, if there is one."""

    def serve(self, request: Request) -> Answer | None:
        if not self.gate.is_open:
            refusal = self.gate.refuse(request, self._peers[request.channel].host)
            if refusal is not None:
                return refusal
            if self.fast_gate is not None:
                self.fast_gate.note(request)
        code = request.command.code
        row = self.table.get(code)
        if row is None:
            return Answer(
                ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
                f"request type {code} not supported: "
                f"this broker does not serve {request_name(code)}",
            )
        return row.serve(request)

    def forget(self, channel: ChannelId) -> None:
        """A connection is closed."""
        self.gate.forget(channel)
        if self.fast_gate is not None:
            self.fast_gate.forget(channel)


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
