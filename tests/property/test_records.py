"""Records in every variant: version, address families, with and without the record CRC."""

import ipaddress
import struct
import zlib
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aerobee.errors import RemoteProtocolError
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import QueueOffset
from aerobee.model.properties import encode_properties
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.stored_message import (
    client_messages,
    decode_record,
    decode_records,
    encode_record,
)
from tests.property.test_batches import batches
from tests.property.test_properties import words

int32 = st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
hosts = st.builds(Host, st.ip_addresses().map(str), st.integers(0, 65535))
topics = st.one_of(
    st.from_regex(r"[%|a-zA-Z0-9_-]{1,20}", fullmatch=True),
    # Around the length at which the version changes, and the longest.
    st.sampled_from([1, 126, 127, 128, 129, 255]).map(lambda size: "t" * size),
)
messages = st.builds(
    StoredMessage,
    topic=topics,
    queue_id=int32,
    queue_offset=int64,
    log_offset=int64,
    body=st.binary(max_size=200),
    properties=st.dictionaries(words, words, max_size=4),
    born_timestamp=int64,
    born_host=hosts,
    store_timestamp=int64,
    store_host=hosts,
    flag=int32,
    # Neither address families nor inner batches: the first are set by the writer.
    sys_flag=int32.map(lambda flag: flag & ~0xF1),
    reconsume_times=int32,
    prepared_offset=int64,
)


def drawn_by_hand(message: StoredMessage, *, with_crc: bool) -> bytes:
    """The record field by field, from the table of the format and from nothing else."""
    born = ipaddress.ip_address(message.born_host.address).packed
    store = ipaddress.ip_address(message.store_host.address).packed
    flag = message.sys_flag | (0x10 if len(born) == 16 else 0) | (0x20 if len(store) == 16 else 0)
    topic = message.topic.encode()
    is_long = len(topic) > 127
    text = encode_properties(message.properties)
    text_size = len(text) + (20 if with_crc else 0)
    parts = [
        struct.pack(">I", 0xDAA320AB if is_long else 0xDAA320A7),
        struct.pack(">I", zlib.crc32(message.body) & 0x7FFFFFFF),
        struct.pack(">ii", message.queue_id, message.flag),
        struct.pack(">qq", message.queue_offset, message.log_offset),
        struct.pack(">iq", flag, message.born_timestamp),
        born + struct.pack(">i", message.born_host.port),
        struct.pack(">q", message.store_timestamp),
        store + struct.pack(">i", message.store_host.port),
        struct.pack(">iq", message.reconsume_times, message.prepared_offset),
        struct.pack(">i", len(message.body)) + message.body,
        struct.pack(">h" if is_long else ">b", len(topic)) + topic,
        struct.pack(">h", text_size) + text,
    ]
    rest = b"".join(parts)
    record = struct.pack(">i", 4 + len(rest) + text_size - len(text)) + rest
    if with_crc:
        digits = f"{zlib.crc32(record) & 0x7FFFFFFF:010d}"
        record += b"__CRC32#\x01" + digits[::-1].encode() + b"\x02"
    return record


@given(messages, st.booleans())
def test_a_record_is_the_one_that_the_table_gives(message: StoredMessage, with_crc: bool) -> None:
    assert encode_record(message, with_crc=with_crc) == drawn_by_hand(message, with_crc=with_crc)


@given(messages, st.booleans())
def test_a_message_comes_back_out_of_its_record(message: StoredMessage, with_crc: bool) -> None:
    record = encode_record(message, with_crc=with_crc)
    found = decode_record(record)
    assert found.store_size == len(record)
    assert found.sys_flag & ~0x30 == message.sys_flag
    assert replace(found, sys_flag=message.sys_flag, store_size=0, body_crc=0) == message
    assert encode_record(found, with_crc=with_crc) == record


@given(st.lists(messages, max_size=4), st.booleans())
def test_records_in_a_row_are_taken_apart(row: list[StoredMessage], with_crc: bool) -> None:
    body = b"".join(encode_record(message, with_crc=with_crc) for message in row)
    found = decode_records(body)
    assert [message.body for message in found] == [message.body for message in row]
    assert sum(message.store_size for message in found) == len(body)


@given(messages, batches)
def test_an_inner_batch_gives_its_messages_in_order(
    message: StoredMessage, batch: list[BatchMessage]
) -> None:
    stored = replace(
        message,
        sys_flag=0xC0,
        queue_offset=QueueOffset(message.queue_offset >> 1),  # room for the offsets that follow
        body=encode_batch(batch),
        properties={"INNER_NUM": str(len(batch))},
    )
    found = client_messages(encode_record(stored))
    assert [(one.body, one.properties, one.flag) for one in found] == [
        (entry.body, entry.properties, entry.flag) for entry in batch
    ]
    assert [one.queue_offset - stored.queue_offset for one in found] == list(range(len(batch)))


@given(messages, st.data())
def test_a_changed_byte_of_a_record_with_crc_is_noticed(
    message: StoredMessage, data: st.DataObject
) -> None:
    record = bytearray(encode_record(message, with_crc=True))
    # The last 20 bytes are the CRC itself: its name may turn into that of another property.
    position = data.draw(st.integers(0, len(record) - 21))
    record[position] ^= data.draw(st.integers(1, 255))
    try:
        decode_record(bytes(record))
    except RemoteProtocolError:
        return
    raise AssertionError(f"byte {position} was changed and nobody noticed")


@given(st.binary(max_size=200), st.sampled_from([b"\xda\xa3\x20\xa7", b"\xda\xa3\x20\xab", b""]))
def test_any_bytes_are_a_record_or_refused(data: bytes, magic: bytes) -> None:
    forged = len(data).to_bytes(4, "big") + magic + data[8:]
    for body in (data, forged):
        try:
            client_messages(body)
        except RemoteProtocolError:
            continue
