import pytest

from aerobee.errors import ProtocolError
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.assignment import (
    POP,
    PULL,
    RequestMode,
    decode_assignment_question,
    decode_request_mode,
    decode_request_modes,
    encode_assignments,
    encode_request_mode,
    request_mode_json,
)
from aerobee.protocol.text.json_text import write_compact
from tests.captured import captured


def test_questions_of_a_real_client_are_read() -> None:
    for request in captured("QUERY_ASSIGNMENT", "request"):
        question = decode_assignment_question(bytes(request.body))
        assert question.group == "cg-pop"
        assert question.strategy == "AVG"
        assert not question.is_broadcasting


def test_an_answer_is_written_as_apache_writes_it() -> None:
    bodies = {bytes(answer.body) for answer in captured("QUERY_ASSIGNMENT", "response")}
    popped = MessageQueue("Pop550", "broker-a", QueueId(-1))
    pulled = MessageQueue("%RETRY%cg-pop", "broker-a", QueueId(0))
    ours = {encode_assignments([popped], POP), encode_assignments([pulled], PULL)}
    assert bodies <= ours


def test_no_answer_differs_from_nothing_assigned() -> None:
    assert encode_assignments(None, PULL) == b"{}"
    assert encode_assignments([], PULL) == b'{"messageQueueAssignments":[]}'


def test_a_mode_is_read_and_written() -> None:
    mode = RequestMode("T", "g", POP, 3)
    assert decode_request_mode(write_compact(request_mode_json(mode))) == mode


@pytest.mark.parametrize(
    "body",
    [
        b'{"topic":"T"}',
        b'{"topic":"","consumerGroup":"g"}',
        b'{"topic":"T","consumerGroup":"g","mode":"PUSH"}',
        b'{"topic":"T","consumerGroup":"' + b"g" * 300 + b'"}',
    ],
)
def test_a_mode_that_does_not_exist_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_request_mode(body)


def test_modes_are_read_again() -> None:
    mode = RequestMode("T", "g", POP, 3)
    assert decode_request_mode(encode_request_mode(mode)) == mode
    body = write_compact({"messageRequestModeMap": {"T": {"g": request_mode_json(mode)}}})
    assert decode_request_modes(body) == [mode]
