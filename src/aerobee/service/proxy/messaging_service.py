"""MessagingService answers the calls of RocketMQ's gRPC protocol: a `ports.rpc.RpcService`.

A call is looked up by its path, its client by its metadata, its request is decoded; then the method
decides. Methods that nobody serves are answered UNIMPLEMENTED, as RocketMQ's proxy does.

Effects go to the broker's own outbox, and leave with the broker's.

Imports more than 15 modules because it puts the others together.
"""

import logging
from functools import partial

from aerobee.errors import AerobeeError, RemoteProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.rpc import CallId, CallStart, EndCall, RpcConnectionId
from aerobee.ports.service import ChannelId, CloseChannel, Effects, Reply
from aerobee.protocol.grpc.calls import SERVICE
from aerobee.protocol.grpc.codes import GrpcCode, RpcStatus
from aerobee.protocol.grpc.wire import decode
from aerobee.service.proxy.desk import Desk
from aerobee.service.proxy.entry_points import EntryPoints
from aerobee.service.proxy.grpc_clients import GrpcClient, GrpcClients
from aerobee.service.proxy.open_call import Method, OpenCall
from aerobee.service.proxy.outcomes import CallRefused
from aerobee.service.proxy.recall_calls import RecallCalls
from aerobee.service.proxy.receipt_calls import ReceiptCalls
from aerobee.service.proxy.receive_calls import ReceiveCalls
from aerobee.service.proxy.renewals import Renewals
from aerobee.service.proxy.route_calls import RouteCalls
from aerobee.service.proxy.send_calls import SendCalls
from aerobee.service.proxy.telemetry_calls import Answered, TelemetryCalls, Told, unheard
from aerobee.service.proxy.transaction_calls import TransactionCalls

_log = logging.getLogger(__name__)

BESIDE_BODY_BYTES = 256 << 10
"""Room for everything in a message but its body."""
REST_MS_MAX = 1_000


