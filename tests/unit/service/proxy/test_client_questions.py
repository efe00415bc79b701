"""Questions of administrators to clients of gRPC, asked as a tool asks them: at the broker."""

import json
from typing import Any

import pytest

from aerobee.protocol.grpc.calls import (
    TelemetryCommand,
    ThreadStackTrace,
    VerifyMessageCommand,
    VerifyMessageResult,
)
from aerobee.protocol.grpc.codes import ClientType, GrpcCode
from aerobee.protocol.grpc.resources import Status
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.proxy.client_questions import ANSWER_MS
from tests.grpc_kit import GrpcKit, typed

BUSY, INFO, DIRECTLY = 2, 307, 309


def kit_with_consumer(**more: Any) -> tuple[GrpcKit, Any]:
    """A kit, and the telemetry of a push consumer that has heard its settings."""
    kit = GrpcKit(typed("orders", "NORMAL", queues=1))
    stream = kit.consume("g", "orders", "c1", ClientType.PUSH_CONSUMER, **more)
    kit.responses(stream)
    return kit, stream


def ask_info(kit: GrpcKit, *, stacks: bool = True, client: str = "c1") -> None:
    fields = {"consumerGroup": "g", "clientId": client, "jstackEnable": str(stacks).lower()}
    kit.tell(INFO, fields)


def ask_directly(kit: GrpcKit) -> None:
    sent = kit.ask(310, _send_fields(), b"body")
    fields = {
        "consumerGroup": "g",
        "clientId": "c1",
        "msgId": sent.ext_fields["msgId"],
        "topic": "orders",
    }
    kit.tell(DIRECTLY, fields)


def _send_fields() -> dict[str, str]:
    said = {"a": "p", "b": "orders", "c": "TBW102", "d": 4, "e": 0, "f": 0, "g": 1, "h": 0}
    said |= {"i": "UNIQ_KEY\x01U1\x02TAGS\x01red\x02", "j": 0, "k": "false", "m": "false"}
    return {name: str(value) for name, value in said.items()}


def told(kit: GrpcKit) -> RemotingCommand:
    """The one answer to the tool."""
    (answer,) = [one for one in kit.heard() if one.is_response]
    return answer


def say(kit: GrpcKit, stream: Any, code: int, **command: object) -> None:
    status = Status(code, "said by the client")
    kit.say(stream, TelemetryCommand(status=status, **command))  # type: ignore[arg-type]


def test_stacks_are_asked_from_the_client_and_told_to_the_tool() -> None:
    kit, stream = kit_with_consumer()
    ask_info(kit)
    assert kit.heard() == []
    (asked,) = kit.responses(stream)
    nonce = asked.print_thread_stack_trace_command.nonce
    say(kit, stream, GrpcCode.OK, thread_stack_trace=ThreadStackTrace(nonce, "main\n  at run"))
    answer = told(kit)
    assert answer.code == 0
    shown = json.loads(bytes(answer.body))
    assert shown["jstack"] == "main\n  at run"
    assert [one["topic"] for one in shown["subscriptionSet"]] == ["orders"]


def test_what_is_asked_without_stacks_is_answered_at_once_from_the_settings() -> None:
    metadata = {"x-mq-language": "GO", "x-mq-client-version": "5.1.4"}
    kit, stream = kit_with_consumer(metadata=metadata)
    ask_info(kit, stacks=False)
    answer = told(kit)
    shown = json.loads(bytes(answer.body))
    assert (answer.code, kit.responses(stream)) == (0, [])
    assert shown["properties"] == {
        "PROP_CLIENT_LANGUAGE": "GO",
        "PROP_CLIENT_VERSION": "5.1.4",
        "PROP_CONSUMEORDERLY": "false",
        "PROP_CONSUME_TYPE": "CONSUME_PASSIVELY",
    }
    assert shown["mqTable"] == {}


