"""RpcService: the interface between the net layer and a service that answers calls of gRPC.

A call is a path, metadata, and messages in both directions; the net layer knows HTTP/2 and the
framing of messages, the service knows what they mean. The service answers with the effects
`CallWrite` and `EndCall`, at once or later.
"""

from collections.abc import Mapping
from typing import NamedTuple, NewType, Protocol

from aerobee.ports.clock import Now
from aerobee.ports.service import AnswerCall as AnswerCall
from aerobee.ports.service import CallEffect as CallEffect
from aerobee.ports.service import CallId as CallId
from aerobee.ports.service import CallWrite as CallWrite
from aerobee.ports.service import Effects, Peer, Service
from aerobee.ports.service import EndCall as EndCall

RpcConnectionId = NewType("RpcConnectionId", int)
"""One live connection. Numbers are not used again in the life of a process."""


class CallStart(NamedTuple):
    call: CallId
    connection: RpcConnectionId
    peer: Peer
    path: str
    metadata: Mapping[str, str]
    """All fields of the headers."""
    timeout_ms: int | None
    """The client gives up after this time; None: never."""


class RpcService(Protocol):
    """Every call begins once. It is over when the service ends it, the client gives it up, or its
    connection closes."""

    @property
    def message_bytes_max(self) -> int:
        """The largest message that is taken."""

    def take_call(self, start: CallStart, message: bytes, now: Now) -> bytes | bool:
        """Take a call whose one message has come whole, in place of the events below. Returns its
        answer; or True: it is answered by an effect; or False: it was not taken, and begins as any
        other. Effects stay with the service until the round is over."""

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
