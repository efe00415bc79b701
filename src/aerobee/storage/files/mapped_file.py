"""One file of a sequence: its bytes, mapped, and the offset at which they stand in the whole.

Room on the disk comes before bytes: a write into a hole kills the process if the disk is full. The
files of the log have it all from the start. A derived file is made sparse (there may be one for
each of 50,000 queues) and gets its room in steps ahead of the writer, small ones first:

    4 KiB, 8, 16, 32, 64, 128, 256 KiB in all, then 256 KiB more each time

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
    from aerobee.protocol.primitives.big_endian import address


PAGE_BYTES = 4096

_STEP_BYTES_MAX = 256 << 10  # 13,000 units of a consume queue: the call is lost among them
_BLOCK_BYTES = 1 << 20


def is_compiled() -> bool:
    return cython.compiled


def room_for(end: int, size: int) -> int:
    """Up to where room is reserved for bytes up to `end`, in a file of `size` bytes."""
    step = PAGE_BYTES
    while step < end and step < _STEP_BYTES_MAX:
        step *= 2
    return min(size, -(-end // step) * step)


class MappedFile:
    """A file that holds the offsets [first_offset, first_offset + size).

    F1. Bytes are written below `room` only: [0, room) is known to be reserved.
    """

    __slots__ = ("disk_file", "first_offset", "memory", "room", "size", "view")

    def __init__(self, disk_file: DiskFile, first_offset: int, is_sparse: bool = False) -> None:
        self.disk_file = disk_file
        self.first_offset = first_offset
        self.view = disk_file.view
        self.memory = address(self.view)
        self.size = len(self.view)
        # Of a sparse file nothing is known until it is asked for.
        self.room = 0 if is_sparse else self.size

    def make_room(self, end: int) -> None:
        """Have room for bytes up to `end`, and some ahead. OSError if there is none."""
        if end > self.room:
            room = room_for(end, self.size)
            self.disk_file.reserve(self.room, room)
            self.room = room

    def zero_from(self, position: int) -> bool:
        """Zero the rest, touching only pages in which something stands; whether there was any."""
        found = False
        while position < self.size:
            position, end = self.disk_file.find_data(position)
            end = min(end, position - position % _BLOCK_BYTES + _BLOCK_BYTES)
            # As bytes: views are compared item by item, many times slower.
            if bytes(self.view[position:end]).strip(b"\0"):
                found = True
                self._zero_pages(position, end)
            position = end
        return found

    def _zero_pages(self, position: int, end: int) -> None:
        while position < end:
            page_end = min(position - position % PAGE_BYTES + PAGE_BYTES, end)
            if any(self.view[position:page_end]):
                if page_end > self.room:
                    # Where blocks are smaller than pages, a part of this one may be a hole.
                    self.disk_file.reserve(position, page_end)
                self.view[position:page_end] = bytes(page_end - position)
            position = page_end

    def end_offset(self) -> int:
        return self.first_offset + self.size

    def slice(self, position: int, size: int) -> memoryview:
        """A part of the file, by reference; it stays valid as long as it is held."""
        return self.view[position : position + size]
