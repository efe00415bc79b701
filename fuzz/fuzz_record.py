"""Any bytes are records or RemoteProtocolError, the same compiled and interpreted.

The bytes are tried as they are, and again as one record with the size, magic and checksums that
random bytes would never have. What was decoded is encoded to a record that decodes to the same.
"""

import struct
import zlib

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.protocol.message import record as fast
from aerobee.protocol.message import record_check as fast_check
from aerobee.protocol.message.stored_message import client_messages, decode_record, encode_record
from tests.pure import pure

_slow = pure("aerobee.protocol.message.record")
_slow_check = pure("aerobee.protocol.message.record_check")
_FIELDS = _slow.Record.__slots__


def check(data: bytes) -> None:
    """Any bytes are records or RemoteProtocolError, the same compiled and interpreted."""
    for body in (data, _sealed(data, with_crc=False), _sealed(data, with_crc=True)):
        _check_both_faces(body)
        try:
            client_messages(body, body_bytes_max=65536)
        except RemoteProtocolError:
            continue
        if body:
            _check_round_trip(body)


def _check_both_faces(body: bytes) -> None:
    view = memoryview(body)
    compiled = fast.Record()
    interpreted = _slow.Record()
    found = compiled.read_from(view, 0)
    assert found == interpreted.read_from(view, 0)
    if found == fast.WHOLE:
        for name in _FIELDS:
            assert getattr(compiled, name) == getattr(interpreted, name), name
        for needs_crc in (False, True):
            is_sound = compiled.is_sound_in(view, needs_crc)
            assert is_sound == interpreted.is_sound_in(view, needs_crc)
    _check_in_log(view, compiled.log_offset if found == fast.WHOLE else 0)


def _check_in_log(view: memoryview, base: int) -> None:
    """The bytes as a piece of a log: what is at its begin, and where the next record is."""
    quick = fast_check.RecordCheck()
    steady = _slow_check.RecordCheck()
    # No file ends so far up: C counts log offsets in 64 bits.
    base = max(0, min(base, 2**62))
    for end_offset in (base + len(view), base + len(view) // 2, base + 2 * len(view)):
        for needs_crc in (False, True):
            place = (base, end_offset, needs_crc)
            assert quick.judge_in(view, 0, *place) == steady.judge_in(view, 0, *place)
            at = quick.find_next_in(view, 0, *place)
            assert at == steady.find_next_in(view, 0, *place)
            assert at < 0 or quick.finding == steady.finding


def _check_round_trip(body: bytes) -> None:
    message = decode_record(body)
    try:
        again = decode_record(encode_record(message, with_crc=True))
    except LocalProtocolError:
        return  # a value with a separator in it, a topic over 255 bytes, no room for the CRC
    assert again.properties == message.properties
    assert again.body == message.body
    assert (again.topic, again.queue_offset) == (message.topic, message.queue_offset)


def _sealed(data: bytes, *, with_crc: bool) -> bytes:
    """The bytes as one record: its size, magic and body CRC right, its record CRC if asked for."""
    record = bytearray(data.ljust(91, b"\0"))
    tail = b"__CRC32#\x01" + bytes(10) + b"\x02" if with_crc else b""
    struct.pack_into(">i", record, 0, len(record) + len(tail))
    struct.pack_into(">I", record, 4, 0xDAA320AB if record[4] & 1 else 0xDAA320A7)
    flag = record[39]
    body_at = 72 + (20 if flag & 0x10 else 8) + (20 if flag & 0x20 else 8)
    room = len(record) - body_at - 4
    if room < 0:
        return bytes(record)
    # Sizes in reach of the bytes that there are: most random ones are not.
    body_size = int.from_bytes(record[body_at - 2 : body_at], "big") % (room + 1)
    struct.pack_into(">i", record, body_at - 4, body_size)
    checksum = zlib.crc32(record[body_at : body_at + body_size]) & 0x7FFFFFFF
    struct.pack_into(">I", record, 8, checksum)
    is_long = record[4:8] == b"\xda\xa3\x20\xab"
    topic_at = body_at + body_size + (2 if is_long else 1)
    left = len(record) - topic_at - 2
    if left >= 0:
        topic_size = record[topic_at - 1] % (min(left, 127) + 1)
        record[body_at + body_size] = 0
        record[topic_at - 1] = topic_size
        text_at = topic_at + topic_size + 2
        struct.pack_into(">h", record, text_at - 2, (len(record) - text_at + len(tail)) % 32768)
    if with_crc:
        digits = f"{zlib.crc32(record) & 0x7FFFFFFF:010d}"[::-1].encode()
        tail = b"__CRC32#\x01" + digits + b"\x02"
    return bytes(record) + tail
