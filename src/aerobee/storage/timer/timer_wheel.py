"""The timer wheel, file `timerwheel`: for each tick, which units of the timer log belong to it.

Slots of 32 bytes, big-endian; 1,209,600 of them unless told otherwise (14 days of seconds):

    0           8           16          24      28      32
    +-----------+-----------+-----------+-------+-------+
    | time /    | first     | last      | count | 0     |
    | precision | unit      | unit      |       |       |
    +-----------+-----------+-----------+-------+-------+

The slot of a time is number (time / precision) mod slots. A slot that names another time is empty.
The units of a slot are a chain from the last one back (`timer_log`); those before `first` are done
with. A slot that is done with is zeroed.

Laws.
W1  The file is only written by `write_some`, with what `freeze` set aside. What changed since is in
    memory: a slot on the disk never speaks of something that may yet be lost.
W2  A hole in the file has room on the disk before it is written.

The file is made when the first slot is written. `sync` may be called from a disk thread, the rest
belongs to the core's. Agrees with Apache's TimerWheel and Slot.
"""

from typing import TYPE_CHECKING

from aerobee.ports.disk import Disk, DiskFile

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        address,
        load_i32,
        load_i64,
        store_i32,
        store_i64,
    )

SLOT_BYTES = 32
SLOT_COUNT = 2 * 7 * 86_400

_PAGE_BYTES = 4096
_BLOCK_SLOTS = _PAGE_BYTES // SLOT_BYTES
_EMPTY_BLOCK = bytes(_PAGE_BYTES)
_NOTHING = memoryview(b"")
_TICK_MAX = 1 << 47  # of 10 ms: 44,000 years; of 60 s: less than 63 bits


def is_compiled() -> bool:
    return cython.compiled


class Slot:
    """One tick: positions in the timer log. Units of the chain before `first` are done with;
    `waiting` is how many units there are, less those that take back. Never changed once made."""

    __slots__ = ("first", "last", "time_ms", "waiting")

    def __init__(self, time_ms: int, first: int, last: int, waiting: int) -> None:
        self.time_ms = time_ms
        self.first = first
        self.last = last
        self.waiting = waiting

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Slot)
            and self.time_ms == other.time_ms
            and self.first == other.first
            and self.last == other.last
            and self.waiting == other.waiting
        )

    def __repr__(self) -> str:
        return f"Slot({self.time_ms}, {self.first}, {self.last}, {self.waiting})"

    def begun_at(self, first: int) -> "Slot":
        """The same, with what lies before a position done with."""
        return Slot(self.time_ms, first, self.last, self.waiting)


_NO_SLOT = Slot(0, 0, 0, 0)  # as one that is done with stands in the file


