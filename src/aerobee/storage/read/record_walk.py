"""RecordWalk passes over the records of one log file and tells where they begin.

Only the place of each record is judged (`record_check`), no checksum: a record of 1 KB costs its
head, not its body. For those who look for the boundaries between records: the last record of a log,
the record before an offset, all records of a file.

Called from the core's thread only.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aerobee.protocol.message.record_check import SOUND as SOUND
from aerobee.protocol.message.record_check import RecordCheck
from aerobee.storage.files.mapped_file import MappedFile

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, load_i32, load_u32, store_u32


def is_compiled() -> bool:
    return cython.compiled


class RecordWalk:
    """The last walk: how far it came, and what it passed."""

    __slots__ = ("_check", "count", "last_position", "last_timestamp", "position")

    def __init__(self) -> None:
        self._check = RecordCheck()
        self.count = 0
        # Of the last record that was passed; -1 and 0 if none was.
        self.last_position = -1
        self.last_timestamp = 0
        # Where it stopped.
        self.position = 0

    def run(self, file: MappedFile, position: int, end: int) -> int:
        """Pass over records from one position of a file to another; SOUND if that is where the last
        one ends, else the finding at `self.position` (after which `end` may lie inside a record).
        """
        check = self._check
        memory = file.memory
        base = file.first_offset
        file_end = base + file.size
        self.count = 0
        self.last_position = -1
        self.last_timestamp = 0
        found = SOUND
        while position < end and found == 0:
            found = check.judge_place(memory, position, file.size, base, file_end)
            if found == 0:
                self.count += 1
                self.last_position = position
                self.last_timestamp = check.record.store_timestamp
                position += check.record.size
        self.position = position
        return found


class RecordOffsets:
    """The log offsets of the records of one file, in order: a sequence of numbers, 4 bytes each."""

    __slots__ = ("_first_offset", "_memory", "_view", "count")

    def __init__(self, file: MappedFile, count: int) -> None:
        """`count`: how many records a walk from the begin of the file has passed."""
        self.count = count
        self._first_offset = file.first_offset
        self._view = memoryview(bytearray(4 * count))
        self._memory = address(self._view)
        self._fill(file)

    def _fill(self, file: MappedFile) -> None:
        position = 0
        for index in range(self.count):
            store_u32(self._memory, 4 * index, position)
            position += load_i32(file.memory, position)

    def __iter__(self) -> Iterator[int]:
        return map(self.__getitem__, range(self.count))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        if index < 0 or index >= self.count:
            raise IndexError(index)
        return self._first_offset + load_u32(self._memory, 4 * index)
