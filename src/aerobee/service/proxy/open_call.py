"""OpenCall: a call of gRPC until it is answered, and Method, which answers it.

A call that its client has given up takes answers, and drops them.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from aerobee.ports.clock import Now
from aerobee.ports.rpc import AnswerCall, CallId, CallStart, CallWrite, EndCall
from aerobee.ports.service import Effects
from aerobee.protocol.grpc.codes import RpcStatus
from aerobee.protocol.grpc.resources import Status
from aerobee.protocol.grpc.wire import encode
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.access.call_signature import CallSignature
from aerobee.service.proxy.desk import Asker, Caller, Names
from aerobee.service.proxy.grpc_clients import GrpcClient


class OpenCall:
    __slots__ = (
        "_caller",
        "_client",
        "_open",
        "_outbox",
        "deadline_ms",
        "is_open",
        "method",
        "start",
    )

    def __init__(
        self,
        start: CallStart,
        method: "Method",
        deadline_ms: int | None,
        outbox: Effects,
        open_calls: "dict[CallId, OpenCall]",
    ) -> None:
        """`open_calls` has it from now on, until it ends."""
        self.start = start
        self.method = method
        self.deadline_ms = deadline_ms
        """On the monotonic clock; None: the client waits for ever."""
        self._caller: Caller | None = None
        self._client: GrpcClient | None = None
        self._outbox = outbox
        self._open = open_calls
        self.is_open = True
        open_calls[start.call] = self

    @property
    def id(self) -> CallId:
        return self.start.call

    @property
    def client(self) -> GrpcClient:
        """Whose call it is: known when its first message has come."""
        assert self._client is not None
        return self._client

    @client.setter
    def client(self, client: GrpcClient) -> None:
        self._client = client

    @property
    def caller(self) -> Caller:
        """Who signed it, and from where it came."""
        if self._caller is None:
            host = self.start.peer.host.partition("%")[0]
            signature = CallSignature(self.start.metadata)
            self._caller = Caller(signature, host, self.start.connection)
        return self._caller

    @property
    def asker(self) -> Asker:
        """Its client, with the signature of this call."""
        return Asker(self.client.channel, self.caller)

    @property
    def is_unasked(self) -> bool:
        """Whether no message has come."""
        return self._client is None

    def send(self, response: object) -> None:
        if self.is_open:
            self._outbox.append(CallWrite(self.id, encode(response)))

    def answer_all(self, messages: Sequence[bytes]) -> None:
        """Send all messages of the answer, as they are written, and end."""
        if self.is_open:
            self.give_up()
            self._outbox.append(AnswerCall(self.id, messages))

    def end(self, status: RpcStatus = RpcStatus.OK, reason: str = "") -> None:
        if self.is_open:
            self.give_up()
            self._outbox.append(EndCall(self.id, status, reason))

    def give_up(self) -> None:
        """Nobody waits for an answer."""
        self.is_open = False
        self._open.pop(self.id, None)

    def answer(self, response: object) -> None:
        """Send the one response, and end."""
        self.send(response)
        self.end()


def no_names(request: object) -> Names:
    return Names()


class Method(NamedTuple):
    """A method of the messaging service."""

    name: str
    code: RequestCode
    """Of the request that it becomes."""
    request: type[Any]
    handle: Callable[[OpenCall, Any, Now], None]
    """Raises CallRefused before anything is answered."""
    refuse: Callable[[OpenCall, Any, Status, Now], None]
    """Answers a call that was refused; the request may be None."""
    names: Callable[[Any], Names] = no_names
    """The names that must be known before it can be handled."""
    is_stream: bool = False
    """Whether the client sends many messages."""


def answering(response: type[Any]) -> Callable[[OpenCall, Any, Status, Now], None]:
    """Refuses a call by a response that has only a status."""

    def refuse(call: OpenCall, request: object, status: Status, now: Now) -> None:
        call.answer(response(status=status))

    return refuse
