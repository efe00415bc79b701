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
    from aerobee.protocol.primitives.big_endian import address, bytes_at, store_u32


def is_compiled() -> bool:
    return cython.compiled


class AnswerFrames:
    __slots__ = ("_data_at", "_end_at", "_head", "_head_view", "_size")

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
