"""Any bytes in any chunks give frames, need more, or ProtocolError: the same for every chunking.

The first bytes choose the limits and the chunks; the rest is the stream. A stream of random bytes
rarely has a second frame, so it is tried again with the length words put right.
"""

import struct
from importlib import import_module

from tests.pure import pure
from tests.wire import Wire

_compiled = Wire(import_module)
_interpreted = Wire(pure)


def check(data: bytes) -> None:
    """Any bytes in any chunks give frames, need more, or ProtocolError."""
    if len(data) < 4:
        return
    limits = (8 + data[0] * 8, data[1])
    for stream in (data[4:], _mended(data[4:])):
        whole = _interpreted.frames([stream], limits)
        assert _compiled.frames([stream], limits) == whole
        assert _compiled.frames(_cut(stream, data[2]), limits) == whole
        assert _interpreted.frames(_cut(stream, data[3]), limits) == whole


def _cut(stream: bytes, seed: int) -> list[bytes]:
    """Some thirty chunks of sizes that go up and down with the seed."""
    size_max = 2 + len(stream) // 16
    chunks = []
    start = 0
    size = 1 + seed % size_max
    while start < len(stream):
        chunks.append(stream[start : start + size])
        start += size
        size = 1 + (size * 7 + seed) % size_max
    return chunks


def _mended(stream: bytes) -> bytes:
    """The stream as frames whose lengths are in reach, up to the first whose type is bad."""
    mended = bytearray(stream)
    position = 0
    while len(mended) - position >= 8:
        size = min(len(mended) - position - 4, 4 + mended[position + 3])
        header_size = mended[position + 7] % (size - 3)
        serialize_type = mended[position + 4] % 4 % 3
        struct.pack_into(">iI", mended, position, size, serialize_type << 24 | header_size)
        position += 4 + size
    return bytes(mended)
