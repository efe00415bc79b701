from dataclasses import replace

import pytest

from aerobee.errors import LocalProtocolError, PropertiesTooLong, RemoteProtocolError
from aerobee.model.flags import CompressionType, with_compression_type
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.properties import encode_properties
from aerobee.protocol.message.compression import compress
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.stored_message import (
    client_messages,
    decode_record,
    decode_records,
    encode_record,
    expanded,
    fill_draft,
    split_batch,
)

MESSAGE = StoredMessage(
    topic="TopicTest",
    queue_id=QueueId(3),
    queue_offset=QueueOffset(7),
    log_offset=LogOffset(4096),
    body=b"Hello RocketMQ",
    properties={"TAGS": "TagA", "WAIT": "true"},
    born_timestamp=1_700_000_000_000,
    born_host=Host("127.0.0.1", 50000),
    store_timestamp=1_700_000_000_123,
    store_host=Host("192.168.1.10", 10911),
    flag=-5,
    sys_flag=0x8,
    reconsume_times=2,
    prepared_offset=LogOffset(2048),
)
V6 = Host("2001:db8::1", 10911)
BATCH = [BatchMessage(b"one", {"KEYS": "k1"}, flag=1), BatchMessage(b"two", {"KEYS": "k2"}, flag=2)]
INNER_BATCH = replace(
    MESSAGE,
    sys_flag=0xC0,
    body=encode_batch(BATCH),
    properties={"INNER_NUM": "2", "INNER_BASE": "7"},
)


def as_stored(message: StoredMessage, record: bytes) -> StoredMessage:
    """The message with what only its record can tell."""
    return replace(message, store_size=len(record), body_crc=int.from_bytes(record[8:12], "big"))


@pytest.mark.parametrize("with_crc", [False, True])
@pytest.mark.parametrize("topic", ["", "t", "t" * 127, "t" * 128, "t" * 255, "订单"])
def test_a_message_comes_back_out_of_its_record(topic: str, with_crc: bool) -> None:
    message = replace(MESSAGE, topic=topic)
    record = encode_record(message, with_crc=with_crc)
    assert decode_record(record) == as_stored(message, record)


@pytest.mark.parametrize(
    ("born", "store", "flag"),
    [
        (MESSAGE.born_host, MESSAGE.store_host, 0x00),
        (V6, MESSAGE.store_host, 0x10),
        (MESSAGE.born_host, V6, 0x20),
        (V6, V6, 0x30),
    ],
)
def test_hosts_of_either_family_are_marked_in_the_flag(born: Host, store: Host, flag: int) -> None:
    message = replace(MESSAGE, born_host=born, store_host=store)
    record = encode_record(message)
    assert len(record) == 134 + 12 * flag.bit_count()
    assert decode_record(record) == as_stored(replace(message, sys_flag=0x8 | flag), record)


def test_a_topic_over_127_bytes_makes_a_record_of_version_2() -> None:
    assert encode_record(replace(MESSAGE, topic="t" * 127))[4:8].hex() == "daa320a7"
    assert encode_record(replace(MESSAGE, topic="t" * 128))[4:8].hex() == "daa320ab"


def test_the_record_crc_takes_20_bytes_and_is_no_property_of_the_message() -> None:
    plain = encode_record(MESSAGE)
    summed = encode_record(MESSAGE, with_crc=True)
    assert len(summed) == len(plain) + 20
    assert summed[-20:-11] == b"__CRC32#\x01"
    assert decode_record(summed).properties == MESSAGE.properties
    assert (
        decode_record(encode_record(replace(MESSAGE, properties={}), with_crc=True)).properties
        == {}
    )


