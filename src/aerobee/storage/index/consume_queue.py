"""One consume queue: where the messages of one (topic, queue) lie in the log.

Dispatch adds a unit per message, pulls read runs of them. A unit, 20 bytes, big-endian:

    0          8             12              20
    +----------+-------------+---------------+
    | log      | record      | tag code      |
    | offset   | size        | or due time   |
    +----------+-------------+---------------+

The unit of queue offset n is at byte 20·n of the file sequence. A file whose first units were never
known (older log was removed before the queue was built) begins with fillers (0, 0x7FFFFFFF, 0). In
a gap further on, the third field is where the record before it ends, so that halving finds its way.
A unit of size 0 was never written: it ends the queue.

Invariants:
Q1. min_offset ≤ max_offset ≤ next_offset: kept, dispatched, given out to appends. (Units of raw
    records are ahead of next_offset until `Dispatcher.take_touched`.)
Q2. Units rise: a later queue offset has a later log offset.
Q3. Bytes at and after unit max_offset are zero.

Agrees with Apache's ConsumeQueue. Called from the core's thread only.
"""

from typing import TYPE_CHECKING

from aerobee.ports.disk import Disk
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        bytes_address,
        load_i32,
        load_i64,
        store_i32,
        store_i64,
    )
    from aerobee.protocol.primitives.java_hash import text_hash

UNIT_BYTES = 20
FILLER_SIZE = 0x7FFFFFFF


def is_compiled() -> bool:
    return cython.compiled


