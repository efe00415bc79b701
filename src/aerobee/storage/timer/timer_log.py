"""The timer log, folder `timerlog`: one unit for each message that waits, chained by tick.

A unit, 52 bytes, big-endian:

    0      4          12      16           24        28         36       40      44         52
    +------+----------+-------+------------+---------+----------+--------+-------+----------+
    | 52   | previous | magic | enqueue    | delayed | log      | record | topic | 0        |
    |      | unit     |       | ms         | ms      | offset   | size   | hash  |          |
    +------+----------+-------+------------+---------+----------+--------+-------+----------+

`previous` is the position of the unit before it of the same slot, −1 if there is none; the slot's
time is enqueue + delayed. The magic is 1, with 2 if the message is to be put back when the slot
comes (it waits for longer than the wheel goes), with 4 if it takes another message back.

Files have one size and are named by their first position. A unit is never split: where fewer than
68 bytes are left, [bytes left][int64 0][0xCBD43194] ends the file.

`sync` may be called from a disk thread, the rest belongs to the core's. Agrees with Apache's
TimerLog.
"""

from typing import TYPE_CHECKING, NamedTuple

from aerobee.ports.disk import Disk
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import load_i32, load_i64, store_i32, store_i64

UNIT_BYTES = 52
FILE_BYTES = 100 << 20
FILE_BYTES_MIN = 68

DEFAULT = 1
ROLL = 2
DELETE = 4

_BLANK_BYTES = 16
_BLANK_MAGIC = -875286124  # 0xCBD43194


def is_compiled() -> bool:
    return cython.compiled


class TimerUnit(NamedTuple):
    previous: int
    magic: int
    enqueue_ms: int
    delayed_ms: int
    log_offset: int
    record_size: int
    topic_hash: int

    @property
    def time_ms(self) -> int:
        return self.enqueue_ms + self.delayed_ms


class UnitFields:
    """Of one unit: filled by `TimerLog.look`, used again for the next one."""

    __slots__ = (
        "delayed_ms",
        "enqueue_ms",
        "log_offset",
        "magic",
        "previous",
        "record_size",
        "topic_hash",
    )

    def __init__(self) -> None:
        self.previous = -1
        self.magic = 0
        self.enqueue_ms = 0
        self.delayed_ms = 0
        self.log_offset = 0
        self.record_size = 0
        self.topic_hash = 0


class UnsyncedTimerLog(NamedTuple):
    """What a sync has to do."""

    files: list[MappedFile]
    has_new_names: bool