def test_a_message_is_verified_by_the_client_with_its_result() -> None:
    for code, result in (
        (GrpcCode.OK, "CR_SUCCESS"),
        (GrpcCode.FAILED_TO_CONSUME_MESSAGE, "CR_LATER"),
        (GrpcCode.MESSAGE_CORRUPTED, "CR_RETURN_NULL"),
    ):
        kit, stream = kit_with_consumer()
        ask_directly(kit)
        (asked,) = kit.responses(stream)
        command = asked.verify_message_command
        assert (command.message.body, command.message.system_properties.tag) == (b"body", "red")
        assert command.message.topic.name == "orders"
        assert command.message.system_properties.receipt_handle is None
        say(kit, stream, code, verify_message_result=VerifyMessageResult(command.nonce))
        answer = told(kit)
        assert (answer.code, json.loads(bytes(answer.body))["consumeResult"]) == (0, result)


def test_a_result_may_come_in_the_field_of_the_question_as_from_the_client_for_node() -> None:
    kit, stream = kit_with_consumer()
    ask_directly(kit)
    nonce = kit.responses(stream)[0].verify_message_command.nonce
    say(kit, stream, GrpcCode.OK, verify_message_command=VerifyMessageCommand(nonce))
    assert told(kit).code == 0


@pytest.mark.parametrize(
    ("said", "code"),
    [(GrpcCode.NOT_IMPLEMENTED, 1), (GrpcCode.VERIFY_FIFO_MESSAGE_UNSUPPORTED, 16)],
)
def test_a_client_that_cannot_is_a_refusal_with_its_words(said: int, code: int) -> None:
    kit, stream = kit_with_consumer()
    ask_directly(kit)
    nonce = kit.responses(stream)[0].verify_message_command.nonce
    say(kit, stream, said, verify_message_result=VerifyMessageResult(nonce))
    answer = told(kit)
    assert (answer.code, "said by the client" in answer.remark) == (code, True)


@pytest.mark.parametrize("ask", [ask_info, ask_directly])
def test_a_client_that_says_nothing_is_busy_after_five_seconds(ask: Any) -> None:
    kit, _ = kit_with_consumer()
    ask(kit)
    kit.run(ANSWER_MS - 1_000, 500)
    assert kit.heard() == []
    kit.run(1_500, 500)
    answer = told(kit)
    assert (answer.code, "did not answer" in answer.remark) == (BUSY, True)
    assert len(kit.door.messaging._telemetry.questions) == 0


def test_a_client_without_a_stream_is_busy_at_once() -> None:
    kit, stream = kit_with_consumer()
    kit.half_close(stream)
    ask_info(kit)
    assert (told(kit).code, kit.heard()) == (BUSY, [])


@pytest.mark.parametrize("end", [GrpcKit.half_close, GrpcKit.cancel])
def test_a_stream_that_ends_answers_what_was_asked_on_it(end: Any) -> None:
    kit, stream = kit_with_consumer()
    ask_info(kit)
    end(kit, stream)
    assert told(kit).code == BUSY


def test_nobody_answers_for_another_client_or_another_question() -> None:
    kit, stream = kit_with_consumer()
    other = kit.consume("g", "orders", "c2", ClientType.PUSH_CONSUMER)
    ask_info(kit)
    nonce = kit.responses(stream)[0].print_thread_stack_trace_command.nonce
    say(kit, other, GrpcCode.OK, thread_stack_trace=ThreadStackTrace(nonce, "forged"))
    say(kit, stream, GrpcCode.OK, verify_message_result=VerifyMessageResult(nonce))
    say(kit, stream, GrpcCode.OK, thread_stack_trace=ThreadStackTrace("99", "of no question"))
    assert kit.heard() == []
    say(kit, stream, GrpcCode.OK, thread_stack_trace=ThreadStackTrace(nonce, "true"))
    assert json.loads(bytes(told(kit).body))["jstack"] == "true"


def test_a_late_answer_changes_nothing() -> None:
    kit, stream = kit_with_consumer()
    ask_info(kit)
    nonce = kit.responses(stream)[0].print_thread_stack_trace_command.nonce
    kit.run(ANSWER_MS + 1_000, 500)
    assert told(kit).code == BUSY
    say(kit, stream, GrpcCode.OK, thread_stack_trace=ThreadStackTrace(nonce, "late"))
    assert kit.heard() == []


def test_offsets_that_clients_of_remoting_are_asked_for_do_not_keep_the_tool_waiting() -> None:
    kit, stream = kit_with_consumer()
    kit.tell(223, {"group": "g", "topic": "orders", "clientAddr": "c1"})
    assert told(kit).code != 0
    assert kit.responses(stream) == []
