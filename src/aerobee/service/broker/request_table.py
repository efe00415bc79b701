"""The request table of a broker: one row per request code.

    code → header → handler → lane → right

A handler is a method of a small object that was given what it needs. It gets the request and its
header, read and checked, and returns the answer, or None and answers later. It raises a
RemoteProtocolError for a peer's mistake; the caller answers with that.

A lane is a class of requests that are refused together under overload: pulls go on while sends are
held back. A right is what a caller must have once there is authentication.
"""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, NamedTuple, TypeAlias, TypeVar

from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.request import Answer, Request, excess_remark

H = TypeVar("H")


class Lane(Enum):
    SEND = "send"
    PULL = "pull"
    CLIENT = "client"
    """Heartbeats, offsets, locks. Small, and never held back."""
    ADMIN = "admin"


class Right(Enum):
    NONE = "none"
    PUBLISH = "publish"
    SUBSCRIBE = "subscribe"
    ADMINISTER = "administer"


class Row(NamedTuple):
    code: RequestCode
    header: type[Any]
    handle: Callable[[Request, Any], Answer | None]
    lane: Lane
    right: Right
    takes_excess: bool = False
    """Whether the handler itself refuses a header that is too large."""

    def serve(self, request: Request) -> Answer | None:
        if request.command.excess and not self.takes_excess:
            return Answer(ResponseCode.INVALID_PARAMETER, excess_remark(request.command.excess))
        return self.handle(request, read_header(self.header, request.command.ext_fields))


RequestTable: TypeAlias = dict[int, Row]


def row(
    code: RequestCode,
    header: type[H],
    handle: Callable[[Request, H], Answer | None],
    lane: Lane,
    right: Right,
    *,
    takes_excess: bool = False,
) -> Row:
    """A row whose handler takes the header that it names."""
    return Row(code, header, handle, lane, right, takes_excess)


def request_table(rows: Iterable[Row]) -> RequestTable:
    table: RequestTable = {}
    for one in rows:
        assert one.code not in table, one.code
        table[one.code] = one
    return table
