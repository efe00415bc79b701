"""Numbers and bytes as text, written straight into a memory: decimal, hexadecimal, Base64.

For the few answers that are made by the hundred thousand; nothing is allocated. Whoever calls has
seen to it that there is room: 20 bytes for a decimal, 16 for a hexadecimal, 4 in Base64 for every 3
that are begun.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def is_compiled() -> bool:
    return cython.compiled


def put_decimal(memory: memoryview, position: int, value: int) -> int:
    """Write a number above -2**63; the position after it."""
    if value < 0:
        memory[position] = 0x2D
        position += 1
        value = -value
    rest = value
    end = position + 1
    while rest >= 10:
        rest //= 10
        end += 1
    position = end
    while True:
        position -= 1
        rest = value // 10
        memory[position] = 0x30 + (value - 10 * rest)
        value = rest
        if value == 0:
            return end


def put_hex(memory: memoryview, position: int, value: int) -> int:
    """Write a number from 0 on as 16 capital digits; the position after them."""
    for index in range(15, -1, -1):
        digit = value & 15
        memory[position + index] = digit + (0x30 if digit < 10 else 0x37)
        value >>= 4
    return position + 16


def put_base64(memory: memoryview, position: int, source: memoryview, size: int) -> int:
    """Write the first bytes of a source in the Base64 of URLs, padded; the position after it."""
    letters = bytes_address(_BASE64)
    for start in range(0, size, 3):
        word = source[start] << 16
        if start + 1 < size:
            word |= source[start + 1] << 8
        if start + 2 < size:
            word |= source[start + 2]
        memory[position] = letters[word >> 18]
        memory[position + 1] = letters[word >> 12 & 63]
        memory[position + 2] = letters[word >> 6 & 63] if start + 1 < size else 0x3D
        memory[position + 3] = letters[word & 63] if start + 2 < size else 0x3D
        position += 4
    return position
