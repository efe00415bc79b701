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


def test_names_that_have_to_be_escaped_and_members_in_another_order_are_read_alike() -> None:
    odd = BatchAckEntry('g"\\', "Tü", "2", 0, 0, 0, 0, 0, (4095,))
    batch = BatchAck("b\n", (ENTRY, odd, ENTRY))
    assert decode_batch_ack(encode_batch_ack(batch)) == batch
    turned = BODY.replace(b'"q":2,"r":"0"', b'"r":"0", "q":2')
    assert decode_batch_ack(turned) == decode_batch_ack(BODY)


@pytest.mark.parametrize(
    ("short", "wrong"),
    [
        (b'"q":2', b'"q":2147483648'),
        (b'"so":100', b'"so":9223372036854775808'),
        (b'"rq":3', b'"rq":3.5'),
        (b'"b":"BQI="', b'"b":"B"'),
        (b'"b":"BQI="', b'"b":"' + b"////" * 200 + b'"'),
        (b'"c":"g"', b'"c":"\xff"'),
        (b'"broker-a"}', b'"broker-a"}}'),
        (b'"broker-a"}', b'"broker-a"'),
        (b'}],"br', b'},],"br'),
        (b'}],"br', b'}]]"br'),
    ],
)
def test_what_is_nearly_right_is_refused(short: bytes, wrong: bytes) -> None:
    assert short in BODY
    with pytest.raises(ProtocolError):
        decode_batch_ack(BODY.replace(short, wrong))


def test_a_batch_as_clients_write_it_needs_no_parser() -> None:
    assert batch_ack._as_written(BODY) == batch_ack._as_said(BODY)
    assert batch_ack._as_written(BODY.replace(b"BQI=", b"")) == batch_ack._as_said(
        BODY.replace(b"BQI=", b"")
    )
    assert batch_ack._as_written(b'{"acks":[],"brokerName":"b"}') is None


def test_more_entries_than_are_taken_are_refused() -> None:
    entries = (ENTRY,) * (batch_ack.ENTRIES_MAX + 1)
    with pytest.raises(ProtocolError, match="at most 10000"):
        decode_batch_ack(encode_batch_ack(BatchAck("b", entries)))


@pytest.mark.parametrize("body", [b"", b"[]", b'{"acks":[7]}', BODY.replace(b'"so":100,', b"")])
def test_a_body_that_says_something_else_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_batch_ack(body)
