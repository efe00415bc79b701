"""Record bytes ⇄ StoredMessage, and the body of a pull answer → its messages.

The cold side of `record`, which owns the layout: one object per message here, for clients, tools
and tests; a broker hands out slices and never comes here.

Laws. Bytes that are no whole, sound record are refused with RemoteProtocolError, whatever they
are; so are the records before them in the same body, because an answer is right or wrong as a
whole. The record CRC is checked where there is one, else the body's, as recovery does. It is not
among the properties of the decoded message, and `encode_record` adds it on request.

A record with both inner-batch flags holds a batch body. Readers take it apart: message i has
queue offset + i, the batch entry's body, flag and properties, and everything else from the record.
"""

from dataclasses import replace
from functools import lru_cache

from aerobee.errors import LocalProtocolError, Misuse, PropertiesTooLong, RemoteProtocolError
from aerobee.model.flags import BORN_HOST_V6, COMPRESSED, is_inner_batch
from aerobee.model.message import Host, StoredMessage, unpack_host
from aerobee.model.message_id import pack_address
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.properties import (
    INNER_COUNT,
    PROPERTIES_BYTES_MAX,
    PROPERTY_END,
    decode_properties,
    encode_properties,
)
from aerobee.protocol.message.compression import EXPANDED_BYTES_MAX, decompress
from aerobee.protocol.message.message_batch import decode_batch
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import (
    CRC_PROPERTY_BYTES,
    FINDINGS,
    TOPIC_BYTES_MAX,
    WHOLE,
    Record,
    RecordWriter,
)

_CRC_MARK = b"__CRC32#\x01"
_BORN_HOST_AT = 48
_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)


def decode_record(data: bytes, position: int = 0) -> StoredMessage:
    """The message of the record that begins at `position`; `store_size` says where it ends."""
    return _decode(memoryview(data), position, Record())


def decode_records(data: bytes) -> list[StoredMessage]:
    """Every message of bytes that are records from end to end, as they are stored."""
    view = memoryview(data)
    record = Record()
    messages = []
    position = 0
    while position < len(view):
        messages.append(_decode(view, position, record))
        position += record.size
    return messages


def client_messages(
    data: bytes, *, body_bytes_max: int = EXPANDED_BYTES_MAX
) -> list[StoredMessage]:
    """The messages of a pull answer as an application sees them: expanded, batches taken apart."""
    messages = []
    for stored in decode_records(data):
        message = expanded(stored, body_bytes_max=body_bytes_max)
        if is_inner_batch(message.sys_flag):
            messages += split_batch(message)
        else:
            messages.append(message)
    return messages


def expanded(message: StoredMessage, *, body_bytes_max: int = EXPANDED_BYTES_MAX) -> StoredMessage:
    """The message with its body as it was sent. The flag keeps the type, as in Java's client."""
    if not message.sys_flag & COMPRESSED:
        return message
    body = decompress(message.body, message.sys_flag, bytes_max=body_bytes_max)
    return replace(message, body=body, sys_flag=message.sys_flag & ~COMPRESSED)


def split_batch(message: StoredMessage) -> list[StoredMessage]:
    """The messages inside an inner batch whose body is expanded."""
    entries = decode_batch(message.body)
    claimed = message.properties.get(INNER_COUNT)
    # A wrong count would give later messages of the queue the offsets of these.
    if claimed is not None and claimed != str(len(entries)):
        raise RemoteProtocolError(f"an inner batch of {len(entries)} messages claims {claimed}")
    return [
        replace(
            message,
            queue_offset=QueueOffset(message.queue_offset + index),
            body=entry.body,
            properties=entry.properties,
            flag=entry.flag,
            store_size=0,
            body_crc=0,
        )
        for index, entry in enumerate(entries)
    ]


def encode_record(message: StoredMessage, *, with_crc: bool = False) -> bytes:
    """The record; its size and body CRC are computed, not taken from the message."""
    draft = MessageDraft()
    fill_draft(draft, message)
    for number in (message.queue_offset, message.log_offset, message.store_timestamp):
        if number not in _INT64:
            raise LocalProtocolError(f"{number} does not fit into 64 bits")
    writer = RecordWriter(_pack_host(message.store_host), with_crc)
    try:
        return writer.encode(
            draft, message.queue_offset, message.log_offset, message.store_timestamp
        )
    except Misuse as error:
        raise LocalProtocolError(error.message) from None


