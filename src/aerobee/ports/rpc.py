"""RpcService: the interface between the net layer and a service that answers calls of gRPC.

A call is a path, metadata, and messages in both directions; the net layer knows HTTP/2 and the
framing of messages, the service knows what they mean. The service answers with the effects
`CallWrite` and `EndCall`, at once or later.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from aerobee.ports.clock import Now
from aerobee.ports.service import AnswerCall as AnswerCall
from aerobee.ports.service import CallEffect as CallEffect
from aerobee.ports.service import CallId as CallId
from aerobee.ports.service import CallWrite as CallWrite
from aerobee.ports.service import Effects, Peer, Service
from aerobee.ports.service import EndCall as EndCall
from aerobee.ports.service import FlushCalls as FlushCalls
from aerobee.ports.service import RpcConnectionId as RpcConnectionId
from aerobee.protocol.http2.connection import Http2Connection


class CallStart(NamedTuple):
    call: CallId
    connection: RpcConnectionId
    peer: Peer
    path: str
    metadata: Mapping[str, str]
    """All fields of the headers."""
    timeout_ms: int | None
    """The client gives up after this time; None: never."""


class CallTaker(Protocol):
    """Takes the calls that come for every message from their connection, and writes the answers
    into it."""

    @property
    def paths(self) -> frozenset[str]:
        """Of the calls that it may take."""

    def take_all(self, http2: Http2Connection, connection: RpcConnectionId, now: Now) -> None:
        """Take the calls that the connection finds, up to one that has to begin as any other.
        Some may be answered later: `FlushCalls` says when they are."""


class RpcService(Protocol):
    """Every call begins once. It is over when the service ends it, the client gives it up, or its
    connection closes."""

    @property
    def message_bytes_max(self) -> int:
        """The largest message that is taken."""

    @property
    def in_place(self) -> CallTaker:
        """Takes calls in place of the events below."""

    def may_open(self, connection: RpcConnectionId, peer: Peer) -> bool:
        """A peer connects. False: it has too many connections; nothing more is told of this one."""

    def knows(self, start: CallStart, now: Now) -> bool:
        """Whether the peer of a call has shown who it is, or is not asked. Others are held to small
        limits."""

    def on_call(self, start: CallStart, now: Now) -> Effects:
        """A call begins."""

    def on_call_message(self, call: CallId, message: bytes, now: Now) -> Effects: ...

    def on_call_half_closed(self, call: CallId, now: Now) -> Effects:
        """The client sends no more messages."""

    def on_call_cancelled(self, call: CallId, now: Now) -> Effects:
        """The client has given the call up: nothing of it can be answered."""

    def on_rpc_closed(self, connection: RpcConnectionId, now: Now) -> Effects:
        """A connection is closed, after its calls were cancelled."""


class CalledService(Service, Protocol):
    """A service that may answer calls."""

    @property
    def rpc(self) -> RpcService | None:
        """None: it answers none."""
