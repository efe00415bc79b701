"""The messaging service of gRPC on a pretended world: calls in, responses out.

kit = GrpcKit(TopicConfig("orders"))          a broker that serves it
kit.call("SendMessage", request)              the responses of the call, and its status
kit.begin("ReceiveMessage", request)          a call that may wait; kit.responses(call) later

`tests/gateway_kit.py` has it in front of remote brokers.
"""

import hashlib
import hmac
from collections.abc import Sequence
from typing import Any, NamedTuple

from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.rpc import (
    AnswerCall,
    CallId,
    CallStart,
    CallWrite,
    EndCall,
    FlushCalls,
    RpcConnectionId,
)
from aerobee.ports.service import Effects, Peer
from aerobee.protocol.grpc import calls
from aerobee.protocol.grpc.calls import (
    ReceiveMessageRequest,
    ReceiveMessageResponse,
    SendMessageRequest,
    TelemetryCommand,
)
from aerobee.protocol.grpc.codes import ClientType
from aerobee.protocol.grpc.framing import PREFIX_BYTES
from aerobee.protocol.grpc.resources import (
    BrokerEntry,
    ClientSettings,
    Duration,
    FilterExpression,
    GrpcMessage,
    GrpcSubscription,
    Publishing,
    QueueEntry,
    Resource,
    SubscriptionEntry,
    SystemProperties,
)
from aerobee.protocol.grpc.wire import decode, encode
from aerobee.protocol.http2.connection import Http2Connection
from aerobee.protocol.http2.frames import DATA, ErrorCode, reset_frame
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from tests.access_kit import secret_of
from tests.broker_kit import BrokerKit
from tests.http2_kit import HELLO, frames_in, open_stream, unary

_CALL_EFFECTS = (CallWrite, AnswerCall, EndCall, FlushCalls)
ADDRESS = Peer("10.0.0.1", 8081)
IDENTITY = BrokerIdentity(grpc_address=ADDRESS)
CONNECTION = RpcConnectionId(1)

RESPONSES: dict[str, type[Any]] = {
    "QueryRoute": calls.QueryRouteResponse,
    "QueryAssignment": calls.QueryAssignmentResponse,
    "SendMessage": calls.SendMessageResponse,
    "ReceiveMessage": ReceiveMessageResponse,
    "AckMessage": calls.AckMessageResponse,
    "ChangeInvisibleDuration": calls.ChangeInvisibleDurationResponse,
    "RecallMessage": calls.RecallMessageResponse,
    "Telemetry": TelemetryCommand,
}


class Ended(NamedTuple):
    status: int
    reason: str


