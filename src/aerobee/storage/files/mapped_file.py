"""One file of a sequence: its bytes, mapped, and the offset at which they stand in the whole.

Called from the core's thread only. Whoever holds a slice of `view` keeps the mapping alive, so a
file may be removed while a reader still has a part of it.
"""

from typing import TYPE_CHECKING

from aerobee.ports.disk import DiskFile

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.big_endian import address


def is_compiled() -> bool:
    return cython.compiled


class MappedFile:
    """A file that holds the offsets [first_offset, first_offset + size)."""

    __slots__ = ("disk_file", "first_offset", "memory", "size", "view")

    def __init__(self, disk_file: DiskFile, first_offset: int) -> None:
        self.disk_file = disk_file
        self.first_offset = first_offset
        self.view = disk_file.view
        self.memory = address(self.view)
        self.size = len(self.view)

    def end_offset(self) -> int:
        return self.first_offset + self.size

    def slice(self, position: int, size: int) -> memoryview:
        """A part of the file, by reference; it stays valid as long as it is held."""
        return self.view[position : position + size]
