"""ByteSource: the bytes of a body that somebody else made, taken from the front under bounds.

B1. A size is compared with what is left before anything is taken.
B2. Every value is counted, those without bytes too: a list of a billion nulls ends at `values_max`.
B3. Nesting ends at DEPTH_MAX, far before the interpreter's own limit.
B4. What breaks a bound, or is of another format, is a NotOfFormat, never another error.
"""

import math
import struct
from typing import Any

DEPTH_MAX = 64
VALUES_MAX = 50_000
"""Of one body: some 50 ms of decoding, in which the console serves nobody else."""
EXACT_MAX = 2**53
"""Beyond it a number of JSON is not exact in a browser."""
_VARINT_BYTES = 10


class NotOfFormat(ValueError):
    """The bytes are of another format, or beyond a bound."""


class Count:
    """Values of one body, counted over all its parts."""

    __slots__ = ("left",)

    def __init__(self, most: int) -> None:
        self.left = most

    def one(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise NotOfFormat("too many values")


class ByteSource:
    """Bytes that are taken from the front."""

    def __init__(
        self, data: bytes, values_max: int = VALUES_MAX, count: Count | None = None
    ) -> None:
        """`count`: that of the body of which these bytes are a part."""
        self.data = data
        self.at = 0
        self.counted = Count(values_max) if count is None else count

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def take(self, size: int) -> bytes:
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise NotOfFormat("it ends too early")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def part(self, size: int) -> "ByteSource":
        """Return the next bytes as a source of their own, whose values count here."""
        return ByteSource(self.take(size), count=self.counted)

    def number(self, form: str) -> Any:
        """Take a number of fixed size, in the words of `struct`."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def varint(self) -> int:
        """Take an unsigned number in groups of seven bits, the lowest first."""
        value = 0
        for place in range(_VARINT_BYTES):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return value
        raise NotOfFormat("a number is too long")

    def zigzag(self) -> int:
        """Take a signed number: 0, -1, 1, -2 … as 0, 1, 2, 3 …"""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def text(self, size: int) -> str:
        try:
            return self.take(size).decode()
        except UnicodeDecodeError:
            raise NotOfFormat("a text is no UTF-8") from None

    def count(self) -> None:
        self.counted.one()

    def enter(self, depth: int) -> None:
        """Count a value, and refuse one that is too deep."""
        self.counted.one()
        if depth > DEPTH_MAX:
            raise NotOfFormat("too deep")


def hex_text(data: bytes) -> str:
    return f"0x{data.hex()}"


def real(value: float) -> float | str:
    """JSON has no word for infinity."""
    return value if math.isfinite(value) else str(value)


def whole(value: int) -> int | str:
    """A number that a browser would round is a text."""
    return value if -EXACT_MAX <= value <= EXACT_MAX else str(value)