def fill_draft(draft: MessageDraft, message: StoredMessage, more: bytes = b"") -> None:
    """Have a draft say what a message says, to be stored again; the places it had are forgotten.
    `more` is properties text, which goes before what the message says under the same names."""
    draft.topic = message.topic.encode()
    if len(draft.topic) > TOPIC_BYTES_MAX:
        raise LocalProtocolError(f"a topic of {len(draft.topic)} bytes; {TOPIC_BYTES_MAX} fit")
    for number in (message.queue_id, message.flag, message.sys_flag, message.reconsume_times):
        if number not in _INT32:
            raise LocalProtocolError(f"{number} does not fit into 32 bits")
    for number in (message.born_timestamp, message.prepared_offset):
        if number not in _INT64:
            raise LocalProtocolError(f"{number} does not fit into 64 bits")
    draft.queue_id = message.queue_id
    draft.flag = message.flag
    draft.sys_flag = message.sys_flag
    draft.born_timestamp = message.born_timestamp
    draft.born_host = _pack_host(message.born_host)
    draft.reconsume_times = message.reconsume_times
    draft.prepared_offset = message.prepared_offset
    draft.set_body(memoryview(message.body))
    text = encode_properties(message.properties) + more
    if len(text) > PROPERTIES_BYTES_MAX:
        raise PropertiesTooLong(f"{len(text)} bytes of properties do not fit")
    draft.set_properties(text)
    draft.is_batch = False


def copy_to_draft(draft: MessageDraft, record: Record, view: memoryview, text: bytes) -> None:
    """Have a draft say what a record says but for topic and queue, with this properties text.
    `view` begins with the record, and the draft holds it."""
    sys_flag = record.sys_flag
    draft.flag = record.flag
    draft.sys_flag = sys_flag
    draft.born_timestamp = record.born_timestamp
    born_end = _BORN_HOST_AT + (20 if sys_flag & BORN_HOST_V6 else 8)
    draft.born_host = bytes(view[_BORN_HOST_AT:born_end])
    draft.reconsume_times = record.reconsume_times
    draft.set_body(view[record.body_start : record.body_start + record.body_size])
    draft.set_properties(text)


def _decode(view: memoryview, position: int, record: Record) -> StoredMessage:
    found = record.read_from(view, position)
    if found != WHOLE:
        raise RemoteProtocolError(f"{FINDINGS[found]} at byte {position}")
    if not record.is_sound_in(view, False):
        raise RemoteProtocolError(f"a record whose checksum is wrong at byte {position}")
    sys_flag = record.sys_flag
    born_end = record.position + _BORN_HOST_AT + (20 if sys_flag & 0x10 else 8)
    store_end = born_end + 8 + (20 if sys_flag & 0x20 else 8)
    try:
        topic = str(_part(view, record.topic_start, record.topic_size), "utf-8")
    except UnicodeDecodeError:
        raise RemoteProtocolError(f"a topic that is no UTF-8 at byte {position}") from None
    return StoredMessage(
        topic=topic,
        queue_id=QueueId(record.queue_id),
        queue_offset=QueueOffset(record.queue_offset),
        log_offset=LogOffset(record.log_offset),
        body=_part(view, record.body_start, record.body_size),
        properties=decode_properties(
            without_crc(_part(view, record.properties_start, record.properties_size))
        ),
        born_timestamp=record.born_timestamp,
        born_host=unpack_host(bytes(view[record.position + _BORN_HOST_AT : born_end])),
        store_timestamp=record.store_timestamp,
        store_host=unpack_host(bytes(view[born_end + 8 : store_end])),
        flag=record.flag,
        sys_flag=sys_flag,
        reconsume_times=record.reconsume_times,
        prepared_offset=LogOffset(record.prepared_offset),
        store_size=record.size,
        body_crc=record.body_crc,
    )


def _part(view: memoryview, start: int, size: int) -> bytes:
    return bytes(view[start : start + size])


def without_crc(text: bytes) -> bytes:
    """The properties text before the record CRC, if it ends in one."""
    tail = len(text) - CRC_PROPERTY_BYTES
    has_crc = tail >= 0 and text.startswith(_CRC_MARK, tail) and text.endswith(PROPERTY_END)
    if has_crc and text[:tail][-1:] in (b"", PROPERTY_END):
        return text[:tail]
    return text


@lru_cache(maxsize=1024)  # a sender's host comes again and again
def _pack_host(host: Host) -> bytes:
    if host.port not in _INT32:
        raise LocalProtocolError(f"{host.port} is no port")
    return pack_address(host.address) + host.port.to_bytes(4, "big", signed=True)
