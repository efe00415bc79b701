"""FieldScan walks the fields of a protobuf message in place: numbers and sized fields, no objects.

For the requests that come by the hundred thousand. It reads the forms that clients write and no
others: a number above 63 bits, a fixed-size field, a size beyond the message end the walk as
broken, and the general reader (`wire`) decides what is an error. Law: where the walk is whole, the
general reader sees the same fields.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address


def is_compiled() -> bool:
    return cython.compiled


class FieldScan:
    """F1. After `advance` was True, `tag` is the field's number and type as they stand in the
    bytes; `value` its number, or `start` and `stop` where it lies. After it was False, `is_whole`
    says whether the walk came to its end."""

    __slots__ = ("_end", "_memory", "_position", "is_whole", "start", "stop", "tag", "value")

    def __init__(self) -> None:
        self._memory = bytes_address(b"")
        self._position = 0
        self._end = 0
        self.is_whole = False
        self.tag = 0
        self.value = 0
        self.start = 0
        self.stop = 0

    def begin(self, memory: memoryview, position: int, end: int) -> None:
        self._memory = memory
        self._position = position
        self._end = end
        self.is_whole = False

    def advance(self) -> bool:
        """Read the next field; False: there is none, or it is broken."""
        if self._position >= self._end:
            self.is_whole = True
            return False
        tag = self._number()
        if tag < 8:
            return False
        self.tag = tag
        wire = tag & 7
        if wire != 0 and wire != 2:
            return False
        number = self._number()
        if number < 0:
            return False
        if wire == 0:
            self.value = number
            return True
        if number > self._end - self._position:
            return False
        self.start = self._position
        self.stop = self._position + number
        self._position = self.stop
        return True

    def _number(self) -> int:
        """The number at the position, which moves behind it; -1: there is none."""
        value = shift = 0
        while self._position < self._end and shift < 63:
            byte = self._memory[self._position]
            self._position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        return -1


def put_number(memory: memoryview, position: int, value: int) -> int:
    """Write a number from 0 on; the position after it. There is room for ten bytes."""
    while value >= 0x80:
        memory[position] = value & 0x7F | 0x80
        value >>= 7
        position += 1
    memory[position] = value
    return position + 1


def is_printable(memory: memoryview, start: int, stop: int, least: int) -> bool:
    """Whether all bytes are ASCII from `least` on and no control characters."""
    for index in range(start, stop):
        byte = memory[index]
        if byte < least or byte > 0x7E:
            return False
    return True