class TimerWheel:
    """`_changed` and `_frozen` are by slot number; None there: the slot is done with."""

    __slots__ = (
        "_changed",
        "_disk",
        "_file",
        "_frozen",
        "_has_room",
        "_is_name_new",
        "_memory",
        "_path",
        "_precision_ms",
        "_slot_count",
        "_view",
    )

    def __init__(self, disk: Disk, path: str, slot_count: int, precision_ms: int) -> None:
        self._disk = disk
        self._path = path
        self._slot_count = slot_count
        self._precision_ms = precision_ms
        self._file: DiskFile | None = None
        self._view = _NOTHING
        self._memory = address(self._view)
        self._has_room = bytearray(-(-slot_count * SLOT_BYTES // _PAGE_BYTES))
        self._is_name_new = False
        # Changed since `freeze`; set aside, and yet to be written.
        self._changed: dict[int, Slot | None] = {}
        self._frozen: dict[int, Slot | None] = {}

    @property
    def turn_ms(self) -> int:
        """After so long a time has the slot of an earlier one."""
        return self._slot_count * self._precision_ms

    def load(self) -> bool:
        """Map the file; False if there is none that fits."""
        size = self._slot_count * SLOT_BYTES
        if not self._disk.exists(self._path) or self._disk.size(self._path) != size:
            return False
        self._use(self._disk.open_sparse(self._path))
        return True

    def _use(self, file: DiskFile) -> None:
        self._file = file
        self._view = file.view
        self._memory = address(self._view)

    def reset(self) -> None:
        """Begin anew, without a file."""
        self.close()
        self._changed, self._frozen = {}, {}
        self._has_room = bytearray(len(self._has_room))
        if self._disk.exists(self._path):
            self._disk.remove(self._path)
            self._is_name_new = True

    def close(self) -> None:
        file, self._file = self._file, None
        self._view = _NOTHING
        self._memory = address(self._view)
        if file is not None:
            file.close()

    # Looking.

    def find(self, time_ms: int) -> Slot | None:
        """The slot of a time, if something waits for it."""
        found = self._at(time_ms // self._precision_ms % self._slot_count)
        return found if found is not None and found.time_ms == time_ms else None

    def at_place_of(self, time_ms: int) -> Slot | None:
        """Whatever slot has the place of a time: its own, or one of turns ahead of it or behind."""
        return self._at(time_ms // self._precision_ms % self._slot_count)

    def next_time(self, start_ms: int, end_ms: int) -> int:
        """The first time in [start, end) that something waits for; `end_ms` if nothing does."""
        precision_ms, count = self._precision_ms, self._slot_count
        if end_ms - start_ms > self.turn_ms:
            return self._earliest(start_ms, end_ms)
        tick, end = start_ms // precision_ms, end_ms // precision_ms
        while tick < end:
            number = tick % count
            if number % _BLOCK_SLOTS == 0 and self._is_block_empty(number):
                tick += min(_BLOCK_SLOTS, count - number)
                continue
            found = self._at(number)
            if found is not None and found.time_ms == tick * precision_ms:
                return found.time_ms
            tick += 1
        return end_ms

    def _earliest(self, start_ms: int, end_ms: int) -> int:
        """The same over more than a turn: neighbours are not neighbours in time."""
        earliest_ms = end_ms
        for block in range(0, self._slot_count, _BLOCK_SLOTS):
            if self._is_block_empty(block):
                continue
            for number in range(block, min(block + _BLOCK_SLOTS, self._slot_count)):
                found = self._at(number)
                if found is not None and start_ms <= found.time_ms < earliest_ms:
                    earliest_ms = found.time_ms
        return earliest_ms

    def _is_block_empty(self, number: int) -> bool:
        start = number * SLOT_BYTES
        end = min(start + _PAGE_BYTES, len(self._view))
        if start < end and bytes(self._view[start:end]) != _EMPTY_BLOCK[: end - start]:
            return False
        changed, frozen = self._changed, self._frozen
        for one in range(number, number + _BLOCK_SLOTS):
            if one in changed or one in frozen:
                return False
        return True

    def _at(self, number: int) -> Slot | None:
        found = self._changed.get(number, _NO_SLOT)
        if found is _NO_SLOT and self._frozen:
            found = self._frozen.get(number, _NO_SLOT)
        if found is not _NO_SLOT:
            return found
        if self._file is None:
            return None
        position = number * 32
        tick = load_i64(self._memory, position)
        if not 0 < tick <= _TICK_MAX:
            return None
        return Slot(
            tick * self._precision_ms,
            load_i64(self._memory, position + 8),
            load_i64(self._memory, position + 16),
            load_i32(self._memory, position + 24),
        )

    # Changing.

    def put(self, slot: Slot) -> None:
        self._changed[slot.time_ms // self._precision_ms % self._slot_count] = slot

    def clear(self, time_ms: int) -> None:
        """Nothing waits for this time any more."""
        self._changed[time_ms // self._precision_ms % self._slot_count] = None

    # Saving.

    @property
    def is_changed(self) -> bool:
        """Since it was last frozen."""
        return bool(self._changed)

    def freeze(self) -> None:
        """Set aside what changed, to be written; nothing may be left of the last time."""
        assert not self._frozen
        self._frozen, self._changed = self._changed, {}

    def write_some(self, count_max: int) -> bool:
        """Write some of what was set aside; whether that was the last. OSError: no room now."""
        frozen = self._frozen
        if frozen and self._file is None:
            self._use(self._disk.create_sparse(self._path, self._slot_count * SLOT_BYTES))
            self._is_name_new = True
        while frozen and count_max > 0:
            number, slot = frozen.popitem()  # the first would be looked for past all that are gone
            try:
                self._make_room(number * SLOT_BYTES)
            except OSError:
                frozen[number] = slot
                raise
            self._write(number * SLOT_BYTES, slot)
            count_max -= 1
        return not frozen

    def _write(self, position: int, slot: Slot | None) -> None:
        memory = self._memory
        if slot is None:
            slot = _NO_SLOT  # zeros
        store_i64(memory, position, slot.time_ms // self._precision_ms)
        store_i64(memory, position + 8, slot.first)
        store_i64(memory, position + 16, slot.last)
        store_i32(memory, position + 24, slot.waiting)
        store_i32(memory, position + 28, 0)

    def _make_room(self, position: int) -> None:
        page = position // _PAGE_BYTES
        if not self._has_room[page]:
            start = page * _PAGE_BYTES
            assert self._file is not None
            self._file.reserve(start, min(start + _PAGE_BYTES, len(self._view)))
            self._has_room[page] = 1

    def sync(self) -> None:
        """Blocks until what was written, and the file's name, is on the disk."""
        if self._file is not None:
            self._file.sync()
        if self._is_name_new:
            self._disk.sync_directory(self._path.rpartition("/")[0])
            self._is_name_new = False
