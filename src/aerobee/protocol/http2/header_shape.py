"""HeaderShape recognises the header block of a repeated request by its bytes, without decoding it.

A client that calls the same method again sends the same block but for a few values: a request id,
a date, a signature, a timeout. The shape keeps the bytes of one block that was decoded, and where
those values lie; a block that is equal everywhere else has the same other fields.

Laws. A block is learnt only if it neither changed the dynamic table nor can be too large, and it is
recognised only while the table is the one that it was learnt with (`table`): then the general
decoder (`hpack`) would find the same fields with other values of `VARYING`, and would find no
fault. Nothing is kept of the values that vary, so whoever needs them has the block decoded.
"""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.http2.huffman import is_huffman
    from aerobee.protocol.primitives.big_endian import bytes_address, same_bytes

HeaderField: TypeAlias = tuple[str, str]

VARYING = frozenset(
    {
        "authorization",
        "grpc-timeout",
        "traceparent",
        "x-mq-date-time",
        "x-mq-request-id",
    }
)
"""Fields whose values differ from request to request."""
FIELD_OVERHEAD = 32
BLOCK_BYTES_MAX = 2_048
_VALUE_BYTES_MAX = 126
"""Of a varying value as it comes: its size is one byte. Decoded it is at most 8/5 of that."""
_VALUE_CHARS_MAX = 202
_PARTS_MAX = 9


def is_compiled() -> bool:
    return cython.compiled


class HeaderShape:
    """S1. The block is its fixed parts, with a value that varies between each two of them."""

    __slots__ = ("_block", "_ends", "_parts", "_starts", "fields", "owner", "path", "table")

    def __init__(self, block: bytes, fields: list[HeaderField], table: int) -> None:
        """`fields` are those of the block; `table` numbers the state of the dynamic table."""
        self._block = block
        self._parts = 0
        if not cython.compiled:
            self._starts = [0] * _PARTS_MAX
            self._ends = [0] * _PARTS_MAX
        self.table = table
        self.fields = fields
        self.path = ""
        self.owner: object = None
        """Whatever the service knows of requests of this shape."""
        for name, value in fields:
            if name == ":path":
                self.path = value

    def learn(self, fields_bytes_max: int) -> bool:
        """Find the parts of the block. False: its requests are decoded one by one."""
        if len(self._block) > BLOCK_BYTES_MAX:
            return False
        start = position = total = 0
        for name, value in self.fields:
            position, value_at = _field_at(self._block, position)
            varies = value_at >= 0 and name in VARYING
            if position < 0:
                return False
            total += len(name) + FIELD_OVERHEAD + (_VALUE_CHARS_MAX if varies else len(value))
            if varies:
                if self._parts == _PARTS_MAX - 1 or self._block[value_at] & 0x7F == 0x7F:
                    return False
                self._add_part(start, value_at)
                start = position
        self._add_part(start, len(self._block))
        return position == len(self._block) and total <= fields_bytes_max

    def _add_part(self, start: int, end: int) -> None:
        self._starts[self._parts] = start
        self._ends[self._parts] = end
        self._parts += 1

    def matches(self, memory: memoryview, position: int, end: int) -> bool:
        """Whether the block at [position, end) of a memory is one of these."""
        block = bytes_address(self._block)
        last = self._parts - 1
        for index in range(self._parts):
            start = self._starts[index]
            size = self._ends[index] - start
            if size > end - position or not same_bytes(memory, position, block, start, size):
                return False
            position += size
            if index < last:
                if position >= end:
                    return False
                size = memory[position]
                start = position + 1
                position = start + (size & 0x7F)
                if size & 0x7F > _VALUE_BYTES_MAX or position > end:
                    return False
                if size & 0x80 and not is_huffman(memory, start, position):
                    return False
        return position == end

    def recognises(self, block: bytes) -> bool:
        """The same of a block by itself."""
        return self.matches(bytes_address(block), 0, len(block))


def _field_at(block: bytes, position: int) -> tuple[int, int]:
    """The position after a field of a sound block, and that of its value if the value is a literal
    that no table keeps, or else -1. The position -1: this is none for a shape."""
    first = block[position] if position < len(block) else 0x40
    if first & 0x80:
        return _integer_end(block, position, 0x7F), -1
    if first & 0xE0:  # kept in the table, or a change of its size
        return -1, -1
    end = _integer_end(block, position, 0x0F)
    if not first & 0x0F:
        end = _text_end(block, end)
    return _text_end(block, end), end


def _integer_end(block: bytes, position: int, mask: int) -> int:
    at = position + 1
    if block[position] & mask == mask:
        while block[at] & 0x80:
            at += 1
        at += 1
    return at


def _text_end(block: bytes, position: int) -> int:
    mask = 0x7F
    size = block[position] & mask
    at = _integer_end(block, position, mask)
    if size == mask:
        for shift, byte in enumerate(block[position + 1 : at]):
            size += (byte & 0x7F) << 7 * shift
    return at + size
