"""Numbers as Java reads them out of a text, and in which order it puts them.

int, long   a sign or none, then digits; nothing else, and no more than fits
double      white space around it; a sign; NaN, Infinity, or digits with a point or none, an
            exponent or none, and one of f, F, d, D or none. Hexadecimal ones are not read
"""

from math import copysign
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, bytes_at

# Numbers are read as negative ones, because there is one more of those than these.
_INT32_LEAST = -(2**31 - 1)
_INT32_LEAST_TENTH = -214748364
_INT64_LEAST = -(2**63 - 1)
_INT64_LEAST_TENTH = -922337203685477580


def is_compiled() -> bool:
    return cython.compiled


class JavaNumber:
    """The number that was last read from a text."""

    __slots__ = ("real", "whole")

    def __init__(self) -> None:
        self.whole = 0
        self.real = 0.0

    def read_whole(self, memory: memoryview, position: int, end: int, is_int32: bool) -> bool:
        """Whether [position, end) is an int, or a long; then it is `whole`."""
        is_negative = position < end and memory[position] == 45
        if is_negative or (position < end and memory[position] == 43):
            position += 1
        if position == end:
            return False
        least = _INT32_LEAST if is_int32 else _INT64_LEAST
        tenth = _INT32_LEAST_TENTH if is_int32 else _INT64_LEAST_TENTH
        if is_negative:
            least -= 1
        value = 0
        while position < end:
            digit = memory[position] - 48
            if digit < 0 or digit > 9 or value < tenth:
                return False
            value *= 10
            if value < least + digit:
                return False
            value -= digit
            position += 1
        self.whole = value if is_negative else -value
        return True

    def read_real(self, memory: memoryview, start: int, end: int) -> bool:
        """Whether [start, end) is a double; then it is `real`."""
        while start < end and memory[start] <= 32:
            start += 1
        while start < end and memory[end - 1] <= 32:
            end -= 1
        if self._read_short(memory, start, end):
            return True
        end = end_of_real(memory, start, end)
        if end < 0:
            return False
        self.real = float(bytes_at(memory, start, end - start))
        return True

    def _read_short(self, memory: memoryview, position: int, end: int) -> bool:
        """Most doubles: up to 15 digits, with a point or none. Both parts of the fraction that they
        are can be written exactly, so it is rounded once, and rightly."""
        is_negative = position < end and memory[position] == 45
        if is_negative:
            position += 1
        value = 0
        digits = 0
        scale = 1.0
        has_point = False
        while position < end:
            digit = memory[position] - 48
            if 0 <= digit <= 9:
                digits += 1
                value = value * 10 + digit
                if has_point:
                    scale *= 10.0
            elif digit == -2 and not has_point:
                has_point = True
            else:
                return False
            if digits > 15:
                return False
            position += 1
        if digits == 0:
            return False
        self.real = float(value) / scale
        if is_negative:
            self.real = -self.real
        return True

    def read_text(self, text: bytes, type_: str) -> bool:
        """For callers without a memory; `type_` is int, long or double."""
        memory = bytes_address(text)
        if type_ == "double":
            return self.read_real(memory, 0, len(text))
        return self.read_whole(memory, 0, len(text), type_ == "int")


def end_of_real(memory: memoryview, start: int, end: int) -> int:
    """The end of the digits of a double that fills [start, end) but for Java's last letter; -1: it
    is none.
    """
    position = start
    if position < end and (memory[position] == 43 or memory[position] == 45):
        position += 1
    if position < end and (memory[position] == 73 or memory[position] == 78):
        name = bytes_at(memory, position, end - position)
        return end if name in (b"NaN", b"Infinity") else -1
    first = position
    position = end_of_digits(memory, position, end)
    digits = position - first
    if position < end and memory[position] == 46:
        first = position + 1
        position = end_of_digits(memory, first, end)
        digits += position - first
    if digits == 0:
        return -1
    if position < end and (memory[position] | 32) == 101:
        position += 1
        if position < end and (memory[position] == 43 or memory[position] == 45):
            position += 1
        first = position
        position = end_of_digits(memory, position, end)
        if position == first:
            return -1
    if position == end:
        return end
    last = memory[position] | 32
    return position if position + 1 == end and (last == 102 or last == 100) else -1


def end_of_digits(memory: memoryview, position: int, end: int) -> int:
    while position < end and 48 <= memory[position] <= 57:
        position += 1
    return position


def order_of_wholes(left: int, right: int) -> int:
    """-1, 0 or 1."""
    if left < right:
        return -1
    return 1 if left > right else 0


def order_of_reals(left: float, right: float) -> int:
    """-1, 0 or 1, as in Java: NaN is above all others and equal to itself, -0.0 is below 0.0."""
    if left < right:
        return -1
    if left > right:
        return 1
    if left == right:
        return 0 if left != 0.0 else order_of_wholes(_sign(left), _sign(right))
    return order_of_wholes(left != left, right != right)


def _sign(real: float) -> int:
    return -1 if copysign(1.0, real) < 0 else 1