class CallKit:
    """Calls of clients, whichever service answers them."""

    clock: SimClock

    def __init__(self) -> None:
        self.written: dict[CallId, list[bytes]] = {}
        self.ended: dict[CallId, Ended] = {}
        self._methods: dict[CallId, str] = {}
        self._last_call = 0
        self.is_fast = True
        """Whether calls are offered to the fast path first."""
        self.taken = 0
        """Calls that it took."""
        self._in_place: list[tuple[CallId, Http2Connection]] = []

    @property
    def door(self) -> Any:
        raise NotImplementedError

    def carry_out(self, effects: Effects) -> None:
        raise NotImplementedError

    def settle(self, now: Now) -> None:
        """A round of reads is over."""

    def finish(self) -> None:
        raise NotImplementedError

    def note(self, effects: Effects) -> Effects:
        """Note what is written to calls; returns the other effects."""
        for effect in effects:
            match effect:
                case FlushCalls():
                    self._hear_answers()
                case CallWrite(call, message):
                    self.written.setdefault(call, []).append(message)
                case AnswerCall(call, messages):
                    self.written.setdefault(call, []).extend(messages)
                    self.ended[call] = Ended(0, "")
                case EndCall(call, status, reason):
                    self.ended[call] = Ended(status, reason)
        return [one for one in effects if not isinstance(one, _CALL_EFFECTS)]

    def begin(
        self,
        method: str,
        request: object | None,
        client: str = "c1",
        timeout_ms: int | None = 60_000,
        *,
        connection: RpcConnectionId = CONNECTION,
        metadata: dict[str, str] | None = None,
        host: str = "10.0.0.9",
    ) -> CallId:
        """Begin a call, and send its first message."""
        self._last_call += 1
        call = CallId(self._last_call)
        self._methods[call] = method
        said = {"x-mq-client-id": client, "x-mq-language": "PYTHON", **(metadata or {})}
        start = CallStart(
            call,
            connection,
            Peer(host, 50_000),
            f"/apache.rocketmq.v2.MessagingService/{method}",
            {name: text for name, text in said.items() if text},
            timeout_ms,
        )
        if request is None or not self._is_taken(start, request):
            self.carry_out(self.door.on_call(start, self.clock.now()))
            if request is not None:
                self.say(call, request)
        return call

    def _is_taken(self, start: CallStart, request: object) -> bool:
        """Offer a call as the net layer does: whether it is answered in place."""
        taker = self.door.in_place
        if not self.is_fast or start.path not in taker.paths:
            return False
        data = request if isinstance(request, bytes) else encode(request)
        metadata = tuple(start.metadata.items())
        http2 = Http2Connection(paths=taker.paths)
        now = self.clock.now()
        # The first request shows its headers, the second is recognised by them.
        shown = open_stream(1, start.path, *metadata) + reset_frame(1, ErrorCode.CANCEL)
        http2.receive(HELLO + shown, now.monotonic_ms)
        http2.take_output()
        http2.feed(unary(3, start.path, data, *metadata), now.monotonic_ms)
        taken = taker.taken
        taker.take_all(http2, start.connection, now)
        if taker.taken == taken:
            return False
        self.taken += 1
        self._in_place.append((start.call, http2))
        self._hear_answers()
        self.settle(now)
        return True

    def _hear_answers(self) -> None:
        """What was answered into connections."""
        for one in list(self._in_place):
            call, http2 = one
            data = [part.payload for part in frames_in(http2.take_output()) if part.kind == DATA]
            if data:
                self._in_place.remove(one)
                self.written.setdefault(call, []).append(data[0][PREFIX_BYTES:])
                self.ended[call] = Ended(0, "")

    def say(self, call: CallId, request: object) -> None:
        """One more message of a call, in a round of reads of its own."""
        data = request if isinstance(request, bytes) else encode(request)
        now = self.clock.now()
        self.carry_out(self.door.on_call_message(call, data, now))
        self.settle(now)

    def half_close(self, call: CallId) -> None:
        self.carry_out(self.door.on_call_half_closed(call, self.clock.now()))

    def cancel(self, call: CallId) -> None:
        self.carry_out(self.door.on_call_cancelled(call, self.clock.now()))

    def disconnect(self, connection: RpcConnectionId = CONNECTION) -> None:
        self.carry_out(self.door.on_rpc_closed(connection, self.clock.now()))

    def responses(self, call: CallId) -> list[Any]:
        """What was written to a call since the last look."""
        kind = RESPONSES.get(self._methods[call], calls.StatusResponse)
        return [decode(kind, data) for data in self.written.pop(call, [])]

    def call(self, method: str, request: object, client: str = "c1", **more: Any) -> Any:
        """The one response of a unary call, everything done that it wants of the disk."""
        call = self.begin(method, request, client, **more)
        self.finish()
        (response,) = self.responses(call)
        assert self.ended[call] == Ended(0, "")
        return response

    # What clients do.

    def produce(self, *topics: str, client: str = "c1", **more: Any) -> CallId:
        """A producer that has announced itself; returns its telemetry."""
        resources = [Resource("", topic) for topic in topics]
        settings = ClientSettings(client_type=ClientType.PRODUCER, publishing=Publishing(resources))
        return self.begin("Telemetry", TelemetryCommand(settings=settings), client, **more)

    def consume(
        self,
        group: str,
        topic: str,
        client: str = "c1",
        kind: ClientType = ClientType.SIMPLE_CONSUMER,
        **more: Any,
    ) -> CallId:
        entry = SubscriptionEntry(Resource("", topic), FilterExpression(1, "*"))
        subscription = GrpcSubscription(Resource("", group), [entry])
        settings = ClientSettings(client_type=kind, subscription=subscription)
        return self.begin("Telemetry", TelemetryCommand(settings=settings), client, **more)

    def send(self, *messages: GrpcMessage, client: str = "c1", **more: Any) -> Any:
        return self.call("SendMessage", SendMessageRequest(list(messages)), client, **more)

    def receive(
        self, request: ReceiveMessageRequest, client: str = "c1", **more: Any
    ) -> list[GrpcMessage]:
        """The messages of a receive that does not wait."""
        call = self.begin("ReceiveMessage", request, client, **more)
        self.finish()
        return [one.message for one in self.responses(call) if one.message is not None]


