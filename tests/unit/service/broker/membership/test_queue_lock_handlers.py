"""Unit tests of locks of queues, as clients ask for them."""

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.locks import LockRequest, encode_lock_request, encode_locked
from tests.captured import captured
from tests.consumer_kit import ConsumerKit

Q0 = MessageQueue("Orders", "broker-a", QueueId(0))
Q1 = MessageQueue("Orders", "broker-a", QueueId(1))


def request(client: str, *queues: MessageQueue) -> bytes:
    return encode_lock_request(LockRequest(client, "g", queues))


def test_a_client_is_told_which_queues_are_its_own() -> None:
    kit = ConsumerKit()
    assert kit.ask(41, body=request("a", Q0)).body == encode_locked([Q0])
    assert kit.ask(41, body=request("b", Q0, Q1)).body == encode_locked([Q1])
    assert kit.ask(42, body=request("a", Q0)).code == 0
    assert kit.ask(41, body=request("b", Q0, Q1)).body == encode_locked([Q0, Q1])


def test_a_lock_is_held_for_a_minute() -> None:
    kit = ConsumerKit()
    kit.ask(41, body=request("a", Q0))
    kit.clock.advance(60_000)
    assert kit.ask(41, body=request("b", Q0)).body == encode_locked([])
    kit.clock.advance(1)
    assert kit.ask(41, body=request("b", Q0)).body == encode_locked([Q0])


def test_captured_requests_get_the_captured_answers() -> None:
    answers = [bytes(one.body) for one in captured("LOCK_BATCH_MQ", "response")]
    for command in captured("LOCK_BATCH_MQ", "request"):
        answer = ConsumerKit().ask(41, command.ext_fields, bytes(command.body))
        assert answer.code == 0
        assert answer.body in answers
    for command in captured("UNLOCK_BATCH_MQ", "request"):
        assert ConsumerKit().ask(42, command.ext_fields, bytes(command.body)).code == 0


def test_a_request_that_is_none_is_refused() -> None:
    kit = ConsumerKit()
    assert kit.ask(41, body=b"{}").code == 1
    assert kit.ask(42).code == 1