class MessagingService:
    """M1. A call is in `_calls` from its start until it is ended or given up."""

    def __init__(
        self,
        desk: Desk,
        entry_points: EntryPoints,
        outbox: Effects,
        answered: Answered = unheard,
    ) -> None:
        """`entry_points`: where clients reach the service. `answered` is given the answer of a
        client to a request that the broker wrote to its channel."""
        self._answered = answered
        self._desk = desk
        self._outbox = outbox
        self._calls: dict[CallId, OpenCall] = {}
        self._now = Now(0, 0)
        self.clients = GrpcClients(desk.opened, self._client_gone)
        self._telemetry = TelemetryCalls(desk, self.clients, outbox)
        self._receipts = ReceiptCalls(desk)
        self._receives = ReceiveCalls(desk, self._receipts)
        self._ends = TransactionCalls(desk)
        sends = SendCalls(desk, self._ends.transactions, self._telemetry)
        self._methods: dict[str, Method] = {
            SERVICE + method.name: method
            for room in (
                RouteCalls(desk, entry_points),
                RecallCalls(desk),
                self._telemetry,
                sends,
                self._ends,
                self._receives,
                self._receipts,
            )
            for method in room.methods()
        }

    @property
    def message_bytes_max(self) -> int:
        return self._desk.body_bytes_max + BESIDE_BODY_BYTES

    @property
    def renewals(self) -> Renewals:
        """Receipts of messages that stay invisible for their clients."""
        return self._receipts.renewals

    def __len__(self) -> int:
        """The number of calls that are not answered."""
        return len(self._calls)

    # Calls.

    def on_call(self, start: CallStart, now: Now) -> None:
        method = self._methods.get(start.path)
        if method is None:
            reason = f"Method not found: {start.path.lstrip('/')[:200]}"
            self._outbox.append(EndCall(start.call, RpcStatus.UNIMPLEMENTED, reason))
            return
        deadline_ms = None
        if start.timeout_ms is not None:
            deadline_ms = now.monotonic_ms + start.timeout_ms
        OpenCall(start, method, deadline_ms, self._outbox, self._calls)

    def on_call_message(self, number: CallId, message: bytes, now: Now) -> None:
        call = self._calls.get(number)
        if call is None:
            return
        request = None
        try:
            self._desk.admit(call.caller, call.method.code, now)
            call.client = self._client_of(call)
            request = decode(call.method.request, message)
        except CallRefused as refusal:
            call.method.refuse(call, request, refusal.status, now)
        except RemoteProtocolError as error:
            call.end(RpcStatus.INTERNAL, f"Invalid protobuf byte sequence: {error.message}")
        else:
            self._learn(call, request, now)

    def _learn(self, call: OpenCall, request: object, now: Now) -> None:
        """Handle a request, when the names in it are known."""
        learner = self._desk.learner
        if learner is None:
            self._handle(call, request, None, now)
            return

        def learnt(refusal: CallRefused | None, later: Now) -> None:
            if not call.is_open:
                return
            if call.method.is_stream:
                refusal = None  # telemetry is never ended for the state of the cluster
            try:
                # What was learnt may be whose call it is.
                self._desk.admit(call.caller, call.method.code, later)
            except CallRefused as stranger:
                refusal = stranger
            self._handle(call, request, refusal, later)

        if learner.learn(call.method.names(request), now, learnt):
            self._handle(call, request, None, now)

    def _handle(
        self, call: OpenCall, request: object, refusal: CallRefused | None, now: Now
    ) -> None:
        method = call.method
        try:
            if refusal is not None:
                raise refusal
            method.handle(call, request, now)
        except CallRefused as refusal:
            method.refuse(call, request, refusal.status, now)
        except AerobeeError as error:
            method.refuse(call, request, _failed(str(error)).status, now)
        except Exception as error:
            # A bug in a method. Only this call fails.
            _log.exception("a call failed", extra={"method": method.name})
            method.refuse(call, request, _failed(f"internal error: {error!r}"[:500]).status, now)

    def on_call_half_closed(self, number: CallId, now: Now) -> None:
        call = self._calls.get(number)
        if call is not None and call.method.is_stream:
            self._stream_over(call)
            call.end()
        elif call is not None and call.is_unasked:
            call.end(RpcStatus.INTERNAL, "Half-closed without a request")

    def on_call_cancelled(self, number: CallId, now: Now) -> None:
        call = self._calls.get(number)
        if call is not None:
            call.give_up()
            self._receives.given_up(call)
            self._stream_over(call)

    def on_rpc_closed(self, connection: RpcConnectionId, now: Now) -> None:
        self.clients.disconnected(connection, now)

    def _client_of(self, call: OpenCall) -> GrpcClient:
        start = call.start
        client = self.clients.meet(
            start.metadata.get("x-mq-client-id", ""), start.connection, start.peer
        )
        client.language = start.metadata.get("x-mq-language", "")
        client.version = start.metadata.get("x-mq-client-version", "")
        return client

    def _stream_over(self, call: OpenCall) -> None:
        client = self.clients.find(call.start.metadata.get("x-mq-client-id", ""))
        if client is not None:
            self._telemetry.stream_ended(client, call.start.call)

    # Time, and the broker's own messages to clients.

    def on_tick(self, now: Now) -> None:
        self._now = now
        self._receives.on_tick(now)
        self.clients.drop_gone(now)
        self._telemetry.questions.on_tick(now)
        self._receipts.renewals.on_tick(now)

    def rest_ms(self, now: Now) -> int:
        due_ms = self._receipts.renewals.next_ms()
        return REST_MS_MAX if due_ms is None else max(0, min(REST_MS_MAX, due_ms - now.wall_ms))

    def stop(self, now: Now) -> None:
        """Make messages that clients have not acknowledged visible soon."""
        self._receipts.stop(now)

    def translate(self, effects: Effects) -> Effects:
        """Effects of the broker, those to channels of this service's clients in its own words."""
        kept: Effects = []
        for effect in effects:
            client = None
            if isinstance(effect, Reply | CloseChannel):
                client = self.clients.of_channel(effect.channel)
            if client is None:
                kept.append(effect)
            elif isinstance(effect, CloseChannel):
                self.clients.drop(client, self._now)
            elif isinstance(effect, Reply):
                self._pass_on(effect)
        return kept

    def _pass_on(self, request: Reply) -> None:
        channel = request.channel
        if request.command.is_oneway:
            self.tell(request)
        elif not request.command.is_response:
            self.ask(request, self._now, partial(self._answered, channel))

    def tell(self, request: Reply, broker: str = "") -> bool:
        """Pass a broker's own request on to the client of its channel; False: it cannot be told."""
        client = self.clients.of_channel(request.channel)
        told = None if client is None else self._ends.check_back(request.command, broker)
        return client is not None and told is not None and self._telemetry.command(client, told)

    def ask(self, request: Reply, now: Now, told: Told) -> None:
        """Have the client of a channel answer a request of a broker; `told` is called with the
        answer, once, also if the client says nothing."""
        client = self.clients.of_channel(request.channel)
        self._telemetry.ask(client, request.command, now, told)

    def can_be_told(self, channel: ChannelId) -> bool:
        """Whether the client of a channel has a stream that commands go to."""
        client = self.clients.of_channel(channel)
        return client is not None and client.telemetry is not None

    def _client_gone(self, client: GrpcClient, now: Now) -> None:
        self._telemetry.questions.stream_ended(client)
        self._receives.client_gone(client, now)
        self._receipts.client_gone(client, now)
        self._desk.closed(client.channel)


def _failed(message: str) -> CallRefused:
    return CallRefused(GrpcCode.INTERNAL_SERVER_ERROR, message)
