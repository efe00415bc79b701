"""The entries of a batch body, one after another, in place.

    0  total size of this entry   4        16  body size     4
    4  magic (0)                  4        20  body          n
    8  body CRC (0)               4            properties size, text   2 + n
   12  flag                       4

Magic and CRC are what the client left there: the broker computes its own. The cursor makes no
object per entry; `message_batch` does, for callers who want them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import load_i16, load_i32

ENTRY_BYTES_MIN = 22

# What BatchCursor.advance found.
ENTRY = 1
END = 0
MALFORMED = -1


def is_compiled() -> bool:
    return cython.compiled


class BatchCursor:
    """Positions of the current entry's parts in the memory being walked."""

    __slots__ = (
        "body_size",
        "body_start",
        "flag",
        "next_position",
        "properties_size",
        "properties_start",
    )

    def __init__(self) -> None:
        self.next_position = 0
        self.flag = 0
        self.body_start = 0
        self.body_size = 0
        self.properties_start = 0
        self.properties_size = 0

    def rewind(self) -> None:
        self.next_position = 0

    def advance(self, memory: memoryview, end: int) -> int:
        """Go to the next entry of a body that ends at `end`: ENTRY, END or MALFORMED."""
        position = self.next_position
        left = end - position
        if left == 0:
            return 0
        if left < 22:
            return -1
        size = load_i32(memory, position)
        body_size = load_i32(memory, position + 16)
        if size < 22 or size > left or body_size < 0 or body_size > size - 22:
            return -1
        properties_start = position + 20 + body_size + 2
        properties_size = load_i16(memory, properties_start - 2)
        if properties_size < 0 or 22 + body_size + properties_size != size:
            return -1
        self.flag = load_i32(memory, position + 12)
        self.body_start = position + 20
        self.body_size = body_size
        self.properties_start = properties_start
        self.properties_size = properties_size
        self.next_position = position + size
        return 1
