"""ClientQuestions passes requests of administrators on to clients, as commands on their telemetry.

    GET_CONSUMER_RUNNING_INFO ── stacks wanted ─▶ print_thread_stack_trace ─▶ thread_stack_trace
                              └─ not wanted ────▶ answered here, from the client's settings
    CONSUME_MESSAGE_DIRECTLY ───────────────────▶ verify_message ───────────▶ verify_message_result
    every other ────────────────────────────────▶ refused: the protocol has no command for it

Every question is answered once: a client that says nothing for five seconds, or has no stream, is
SYSTEM_BUSY, as RocketMQ's proxy says. Clients for Python and Rust never say anything.

Imports more than 15 modules because a question is a request of one protocol and a command of the
other.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from aerobee.errors import ProtocolError
from aerobee.model.properties import RETRY_TOPIC
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.running_info import (
    RunningInfo,
    encode_consume_result,
    encode_running_info,
)
from aerobee.protocol.grpc.calls import (
    PrintThreadStackTraceCommand,
    TelemetryCommand,
    VerifyMessageCommand,
)
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.message_mapping import delivered_message
from aerobee.protocol.grpc.resources import Status
from aerobee.protocol.headers.group_status import RunningInfoHeader
from aerobee.protocol.message.stored_message import client_messages
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.proxy.client_settings import agent_of, heartbeat_of
from aerobee.service.proxy.grpc_clients import GrpcClient
from aerobee.service.proxy.outcomes import OK_STATUS

ANSWER_MS = 5_000
OPEN_MAX = 1_000
"""Questions that wait, of all clients: an operator or a tool waits for each."""

Told: TypeAlias = Callable[[RemotingCommand], object]
"""Takes the answer to a request, once."""

_RESULTS: dict[int, str] = {
    GrpcCode.OK: "CR_SUCCESS",
    GrpcCode.FAILED_TO_CONSUME_MESSAGE: "CR_LATER",
    GrpcCode.MESSAGE_CORRUPTED: "CR_RETURN_NULL",
}


class _Question(NamedTuple):
    client: GrpcClient
    request: RemotingCommand
    asked_ms: int
    """On the monotonic clock."""
    told: Told


class ClientQuestions:
    """Q1. `_open` has the questions that were written to a client and are not answered."""

    def __init__(self, command: Callable[[GrpcClient, TelemetryCommand], bool]) -> None:
        """`command` writes a command to a client; False: it has no stream."""
        self._command = command
        self._open: dict[str, _Question] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._open)

    def ask(self, client: GrpcClient, request: RemotingCommand, now: Now, told: Told) -> None:
        """Have a client answer a request."""
        try:
            if request.code == RequestCode.GET_CONSUMER_RUNNING_INFO:
                self._ask_running_info(client, request, now, told)
            elif request.code == RequestCode.CONSUME_MESSAGE_DIRECTLY:
                self._ask_to_verify(client, request, now, told)
            else:
                remark = f"a client of gRPC has no answer to a request {request.code}"
                told(reply_to(request, ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark))
        except (ProtocolError, IndexError) as error:
            told(reply_to(request, ResponseCode.SYSTEM_ERROR, remark=f"not readable: {error}"))

    def _ask_running_info(
        self, client: GrpcClient, request: RemotingCommand, now: Now, told: Told
    ) -> None:
        header = read_header(RunningInfoHeader, request.ext_fields)
        if not header.jstack_enable:
            told(reply_to(request, ResponseCode.SUCCESS, body=_running_info(client, now)))
            return
        nonce = self._next_nonce()
        command = TelemetryCommand(
            status=OK_STATUS, print_thread_stack_trace_command=PrintThreadStackTraceCommand(nonce)
        )
        self._write(nonce, command, _Question(client, request, now.monotonic_ms, told))

    def _ask_to_verify(
        self, client: GrpcClient, request: RemotingCommand, now: Now, told: Told
    ) -> None:
        message = client_messages(bytes(request.body))[0]
        topic = message.properties.get(RETRY_TOPIC) or message.topic
        shown = delivered_message(message, topic, message.reconsume_times + 1, "")
        nonce = self._next_nonce()
        command = TelemetryCommand(
            status=OK_STATUS, verify_message_command=VerifyMessageCommand(nonce, shown)
        )
        self._write(nonce, command, _Question(client, request, now.monotonic_ms, told))

    def _next_nonce(self) -> str:
        self._last += 1
        return str(self._last)

    def _write(self, nonce: str, command: TelemetryCommand, question: _Question) -> None:
        if len(self._open) >= OPEN_MAX:
            _give_up(question, "too many questions to clients wait")
        elif self._command(question.client, command):
            self._open[nonce] = question
        else:
            _give_up(question, "the client has no stream of telemetry")

    # Answers.

    def take(self, client: GrpcClient, command: TelemetryCommand, now: Now) -> None:
        """A client has written something that is no settings."""
        stacks = command.thread_stack_trace
        if stacks is not None:
            question = self._answered(client, stacks.nonce, RequestCode.GET_CONSUMER_RUNNING_INFO)
            if question is not None:
                text = stacks.thread_stack_trace or ""
                _tell_stacks(question, command.status, text, now)
            return
        # The client for Node answers with the field of the question.
        result = command.verify_message_result or command.verify_message_command
        if result is not None:
            question = self._answered(client, result.nonce, RequestCode.CONSUME_MESSAGE_DIRECTLY)
            if question is not None:
                _tell_result(question, command.status, now)

    def _answered(self, client: GrpcClient, nonce: str, code: RequestCode) -> _Question | None:
        question = self._open.get(nonce)
        if question is None or question.client is not client or question.request.code != code:
            return None  # late, or of a client that was not asked
        return self._open.pop(nonce)

    def on_tick(self, now: Now) -> None:
        """Give up questions that are not answered in time."""
        late = [
            nonce
            for nonce, question in self._open.items()
            if now.monotonic_ms - question.asked_ms >= ANSWER_MS
        ]
        self._give_up_all(late, f"the client did not answer in {ANSWER_MS} ms")

    def stream_ended(self, client: GrpcClient) -> None:
        """A client has no stream any more."""
        mine = [nonce for nonce, one in self._open.items() if one.client is client]
        self._give_up_all(mine, "the client has ended its stream of telemetry")

    def _give_up_all(self, nonces: list[str], reason: str) -> None:
        for nonce in nonces:
            question = self._open.pop(nonce, None)
            if question is not None:  # else what was told has ended it
                _give_up(question, reason)


def _give_up(question: _Question, reason: str) -> None:
    remark = f"{question.client.id}: {reason}"
    question.told(reply_to(question.request, ResponseCode.SYSTEM_BUSY, remark=remark))


def _running_info(client: GrpcClient, now: Now, stacks: str = "") -> bytes:
    """What is known of a consumer here. The queues are the server's: it shares messages, not
    queues."""
    heartbeat = heartbeat_of(client, now)
    beats = () if heartbeat is None else heartbeat.consumers
    properties = {
        "PROP_CLIENT_VERSION": client.version,
        "PROP_CLIENT_LANGUAGE": agent_of(client).language,
        "PROP_CONSUMEORDERLY": str(_is_ordered(client)).lower(),
        "PROP_CONSUME_TYPE": beats[0].consume_type.value if beats else "",
    }
    subscriptions = beats[0].subscriptions if beats else ()
    return encode_running_info(RunningInfo(properties, {}, subscriptions, stacks))


def _is_ordered(client: GrpcClient) -> bool:
    subscription = client.settings.subscription if client.settings is not None else None
    return bool(subscription is not None and subscription.fifo)


def _tell_stacks(question: _Question, status: Status | None, stacks: str, now: Now) -> None:
    if status is None or status.code != GrpcCode.OK:
        _tell_failure(question, status)
        return
    body = _running_info(question.client, now, stacks)
    question.told(reply_to(question.request, ResponseCode.SUCCESS, body=body))


def _tell_result(question: _Question, status: Status | None, now: Now) -> None:
    result = None if status is None else _RESULTS.get(status.code)
    if status is None or result is None:
        _tell_failure(question, status)
        return
    body = encode_consume_result(
        result,
        spent_ms=max(0, now.monotonic_ms - question.asked_ms),
        is_ordered=_is_ordered(question.client),
        remark="" if status.code == GrpcCode.OK else status.message,
    )
    question.told(reply_to(question.request, ResponseCode.SUCCESS, body=body))


def _tell_failure(question: _Question, status: Status | None) -> None:
    is_forbidden = status is not None and status.code == GrpcCode.VERIFY_FIFO_MESSAGE_UNSUPPORTED
    code = ResponseCode.NO_PERMISSION if is_forbidden else ResponseCode.SYSTEM_ERROR
    said = "nothing" if status is None else f"{status.code} {status.message}"
    remark = f"{question.client.id} cannot do it: it says {said}"
    question.told(reply_to(question.request, code, remark=remark))