class ConsumeQueue:
    """The units of one queue, and the three offsets that bound them."""

    __slots__ = (
        "_file",
        "_synced_to",
        "born_at",
        "is_dirty",
        "is_leaving",
        "is_touched",
        "log_end",
        "max_offset",
        "min_offset",
        "new_bytes",
        "new_units",
        "next_offset",
        "queue_id",
        "sequence",
        "topic",
        "topic_hash",
    )

    def __init__(
        self,
        disk: Disk,
        directory: str,
        topic: bytes,
        queue_id: int,
        file_units: int,
        born_at: int = 0,
    ) -> None:
        """`born_at`: records before this log offset are of a deleted topic of this name."""
        self.topic = topic
        self.queue_id = queue_id
        self.sequence = FileSequence(disk, directory, file_units * UNIT_BYTES, True)
        # The file that holds unit max_offset, if there is room for that unit in it.
        self._file: MappedFile | None = None
        self.min_offset = 0
        self.max_offset = 0
        self.next_offset = 0
        self.born_at = born_at
        # Where the record of the newest unit ends in the log.
        self.log_end = born_at
        # Files that begin or go on after this byte were changed since the last checkpoint.
        self._synced_to = 0
        # Changed since the last checkpoint; given a message since the dispatcher last told.
        self.is_dirty = False
        self.is_touched = False
        # The files of a deleted topic are on their way out: none may be made yet.
        self.is_leaving = False
        # What was appended, and the records' bytes: for whoever counts, who sets them back to 0.
        self.new_units = 0
        self.new_bytes = 0
        # Hash of `topic#`, from which the key index hashes on.
        prefix = topic + b"#"
        self.topic_hash = text_hash(bytes_address(prefix), 0, len(prefix), 0)

    # Reading.

    def find(self, queue_offset: int) -> MappedFile | None:
        """The file that holds a unit, if the queue has that unit."""
        if queue_offset < self.min_offset or queue_offset >= self.max_offset:
            return None
        return self.sequence.find(queue_offset * 20)

    def unit(self, queue_offset: int) -> tuple[int, int, int] | None:
        """(log offset, record size, tag code) of one unit; None if the queue has none there."""
        file = self.find(queue_offset)
        if file is None:
            return None
        position = queue_offset * 20 - file.first_offset
        memory = file.memory
        return (
            load_i64(memory, position),
            load_i32(memory, position + 8),
            load_i64(memory, position + 12),
        )

    def first_at(self, log_offset: int) -> int:
        """The first queue offset whose record lies at or after a log offset."""
        low = self.min_offset
        high = self.max_offset
        while low < high:
            middle = (low + high) // 2
            if self._is_before(middle, log_offset):
                low = middle + 1
            else:
                high = middle
        return low

    def _is_before(self, queue_offset: int, log_offset: int) -> bool:
        """Whether the unit is written and its record lies before a log offset; of a filler,
        whether the record before the gap does."""
        file = self.sequence.find(queue_offset * 20)
        assert file is not None
        position = queue_offset * 20 - file.first_offset
        size = load_i32(file.memory, position + 8)
        if size == 0x7FFFFFFF:
            return load_i64(file.memory, position + 12) <= log_offset
        # Below zero is damage: not to be hidden as if its record had been removed.
        return size > 0 and 0 <= load_i64(file.memory, position) < log_offset

    # Writing.

    def append(self, queue_offset: int, log_offset: int, size: int, tag_code: int) -> bool:
        """Add the unit of a message; False if the queue has it already."""
        if log_offset < self.log_end:
            return False
        if queue_offset != self.max_offset and not self._make_room(queue_offset):
            return False
        file = self._file
        if file is None:
            file = self._open_end()
        position = queue_offset * 20 - file.first_offset
        memory = file.memory
        store_i64(memory, position, log_offset)
        store_i32(memory, position + 8, size)
        store_i64(memory, position + 12, tag_code)
        self.max_offset = queue_offset + 1
        self.log_end = log_offset + size
        self.new_units += 1
        self.new_bytes += size
        self.is_dirty = True
        if position + 40 > file.room:
            self._file = None
        return True

    def _open_end(self) -> MappedFile:
        """The file for unit max_offset, made now if need be, with room for that unit."""
        end = self.max_offset * 20
        file = self.sequence.find(end)
        if file is None:
            file = self.sequence.create(end - end % self.sequence.file_size)
        file.make_room(end - file.first_offset + 20)
        self._file = file
        return file

    def _make_room(self, queue_offset: int) -> bool:
        """Bring max_offset to a unit that is not the next one; False if the unit is old.

        Older: seen already, unless the topic was deleted and made anew, when its offsets begin at
        0 again further on in the log. Newer: the units between were never seen, because their log
        is gone; fillers stand for them.
        """
        if queue_offset < self.max_offset:
            if queue_offset != 0:
                return False
            given_out = self.next_offset
            self.clear()
            self.next_offset = given_out
            return True
        if self.max_offset == 0 and not self.sequence.files:
            self.min_offset = queue_offset
            # Whole files of fillers would say nothing.
            self.max_offset = queue_offset - queue_offset % (self.sequence.file_size // 20)
        while self.max_offset < queue_offset:
            file = self._file if self._file is not None else self._open_end()
            position = self.max_offset * 20 - file.first_offset
            store_i32(file.memory, position + 8, FILLER_SIZE)
            store_i64(file.memory, position + 12, self.log_end)
            self.max_offset += 1
            if position + 40 > file.room:
                self._file = None
        return True

    # Recovery and retention.

    def begin_at(self, queue_offset: int) -> None:
        """A queue without units was further once, and goes on from here."""
        if self.max_offset == 0 and not self.sequence.files:
            self._make_room(queue_offset)
            self._open_end()  # its name says how far, if nothing else does
            self.min_offset = self.next_offset = queue_offset
            self.is_dirty = True

    def load(self, is_torn: bool) -> None:
        """Map the files and find the end of the written units.

        `is_torn`: a crash may have left files short; what does not fit is removed.
        """
        self.sequence.load_derived(is_torn)
        if self.sequence.files:
            self.min_offset = self.sequence.first_offset() // 20
            self.max_offset = self.sequence.end_offset() // 20
            self._end_at(self._first_unwritten())

    def _first_unwritten(self) -> int:
        """The first unit of size 0. Units are written in order: strides from the begin of the last
        file that has any, then halving. Most queues are young, and every page of a hole that is
        looked at takes memory."""
        low = self.min_offset
        high = self.max_offset
        file_units = self.sequence.file_size // 20
        while high - low > file_units and not self._is_written(high - file_units):
            high -= file_units
        low = max(low, high - file_units)
        stride = 1
        while low < high and self._is_written(min(low + stride, high) - 1):
            low = min(low + stride, high)
            stride *= 2
        high = min(low + stride, high)
        while low < high:
            middle = (low + high) // 2
            if self._is_written(middle):
                low = middle + 1
            else:
                high = middle
        return low

    def _is_written(self, queue_offset: int) -> bool:
        file = self.sequence.find(queue_offset * 20)
        assert file is not None
        return load_i32(file.memory, queue_offset * 20 - file.first_offset + 8) > 0

    def truncate_to(self, log_offset: int, is_torn: bool) -> None:
        """Forget the units of records at and after a log offset.

        `is_torn`: a crash may have left anything behind the end, so look and clear it (Q3).
        """
        old_end = self.max_offset
        self._end_at(self.first_at(log_offset))
        if self.sequence.zero_tail(self.max_offset * 20, old_end * 20, is_torn):
            self.is_dirty = True

    def _end_at(self, queue_offset: int) -> None:
        """Make `queue_offset` the end; files that begin beyond it go.

        A queue that has come far keeps a file, if only for its name, which says how far.
        """
        end = queue_offset * 20
        self.sequence.remove_after(max(end, self.sequence.first_offset() + 1) if end else 0)
        self.max_offset = self.next_offset = queue_offset
        self._synced_to = min(self._synced_to, end)
        self._file = None
        self.log_end = self.born_at
        last = self.unit(queue_offset - 1)
        if last is not None:
            self.log_end = last[2] if last[1] == FILLER_SIZE else last[0] + last[1]

    def take_unsynced_files(self) -> list[MappedFile]:
        """The files written since the last call."""
        files = [file for file in self.sequence.files if file.end_offset() > self._synced_to]
        self._synced_to = self.max_offset * 20
        return files

    def drop_below(self, log_offset: int) -> None:
        """Raise min_offset past the units whose records are gone, and remove emptied files."""
        for file in self.hide_below(log_offset):
            self.sequence.remove(file)

    def hide_below(self, log_offset: int) -> list[MappedFile]:
        """Raise min_offset past the units of records before a log offset; see `hide_before`."""
        return self.hide_before(self.first_at(log_offset))

    def hide_before(self, queue_offset: int) -> list[MappedFile]:
        """Raise min_offset; the files in which nothing is visible, taken out, never the last.

        The caller removes them, oldest first.
        """
        self.min_offset = max(self.min_offset, min(queue_offset, self.max_offset))
        return self.sequence.take_below(self.min_offset * 20)

    def clear(self) -> None:
        """Forget every unit and remove the files."""
        self.sequence.remove_after(0)
        self._forget()
        self.is_dirty = True

    def let_go(self) -> None:
        """Forget every unit; the files are somebody else's to remove."""
        self.sequence.let_go()
        self._forget()
        self.is_dirty = False

    def _forget(self) -> None:
        self._file = None
        self.min_offset = self.max_offset = self.next_offset = 0
        self._synced_to = 0
        self.log_end = self.born_at