class TimerLog:
    """T1. Units at positions [first_position, end) are whole."""

    __slots__ = (
        "_directory",
        "_disk",
        "_file_bytes",
        "_files",
        "_names_changed",
        "_newest",
        "_synced_to",
        "end",
    )

    def __init__(self, disk: Disk, directory: str, file_bytes: int) -> None:
        self._files = FileSequence(disk, directory, file_bytes, True)
        self._disk = disk
        self._directory = directory
        self._file_bytes = file_bytes
        self.end = 0
        # The file that was appended to last.
        self._newest: MappedFile | None = None
        # Files that begin before this position are on the disk up to it.
        self._synced_to = 0
        self._names_changed = False

    def load(self, end: int) -> bool:
        """Map the files, whose units end here; False if there are too few of them."""
        self._files.load_what_fits()
        self._names_changed = self._files.names_changed
        self.end = self._synced_to = end
        return end == 0 or self._files.first_offset() < end <= self._files.end_offset()

    def reset(self) -> None:
        """Begin anew, without a file."""
        for name in reversed(self._disk.list_directory(self._directory)):
            self._disk.remove(f"{self._directory}/{name}")
            self._names_changed = True
        self._files = FileSequence(self._disk, self._directory, self._file_bytes, True)
        self._newest = None
        self.end = self._synced_to = 0

    def close(self) -> None:
        self._newest = None
        self._files.close()

    @property
    def first_position(self) -> int:
        return self._files.first_offset()

    # Units.

    def unit(self, position: int) -> TimerUnit | None:
        """The unit at a position; None if there is none."""
        found = UnitFields()
        if not self.look(position, found):
            return None
        return TimerUnit(
            found.previous,
            found.magic,
            found.enqueue_ms,
            found.delayed_ms,
            found.log_offset,
            found.record_size,
            found.topic_hash,
        )

    def look(self, position: int, unit: UnitFields) -> bool:
        """Have `unit` say what stands at a position; False if that is none."""
        file = self._files.find(position)
        if file is None or position - file.first_offset > file.size - 52:
            return False
        place = position - file.first_offset
        memory = file.memory
        magic = load_i32(memory, place + 12)
        # Whatever it is besides, bit 1 says that there is one.
        if load_i32(memory, place) != 52 or magic & ~6 != 1:
            return False
        unit.previous = load_i64(memory, place + 4)
        unit.magic = magic
        unit.enqueue_ms = load_i64(memory, place + 16)
        unit.delayed_ms = load_i32(memory, place + 24)
        unit.log_offset = load_i64(memory, place + 28)
        unit.record_size = load_i32(memory, place + 36)
        unit.topic_hash = load_i32(memory, place + 40)
        return True

    def next_position(self) -> int:
        """Where the next unit goes."""
        left = self._file_bytes - self.end % self._file_bytes
        return self.end if left >= 68 else self.end + left

    def append(
        self,
        previous: int,
        magic: int,
        enqueue_ms: int,
        delayed_ms: int,
        log_offset: int,
        record_size: int,
        topic_hash: int,
    ) -> int:
        """Add a unit; its position. OSError: there is no room for it now."""
        position = self.next_position()
        file = self._newest
        if file is None or not 0 <= position - file.first_offset < file.size:
            file = self._newest = self._file_at(position)
        place = position - file.first_offset
        if place + 52 > file.room:
            file.make_room(place + 52)
        if position != self.end:
            self._end_file(position)
        memory = file.memory
        store_i32(memory, place, 52)
        store_i64(memory, place + 4, previous)
        store_i32(memory, place + 12, magic)
        store_i64(memory, place + 16, enqueue_ms)
        store_i32(memory, place + 24, delayed_ms)
        store_i64(memory, place + 28, log_offset)
        store_i32(memory, place + 36, record_size)
        store_i32(memory, place + 40, topic_hash)
        store_i64(memory, place + 44, 0)
        self.end = position + 52
        return position

    def pass_over(self) -> None:
        """Leave the unit that stands at the next position as it is."""
        self.end = self.next_position() + 52

    def _file_at(self, position: int) -> MappedFile:
        file = self._files.find(position)
        if file is None:
            file = self._files.create(position - position % self._file_bytes)
            self._names_changed = True
        return file

    def _end_file(self, next_file: int) -> None:
        file = self._files.find(self.end)
        assert file is not None
        position = self.end - file.first_offset
        file.make_room(position + _BLANK_BYTES)
        store_i32(file.memory, position, next_file - self.end)
        store_i64(file.memory, position + 4, 0)
        store_i32(file.memory, position + 12, _BLANK_MAGIC)

    # Files.

    def take_unsynced(self) -> UnsyncedTimerLog:
        """What is new, for `sync`."""
        since, self._synced_to = self._synced_to, self.end
        files = [
            file
            for file in self._files.files
            if since < self.end and file.end_offset() > since and file.first_offset < self.end
        ]
        has_new_names, self._names_changed = self._names_changed, False
        return UnsyncedTimerLog(files, has_new_names)

    def sync(self, unsynced: UnsyncedTimerLog) -> None:
        """Blocks until it is on the disk, names and all."""
        for file in unsynced.files:
            file.disk_file.sync()
        if unsynced.has_new_names:
            self._disk.sync_directory(self._directory)
            self._disk.sync_directory(self._directory.rpartition("/")[0])

    def cut(self) -> None:
        """Take away what stands behind the end: a part of what an earlier process wrote."""
        self._files.remove_after(self.end)
        file = self._files.find(self.end)
        if file is not None:
            file.zero_from(self.end - file.first_offset)

    def take_first(self, log_offset_min: int) -> MappedFile | None:
        """The oldest file, taken out, if the records of all of its units are gone; None: not yet.
        The caller removes its name."""
        if len(self._files.files) < 2:
            return None
        file = self._files.files[0]
        if file.end_offset() > self.end:
            return None
        units = (file.size - FILE_BYTES_MIN) // UNIT_BYTES + 1
        newest = self.unit(file.first_offset + (units - 1) * UNIT_BYTES)
        if newest is None or newest.log_offset >= log_offset_min:
            return None
        return self._files.take_first()
