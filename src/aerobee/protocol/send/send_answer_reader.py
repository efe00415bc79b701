"""The answer to a send, read in place: ids, queue and offset without an object per field.

Reads binary headers of answers that confirm a stored message, with the fields that every broker
writes: msgId, queueId, queueOffset. For any other answer (a refusal, a recall handle, JSON, a field
missing or twice) `read` returns False, and the general codec reads the frame.

S1. When `read` returns True, the general codec accepts the frame and reads the same.
"""

from typing import TYPE_CHECKING

from aerobee.protocol.remoting.frame import FrameReader

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        bytes_address,
        bytes_at,
        load_i16,
        load_i32,
        same_bytes,
    )
    from aerobee.protocol.text.json_bytes import NO_NUMBER, is_utf8, parse_decimal

_KEY_BYTES_MAX = 128
_FIELDS_MAX = 16
_VALUE_BYTES_MAX = 32768


def is_compiled() -> bool:
    return cython.compiled


class SendAnswerReader:
    """One object is reused for every frame: its fields are of the frame that was read last."""

    __slots__ = ("_seen", "code", "ids", "queue_id", "queue_offset")

    def __init__(self) -> None:
        self.code = 0
        self.ids = b""
        """Offset ids, joined by commas."""
        self.queue_id = 0
        self.queue_offset = 0
        self._seen = 0

    def read(self, frames: FrameReader) -> bool:
        """Whether the current frame says that something is stored, in the usual way."""
        memory = frames.memory
        position = frames.header_start
        end = frames.header_end
        if frames.serialize_type != 1 or end - position < 21:
            return False
        self.code = load_i16(memory, position)
        # Stored: as promised, or the disk or a replica was not in time.
        if self.code != 0 and (self.code < 10 or self.code > 12):
            return False
        if load_i32(memory, position + 9) & 1 == 0 or load_i32(memory, position + 13) != 0:
            return False
        if load_i32(memory, position + 17) != end - position - 21:
            return False
        position += 21
        self._seen = 0
        for _ in range(_FIELDS_MAX):
            if position == end:
                return self._seen & 7 == 7
            position = self._read_field(memory, position, end)
            if position < 0:
                return False
        return False

    def _read_field(self, memory: memoryview, position: int, end: int) -> int:
        """Read one field; the position after it, or -1."""
        if end - position < 6:
            return -1
        size = load_i16(memory, position)
        start = position + 2
        if size < 0 or size > _KEY_BYTES_MAX or end - start - 4 < size:
            return -1
        value_start = start + size + 4
        value_size = load_i32(memory, value_start - 4)
        if value_size < 0 or value_size > _VALUE_BYTES_MAX or end - value_start < value_size:
            return -1
        value_end = value_start + value_size
        if size == 5 and same_bytes(memory, start, bytes_address(b"msgId"), 0, 5):
            return self._take_ids(memory, value_start, value_end)
        if size == 7 and same_bytes(memory, start, bytes_address(b"queueId"), 0, 7):
            return self._take_number(2, memory, value_start, value_end)
        if size == 11 and same_bytes(memory, start, bytes_address(b"queueOffset"), 0, 11):
            return self._take_number(4, memory, value_start, value_end)
        bit = _plain_field(memory, start, size)
        if bit == 0 or self._seen & bit != 0 or not is_utf8(memory, value_start, value_end):
            return -1
        self._seen |= bit
        return value_end

    def _take_ids(self, memory: memoryview, start: int, end: int) -> int:
        if self._seen & 1 != 0 or start == end or not is_utf8(memory, start, end):
            return -1
        self._seen |= 1
        self.ids = bytes_at(memory, start, end - start)
        return end

    def _take_number(self, bit: int, memory: memoryview, start: int, end: int) -> int:
        number = parse_decimal(memory, start, end)
        if self._seen & bit != 0 or number == NO_NUMBER:
            return -1
        self._seen |= bit
        if bit == 4:
            self.queue_offset = number
        elif -0x7FFFFFFF <= number <= 0x7FFFFFFF:
            self.queue_id = number
        else:
            return -1
        return end


def _plain_field(memory: memoryview, start: int, size: int) -> int:
    """The bit of a field that answers have and that changes nothing here; 0 for any other."""
    if size == 10 and same_bytes(memory, start, bytes_address(b"MSG_REGION"), 0, 10):
        return 8
    if size == 8 and same_bytes(memory, start, bytes_address(b"TRACE_ON"), 0, 8):
        return 16
    if size == 13 and same_bytes(memory, start, bytes_address(b"transactionId"), 0, 13):
        return 32
    if size == 11 and same_bytes(memory, start, bytes_address(b"batchUniqId"), 0, 11):
        return 64
    return 0
