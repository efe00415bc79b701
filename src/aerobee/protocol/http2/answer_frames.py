"""AnswerFrames: the frames of an answer of one message, the same bytes but for stream and sizes.

headers │ data: its frame header and the prefix of the message │ trailers
"""

from typing import TYPE_CHECKING

from aerobee.protocol.http2 import frames

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, bytes_at, copy_bytes, store_u32


def is_compiled() -> bool:
    return cython.compiled


class AnswerFrames:
    __slots__ = ("_data_at", "_end_at", "_head", "_head_view", "_size", "bytes_around")

    def __init__(self, headers: bytes, trailers: bytes) -> None:
        """The two header blocks."""
        ends = frames.END_HEADERS | frames.END_STREAM
        head = frames.frame(frames.HEADERS, frames.END_HEADERS, 0, headers)
        tail = frames.frame(frames.HEADERS, ends, 0, trailers)
        self._data_at = len(head)
        self._end_at = len(head) + 14
        self._head_view = memoryview(bytearray(head + bytes(14) + tail))
        self._head = address(self._head_view)
        self._size = len(self._head_view)
        self.bytes_around = self._size
        """What an answer has besides its message."""

    def before(self, stream: int, size: int) -> bytes:
        """What goes before a message of this size."""
        head = self._head
        store_u32(head, 5, stream)
        store_u32(head, self._data_at, (size + 5) << 8)
        store_u32(head, self._data_at + 5, stream)
        store_u32(head, self._data_at + 10, size)
        return bytes_at(head, 0, self._end_at)

    def behind(self, stream: int) -> bytes:
        store_u32(self._head, self._end_at + 5, stream)
        return bytes_at(self._head, self._end_at, self._size - self._end_at)

    def write(
        self, memory: memoryview, position: int, stream: int, source: memoryview, at: int, size: int
    ) -> int:
        """Write a whole answer, whose message is at a position of another memory; the position
        after it. There is room for it."""
        head = self._head
        store_u32(head, 5, stream)
        store_u32(head, self._data_at, (size + 5) << 8)
        store_u32(head, self._data_at + 5, stream)
        store_u32(head, self._data_at + 10, size)
        store_u32(head, self._end_at + 5, stream)
        copy_bytes(memory, position, head, 0, self._end_at)
        position += self._end_at
        copy_bytes(memory, position, source, at, size)
        position += size
        copy_bytes(memory, position, head, self._end_at, self._size - self._end_at)
        return position + self._size - self._end_at
