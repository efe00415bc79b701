"""Numbers as text, written straight into a memory: decimal and hexadecimal digits.

For the few answers that are made by the hundred thousand; nothing is allocated. Whoever calls has
seen to it that there is room: 20 bytes for a decimal, 16 for a hexadecimal.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

DECIMAL_BYTES_MAX = 20
HEX_BYTES = 16


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
