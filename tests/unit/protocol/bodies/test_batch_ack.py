import pytest

from aerobee.errors import ProtocolError
from aerobee.protocol.bodies import batch_ack
from aerobee.protocol.bodies.batch_ack import (
    BatchAck,
    BatchAckEntry,
    decode_batch_ack,
    encode_batch_ack,
    offsets_of,
)

ENTRY = BatchAckEntry("g", "T", "0", 100, 2, 3, 1_700_000_000_000, 10_000, (0, 2, 9))
BODY = (
    b'{"acks":[{"b":"BQI=","c":"g","it":10000,"pt":1700000000000,"q":2,"r":"0","rq":3,"so":100,'
    b'"t":"T"}],"brokerName":"broker-a"}'
)


def test_a_batch_is_read_and_written() -> None:
    assert decode_batch_ack(BODY) == BatchAck("broker-a", (ENTRY,))
    assert encode_batch_ack(BatchAck("broker-a", (ENTRY,))) == BODY


def test_bits_are_distances_from_the_start() -> None:
    assert offsets_of(ENTRY) == [100, 102, 109]


def test_the_long_names_of_members_are_taken_too() -> None:
    long = (
        b'{"acks":[{"bitSet":"BQI=","consumerGroup":"g","invisibleTime":10000,'
        b'"popTime":1700000000000,"queueId":2,"retry":"0","reviveQueueId":3,"startOffset":100,'
        b'"topic":"T"}],"brokerName":"broker-a"}'
    )
    assert decode_batch_ack(long) == decode_batch_ack(BODY)


def test_more_entries_than_are_taken_are_refused() -> None:
    entries = (ENTRY,) * (batch_ack.ENTRIES_MAX + 1)
    with pytest.raises(ProtocolError, match="at most 10000"):
        decode_batch_ack(encode_batch_ack(BatchAck("b", entries)))


@pytest.mark.parametrize("body", [b"", b"[]", b'{"acks":[7]}', BODY.replace(b'"so":100,', b"")])
def test_a_body_that_says_something_else_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_batch_ack(body)