def test_every_flipped_bit_of_a_record_with_crc_is_noticed() -> None:
    record = encode_record(MESSAGE, with_crc=True)
    for position in range(len(record) * 8):
        flipped = bytearray(record)
        flipped[position // 8] ^= 1 << position % 8
        try:
            found = decode_record(bytes(flipped))
        except RemoteProtocolError:
            continue
        # Flips in the mark itself, or in the separator that makes it a property of its own, turn
        # it into an ordinary property: the body CRC is left. (A store knows from which offset on
        # every record must have one.)
        assert position // 8 >= len(record) - 21, f"bit {position} was not noticed"
        assert found.body == MESSAGE.body


def test_a_flipped_bit_in_the_body_is_noticed_without_the_record_crc() -> None:
    record = bytearray(encode_record(MESSAGE))
    record[90] ^= 0x10
    with pytest.raises(RemoteProtocolError, match="checksum"):
        decode_record(bytes(record))


def test_a_property_that_only_resembles_the_record_crc_stays_a_property() -> None:
    for name, value in (("__CRC32#", "12345"), ("__CRC32", "1234567890")):
        message = replace(MESSAGE, properties={name: value})
        assert decode_record(encode_record(message)).properties == {name: value}


def test_a_record_cut_at_any_byte_is_refused() -> None:
    record = encode_record(MESSAGE)
    for size in range(len(record)):
        with pytest.raises(RemoteProtocolError):
            decode_record(record[:size])


@pytest.mark.parametrize(
    ("position", "forged"),
    [
        (0, "7fffffff"),
        (0, "00000000"),
        (0, "80000000"),
        (4, "cbd43194"),  # the filler that ends a file
        (4, "daa320a8"),
        (84, "ffffffff"),  # body size
        (84, "7fffffff"),
        (102, "7f"),  # topic size
        (112, "ffff"),  # properties size
        (112, "0013"),
    ],
)
def test_sizes_and_magics_that_lie_are_refused(position: int, forged: str) -> None:
    record = bytearray(encode_record(MESSAGE))
    record[position : position + len(forged) // 2] = bytes.fromhex(forged)
    with pytest.raises(RemoteProtocolError):
        decode_record(bytes(record))


def test_a_topic_that_is_no_utf8_is_refused() -> None:
    record = encode_record(MESSAGE).replace(b"TopicTest", b"Topic\xff\xff\xff\xff")
    with pytest.raises(RemoteProtocolError, match="no UTF-8"):
        decode_record(record)


@pytest.mark.parametrize("position", [-1, 1, 134, 10**9])
def test_a_position_where_no_record_begins_is_refused(position: int) -> None:
    with pytest.raises(RemoteProtocolError):
        decode_record(encode_record(MESSAGE), position)


def test_a_pull_body_is_records_from_end_to_end() -> None:
    records = [encode_record(replace(MESSAGE, queue_offset=QueueOffset(n))) for n in range(4)]
    body = b"".join(records)
    found = decode_records(body)
    assert [message.queue_offset for message in found] == [0, 1, 2, 3]
    assert decode_record(body, 2 * len(records[0])) == found[2]
    assert decode_records(b"") == []
    with pytest.raises(RemoteProtocolError, match=f"at byte {len(body)}"):
        decode_records(body + b"\x00" * 8)


@pytest.mark.parametrize("kind", list(CompressionType))
def test_a_client_sees_bodies_as_they_were_sent(kind: CompressionType) -> None:
    body = b"slot commit tag " * 600
    stored = replace(MESSAGE, body=compress(body, kind), sys_flag=with_compression_type(0x8, kind))
    (message,) = client_messages(encode_record(stored))
    assert message.body == body
    # Java's 5.5.0 client leaves the type bits as well.
    assert message.sys_flag == 0x8 | kind
    assert decode_record(encode_record(stored)).body == stored.body


def test_a_bomb_in_a_pull_body_is_refused() -> None:
    body = compress(bytes(10_000), CompressionType.ZLIB)
    stored = replace(MESSAGE, body=body, sys_flag=0x301)
    assert len(client_messages(encode_record(stored), body_bytes_max=10_000)[0].body) == 10_000
    with pytest.raises(RemoteProtocolError, match="more than 9999 bytes"):
        client_messages(encode_record(stored), body_bytes_max=9_999)


def test_an_uncompressed_message_is_not_copied_to_be_expanded() -> None:
    assert expanded(MESSAGE) is MESSAGE


def test_an_inner_batch_is_taken_apart_with_consecutive_queue_offsets() -> None:
    messages = client_messages(encode_record(MESSAGE) + encode_record(INNER_BATCH))
    assert [message.queue_offset for message in messages] == [7, 7, 8]
    assert [message.body for message in messages[1:]] == [b"one", b"two"]
    assert [message.properties for message in messages[1:]] == [{"KEYS": "k1"}, {"KEYS": "k2"}]
    assert [message.flag for message in messages[1:]] == [1, 2]
    assert messages[2].log_offset == INNER_BATCH.log_offset
    assert messages[2].store_size == messages[2].body_crc == 0


def test_a_compressed_inner_batch_is_expanded_first() -> None:
    packed = replace(
        INNER_BATCH,
        body=compress(INNER_BATCH.body, CompressionType.ZLIB),
        sys_flag=with_compression_type(0xC0, CompressionType.ZLIB),
    )
    assert [message.body for message in client_messages(encode_record(packed))] == [b"one", b"two"]


def test_an_inner_batch_that_miscounts_itself_is_refused() -> None:
    with pytest.raises(RemoteProtocolError, match="2 messages claims 3"):
        split_batch(replace(INNER_BATCH, properties={"INNER_NUM": "3"}))
    assert len(split_batch(replace(INNER_BATCH, properties={}))) == 2


def test_a_record_with_one_of_the_two_batch_flags_is_one_message() -> None:
    lone = replace(INNER_BATCH, sys_flag=0x80)
    assert len(client_messages(encode_record(lone))) == 1


@pytest.mark.parametrize(
    "message",
    [
        replace(MESSAGE, topic="t" * 256),
        replace(MESSAGE, queue_id=QueueId(2**31)),
        replace(MESSAGE, flag=-(2**31) - 1),
        replace(MESSAGE, log_offset=LogOffset(2**63)),
        replace(MESSAGE, born_timestamp=-(2**63) - 1),
        replace(MESSAGE, born_host=Host("localhost", 1)),
        replace(MESSAGE, store_host=Host("127.0.0.1", 2**31)),
        replace(MESSAGE, properties={"a": ""}),
    ],
)
def test_a_message_that_no_record_has_room_for_is_refused(message: StoredMessage) -> None:
    with pytest.raises(LocalProtocolError):
        encode_record(message)


def test_properties_that_fit_but_not_with_more_are_too_long() -> None:
    message = replace(MESSAGE, properties={"n": "v" * 32_757})
    draft = MessageDraft()
    fill_draft(draft, message, b"m\x01more\x02")
    assert draft.properties_size == 32_767
    with pytest.raises(PropertiesTooLong):
        fill_draft(draft, message, b"m\x01more!\x02")


def test_properties_must_leave_room_for_the_record_crc() -> None:
    properties = {"n": "v" * (32767 - 3 - 20)}
    assert len(encode_properties(properties)) == 32747
    encode_record(replace(MESSAGE, properties=properties), with_crc=True)
    properties["n"] += "v"
    encode_record(replace(MESSAGE, properties=properties))
    with pytest.raises(LocalProtocolError, match="properties"):
        encode_record(replace(MESSAGE, properties=properties), with_crc=True)
