"""One consume queue of a topic with inner batches: each unit is of a record with many messages.

    batchconsumequeue/{topic}/{queue id}/00000000000000000000 ...

A unit, 46 bytes, big-endian:

    0        8      12     20        28       36      38        42         46
    +--------+------+------+---------+--------+-------+---------+----------+
    | log    | size | tag  | store   | first  | count | compact | reserved |
    | offset |      | code | time ms | queue  |       | offset  |          |
    |        |      |      |         | offset |       | -1      | 0        |
    +--------+------+------+---------+--------+-------+---------+----------+

Files are named by the byte at which they begin. Unlike in a `ConsumeQueue` the place of a unit says
nothing about its queue offset: units are searched by halving. A unit of size 0 was never written.

Agrees with Apache's BatchConsumeQueue. Called from the core's thread only.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from aerobee.ports.disk import Disk
from aerobee.protocol.primitives.big_endian import (
    load_i16,
    load_i32,
    load_i64,
    store_i16,
    store_i32,
    store_i64,
)
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile

UNIT_BYTES = 46
SIZE_MAX = 0x7FFFFFFF  # an int32
COUNT_MAX = 32767  # an int16
BASE_MAX = (1 << 62) - 1  # far from the end of an int64, whatever is added
NOT_COMPACTED = -1


class BatchUnit(NamedTuple):
    log_offset: int
    size: int
    tag_code: int
    store_timestamp: int
    base_offset: int
    """The queue offset of the first message."""
    message_count: int
    """How many messages the record holds."""


class BatchConsumeQueue:
    """The units of one queue.

    B1. Units rise: a later one has a later log offset, and begins at or after the end of the one
        before; offsets between two are of no message.
    B2. min_offset is the first message of the first kept unit, max_offset follows the last of the
        last; both are where the queue ended if no unit is kept.
    B3. Bytes after the last unit are zero.
    """

    __slots__ = (
        "_end",
        "_start",
        "born_at",
        "is_dirty",
        "log_end",
        "max_offset",
        "min_offset",
        "queue_id",
        "sequence",
        "topic",
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
        # Numbers of units, counted from byte 0 of the sequence: the kept ones are [start, end).
        self._start = 0
        self._end = 0
        self.min_offset = 0
        self.max_offset = 0
        self.born_at = born_at
        # Where the record of the newest unit ends in the log.
        self.log_end = born_at
        # Changed since the last checkpoint.
        self.is_dirty = False

    # Reading.

    def find(self, queue_offset: int) -> BatchUnit | None:
        """The unit of the record that holds a message; None if the queue has no such message."""
        number = self._first(lambda unit: unit.base_offset > queue_offset)
        if number == self._start:
            return None
        unit = self._unit(number - 1)
        return unit if queue_offset < unit.base_offset + unit.message_count else None

    def first_since(self, time_ms: int) -> int:
        """The first queue offset whose record was stored then or later; max_offset if none was."""
        number = self._first(lambda unit: unit.store_timestamp >= time_ms)
        return self.max_offset if number == self._end else self._unit(number).base_offset

    def _first(self, holds: Callable[[BatchUnit], bool]) -> int:
        """The number of the first kept unit of which something holds, as of all behind it; the end
        if it holds of none."""
        return bisect_left(
            range(self._end), True, self._start, key=lambda number: holds(self._unit(number))
        )

    def _unit(self, number: int) -> BatchUnit:
        view, position = self._place(number)
        return BatchUnit(
            load_i64(view, position),
            load_i32(view, position + 8),
            load_i64(view, position + 12),
            load_i64(view, position + 20),
            load_i64(view, position + 28),
            load_i16(view, position + 36),
        )

    def _place(self, number: int) -> tuple[memoryview, int]:
        file = self.sequence.find(number * UNIT_BYTES)
        assert file is not None
        return file.view, number * UNIT_BYTES - file.first_offset

    def end_at(self, log_offset: int) -> int:
        """Where the queue would end without the records at and after a log offset."""
        number = self._first_at(log_offset)
        if number == self._start:
            return self.min_offset
        last = self._unit(number - 1)
        return last.base_offset + last.message_count

    # Writing.

    def append(
        self,
        log_offset: int,
        size: int,
        tag_code: int,
        store_timestamp: int,
        base_offset: int,
        message_count: int,
    ) -> bool:
        """Add the unit of a record of so many messages; False if the queue has it already.

        False too for numbers that no unit can hold: they are a sender's words, and one who lies
        must not stop the dispatch of everybody's messages.
        """
        if not (0 < size <= SIZE_MAX and 0 < message_count <= COUNT_MAX):
            return False
        if not 0 <= base_offset <= BASE_MAX:
            return False
        if log_offset < self.log_end:
            return False
        if base_offset < self.max_offset:
            if base_offset != 0:
                return False
            # The topic was deleted and made anew: its offsets begin again, further on in the log.
            self.clear()
        if self._end * UNIT_BYTES == self.sequence.end_offset():
            self.sequence.create(self._end * UNIT_BYTES)
        file = self.sequence.find(self._end * UNIT_BYTES)
        assert file is not None
        position = self._end * UNIT_BYTES - file.first_offset
        file.make_room(position + UNIT_BYTES)
        view = file.view
        store_i64(view, position, log_offset)
        store_i32(view, position + 8, size)
        store_i64(view, position + 12, tag_code)
        store_i64(view, position + 20, store_timestamp)
        store_i64(view, position + 28, base_offset)
        store_i16(view, position + 36, message_count)
        store_i32(view, position + 38, NOT_COMPACTED)
        store_i32(view, position + 42, 0)
        if self._start == self._end:
            self.min_offset = base_offset
        self._end += 1
        self.max_offset = base_offset + message_count
        self.log_end = log_offset + size
        self.is_dirty = True
        return True

    # Recovery and retention.

    def load(self, is_torn: bool) -> None:
        """Map the files and find the end of the written units.

        `is_torn`: a crash may have left files short; what does not fit is removed.
        """
        self.sequence.load_derived(is_torn)
        self._start = self.sequence.first_offset() // UNIT_BYTES
        self._end = self.sequence.end_offset() // UNIT_BYTES
        self._end_at(self._first(lambda unit: unit.size <= 0))

    def truncate_to(self, log_offset: int, is_torn: bool) -> None:
        """Forget the units of records at and after a log offset.

        `is_torn`: a crash may have left anything behind the end, so look and clear it (keeps B3).
        """
        old_end = self._end
        self._end_at(self._first_at(log_offset))
        if self.sequence.zero_tail(self._end * UNIT_BYTES, old_end * UNIT_BYTES, is_torn):
            self.is_dirty = True

    def take_unsynced_files(self) -> list[MappedFile]:
        """The files that may have been written since the last call: few, so all of them."""
        return list(self.sequence.files)

    def drop_below(self, log_offset: int) -> None:
        """Raise min_offset past the units whose records are gone, and remove emptied files."""
        for file in self.hide_below(log_offset):
            self.sequence.remove(file)

    def hide_below(self, log_offset: int) -> list[MappedFile]:
        """Raise min_offset past the units of records before a log offset; the files in which
        nothing is visible, taken out, never the last. The caller removes them, oldest first."""
        self._start = self._first_at(log_offset)
        self.min_offset = (
            self.max_offset if self._start == self._end else self._unit(self._start).base_offset
        )
        return self.sequence.take_below(self._start * UNIT_BYTES)

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
        self._start = self._end = 0
        self.min_offset = self.max_offset = 0
        self.log_end = self.born_at

    def _first_at(self, log_offset: int) -> int:
        """The number of the first kept unit whose record lies at or after a log offset."""
        return self._first(lambda unit: unit.size <= 0 or unit.log_offset >= log_offset)

    def _end_at(self, number: int) -> None:
        """Make this the end; files that begin beyond it go."""
        self.sequence.remove_after(number * UNIT_BYTES)
        self._end = number
        if number == self._start:
            self.max_offset = self.min_offset
            self.log_end = self.born_at
            return
        last = self._unit(number - 1)
        self.min_offset = self._unit(self._start).base_offset
        self.max_offset = last.base_offset + last.message_count
        self.log_end = last.log_offset + last.size