class GrpcKit(CallKit, BrokerKit):
    def __init__(
        self,
        *topics: TopicConfig,
        identity: BrokerIdentity = IDENTITY,
        config: BrokerConfig | None = None,
        addresses: Sequence[str] = (),
        **more: Any,
    ) -> None:
        CallKit.__init__(self)
        BrokerKit.__init__(
            self, *topics, identity=identity, config=config, addresses=addresses, **more
        )

    @property
    def door(self) -> Any:
        return self.broker.rpc

    def carry_out(self, effects: Effects) -> None:
        BrokerKit.carry_out(self, self.note(effects))

    def settle(self, now: Now) -> None:
        self.carry_out(self.broker.settle(now))

    def finish(self) -> None:
        BrokerKit.finish(self)

    # Other processes.

    def restarted(self) -> "GrpcKit":
        self.stop()
        return self._next(self.disk)

    def killed(self) -> "GrpcKit":
        return self._next(self.disk.kill())

    def _next(self, disk: SimDisk) -> "GrpcKit":
        config, identity, addresses = self._told
        return GrpcKit(
            identity=identity,
            config=config,
            addresses=addresses,
            disk=disk,
            storage=self.store.config,
            clock=self.clock,
        )


def message(topic: str = "orders", body: bytes = b"body", **system: Any) -> GrpcMessage:
    system.setdefault("message_id", f"ID-{body.decode()}")
    return GrpcMessage(Resource("", topic), {}, SystemProperties(**system), body)


def receiving(
    topic: str = "orders",
    group: str = "g",
    *,
    expression: FilterExpression | None = None,
    is_renewed: bool = False,
    poll_ms: int = 0,
    invisible_s: int = 30,
    batch: int = 32,
    broker: str = "",
) -> ReceiveMessageRequest:
    return ReceiveMessageRequest(
        Resource("", group),
        QueueEntry(Resource("", topic), 0, broker=BrokerEntry(broker)),
        expression,
        batch,
        None if is_renewed else Duration(invisible_s),
        is_renewed,
        Duration(poll_ms // 1_000, poll_ms % 1_000 * 1_000_000),
    )


def signed_by(name: str, secret: str = "") -> dict[str, str]:
    """The metadata of a call that a user signs, by default one of `tests.access_kit`."""
    date = "20260102T030405Z"
    key = (secret or secret_of(name)).encode()
    digest = hmac.digest(key, date.encode(), hashlib.sha1).hex()
    text = f"Credential={name}, SignedHeaders=x-mq-date-time, Signature={digest}"
    return {"authorization": f"MQv2-HMAC-SHA1 {text}", "x-mq-date-time": date}


def typed(name: str, kind: str, queues: int = 4, permission: int = 6) -> TopicConfig:
    """A topic that takes messages of a type."""
    attributes = {"message.type": kind}
    return TopicConfig(name, queues, queues, permission, attributes=attributes)
