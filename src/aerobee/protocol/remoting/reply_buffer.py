"""`ReplyBuffer` gathers the answers to the requests of one read, to be written to the socket at
once.

It is a run of bytes that only grows until it is taken. Hot writers ask for room, write at
`memory`/`position` and move `position`; other writers append whole frames.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, bytes_address, bytes_at, copy_bytes

START_BYTES = 64 * 1024  # the answers to a read of 64 KiB of sends


def is_compiled() -> bool:
    return cython.compiled


class ReplyBuffer:
    """B1. `memory` has room for `_capacity` bytes, of which [0, position) are to be written."""

    __slots__ = ("_capacity", "_view", "memory", "position")

    def __init__(self) -> None:
        self._capacity = START_BYTES
        self._view = memoryview(bytearray(START_BYTES))
        self.memory = address(self._view)
        self.position = 0

    def make_room(self, size: int) -> None:
        """See to it that `size` bytes fit at `position`."""
        needed = self.position + size
        if needed <= self._capacity:
            return
        capacity = max(needed, 2 * self._capacity)
        view = memoryview(bytearray(capacity))
        copy_bytes(address(view), 0, self.memory, 0, self.position)
        self._view = view
        self.memory = address(view)
        self._capacity = capacity

    def append(self, data: bytes) -> None:
        size = len(data)
        self.make_room(size)
        copy_bytes(self.memory, self.position, bytes_address(data), 0, size)
        self.position += size

    def view(self) -> memoryview:
        """The bytes gathered so far, to be read before anything is added."""
        return self._view[: self.position]

    def take(self) -> bytes:
        """The bytes gathered; the buffer is empty then."""
        data = bytes_at(self.memory, 0, self.position)
        self.position = 0
        return data
