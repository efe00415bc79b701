import pytest

from aerobee.errors import ProtocolError
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.locks import (
    QUEUES_MAX,
    LockRequest,
    decode_lock_request,
    encode_lock_request,
    encode_locked,
)
from tests.captured import captured

QUEUE = b'{"brokerName":"b","queueId":1,"topic":"T"}'


def test_a_captured_request_is_read_and_its_answer_written_byte_for_byte() -> None:
    requests = captured("LOCK_BATCH_MQ", "request")
    answers = captured("LOCK_BATCH_MQ", "response")
    granted = {bytes(answer.body) for answer in answers}
    for command in requests:
        wanted = decode_lock_request(bytes(command.body))
        assert wanted.client_id.startswith("127.0.0.1@")
        assert encode_locked(wanted.queues) in granted
        if command.version >= 500:
            assert encode_lock_request(wanted) == bytes(command.body)


def test_unlocking_is_asked_for_in_the_same_words() -> None:
    for command in captured("UNLOCK_BATCH_MQ", "request"):
        assert len(decode_lock_request(bytes(command.body)).queues) == 2


def test_a_request_says_who_wants_which_queues() -> None:
    body = b'{"clientId":"c","consumerGroup":"g","mqSet":[' + QUEUE + b"]}"
    queue = MessageQueue("T", "b", QueueId(1))
    assert decode_lock_request(body) == LockRequest("c", "g", (queue,))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b'{"clientId":"","consumerGroup":"g"}',
        b'{"clientId":"c","consumerGroup":""}',
        b'{"clientId":"' + 256 * b"c" + b'","consumerGroup":"g"}',
        b'{"clientId":"c","consumerGroup":"' + 256 * b"g" + b'"}',
        b'{"clientId":"c","consumerGroup":"g","mqSet":[1]}',
        b'{"clientId":"c","consumerGroup":"g","mqSet":['
        + b",".join((QUEUES_MAX + 1) * [QUEUE])
        + b"]}",
    ],
)
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_lock_request(body)
