"""Java's String.hashCode, over UTF-8 bytes: what tag filters and the key index compare.

    h = 0; for each UTF-16 unit c: h = 31·h + c, in 32 bits

`start` continues a hash, so that hash(a + b) = text_hash(b, text_hash(a)).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, bytes_at

# As C variables: the compiler takes a literal over 2**31 for an object, at 30 ns a use.
_ALL_BITS = 0xFFFFFFFF
_SIGN_BIT = 0x80000000
_ONE_TURN = 0x1_0000_0000


def is_compiled() -> bool:
    return cython.compiled


def text_hash(memory: memoryview, position: int, size: int, start: int) -> int:
    """The hash, unsigned, of the text at [position, position + size)."""
    value = start
    end = position + size
    index = position
    # Four characters a round: the multiplications then do not wait for one another.
    while end - index >= 4:
        if (memory[index] | memory[index + 1] | memory[index + 2] | memory[index + 3]) >= 0x80:
            return _wide_hash(bytes_at(memory, index, end - index), value)
        value = (
            value * 923521
            + memory[index] * 29791
            + memory[index + 1] * 961
            + memory[index + 2] * 31
            + memory[index + 3]
        ) & _ALL_BITS
        index += 4
    while index < end:
        if memory[index] >= 0x80:
            return _wide_hash(bytes_at(memory, index, end - index), value)
        value = (value * 31 + memory[index]) & _ALL_BITS
        index += 1
    return value


def _wide_hash(text: bytes, start: int) -> int:
    """The rest of a hash once a character is not ASCII. Bad UTF-8 counts as U+FFFD, as in Java."""
    units = text.decode("utf-8", "replace").encode("utf-16-be", "surrogatepass")
    value = start
    for index in range(0, len(units), 2):
        value = (value * 31 + (units[index] << 8 | units[index + 1])) & _ALL_BITS
    return value


def signed32(value: int) -> int:
    """A 32-bit pattern read as Java's int."""
    return value - _ONE_TURN if value >= _SIGN_BIT else value


def tag_code(tag: bytes) -> int:
    """The tag code of a consume queue unit: the hash as a signed int; 0 for no tag."""
    view = memoryview(tag)
    return signed32(text_hash(address(view), 0, len(tag), 0))
