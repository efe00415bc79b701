"""`MarkedBatch` reads a batch body whose messages carry producer marks, without an object per
message.

    … 0x02  __DEDUP 0x01 epoch:sequence:place:producer 0x02     the end of the first properties text
    … 0x02  __DEDUP 0x01 +1 0x02                                of the second, and so on

The mark is the last property of each message. A batch in any other form is left to `message_batch`
and `producer_mark`, which make several objects per message.
"""

from typing import TYPE_CHECKING

from aerobee.errors import RemoteProtocolError
from aerobee.model.properties import PRODUCER_MARK
from aerobee.protocol.message.batch_cursor import BatchCursor
from aerobee.protocol.message.producer_mark import NUMBER_MAX, decode_mark, encode_follower

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        address,
        bytes_address,
        bytes_at,
        same_bytes,
    )
    from aerobee.protocol.primitives.digits import put_decimal

COUNT_MAX = 32767  # what a batch may hold
_NAME = f"{PRODUCER_MARK}\x01".encode()
_HEAD = _NAME + encode_follower(0)[:-1].encode()
# C twins of the numbers the hot code compares with.
_END = 2  # the byte after each property
_COUNT_MAX = COUNT_MAX
_HEAD_SIZE = len(_HEAD)
_NUMBER_MAX = NUMBER_MAX


def is_compiled() -> bool:
    return cython.compiled


class MarkedBatch:
    """M1. After `read` gave a count, `text` is the first message's mark; the others follow it."""

    __slots__ = ("_cursor", "_expected", "_expected_view", "text")

    def __init__(self) -> None:
        self._cursor = BatchCursor()
        self._expected_view = memoryview(bytearray(_HEAD) + bytes(32))
        self._expected = address(self._expected_view)
        self.text = ""

    def read(self, body: bytes) -> int:
        """The number of messages; 0: it is no such batch, use the general path."""
        memory = bytes_address(body)
        end = len(body)
        cursor = self._cursor
        cursor.rewind()
        if cursor.advance(memory, end) != 1:
            return 0
        start = cursor.properties_start
        text = _last_mark(bytes_at(memory, start, cursor.properties_size))
        if text is None:
            return 0
        if decode_mark(text).sequence > _NUMBER_MAX - _COUNT_MAX:
            return 0
        expected = self._expected
        count = 1
        while True:
            found = cursor.advance(memory, end)
            if found == 0:
                self.text = text
                return count
            if found != 1 or count >= _COUNT_MAX:
                return 0
            size = put_decimal(expected, _HEAD_SIZE, count)
            expected[size] = _END
            size += 1
            at = cursor.properties_start + cursor.properties_size - size
            if at < cursor.properties_start:
                return 0
            if at > cursor.properties_start and memory[at - 1] != _END:
                return 0
            if not same_bytes(memory, at, expected, 0, size):
                return 0
            count += 1


def _last_mark(properties: bytes) -> str | None:
    """The mark that a properties text ends with, if it does."""
    at = properties.rfind(_NAME)
    if at < 0 or properties[-1:] != b"\x02" or (at > 0 and properties[at - 1] != _END):
        return None
    text = properties[at + len(_NAME) : -1].decode("ascii", "replace")
    try:
        decode_mark(text)
    except RemoteProtocolError:
        return None
    return text
