"""One file of the key index: which records hold a key, newest first.

All numbers big-endian; S slots and U units (RocketMQ: 5,000,000 and 20,000,000):

    0       8       16      24      32      36      40           40+4S
    +-------+-------+-------+-------+-------+-------+------------+-------------+
    | begin | end   | begin | end   | slots | next  | S slots of | U units of  |
    | time  | time  | offset| offset| used  | unit  | 4 bytes    | 20 bytes    |
    +-------+-------+-------+-------+-------+-------+------------+-------------+
      unit    0          4             12              16                20
              | key hash | log offset  | seconds since | previous unit of |
              |          |             | begin time    | the same slot    |

A slot (key hash mod S) holds its newest unit; 0 ends a chain, so unit 0 is never used and the next
unit starts at 1. A unit never changes once written: slots, and all of the header but its end
values, can be made again from the units. Only `put` and `rebuild_to` write.

The file is sparse. Room is reserved before anything is written: header and slots with the first
unit, since the next key may want any of them, units 4 MiB at a time.

Agrees with Apache's IndexFile and IndexHeader.
"""

from typing import TYPE_CHECKING

from aerobee.errors import CorruptFile
from aerobee.ports.disk import DiskFile

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        address,
        load_i32,
        load_i64,
        load_u32,
        same_bytes,
        store_i32,
        store_i64,
        store_u32,
        zero_bytes,
    )

    def prefetch(memory: memoryview, position: int) -> None:
        """Nothing: the interpreter has no use for a line in the cache."""


HEADER_BYTES = 40
SLOT_BYTES = 4
UNIT_BYTES = 20

# C twins of the numbers the hot code computes with.
_HEADER_BYTES = HEADER_BYTES
_SLOT_BYTES = SLOT_BYTES
_UNIT_BYTES = UNIT_BYTES
_SIGN_BIT = 0x80000000
_SECONDS_MAX = 0x7FFFFFFF  # Java's int
_TIME_MAX = 1 << 62  # differences of two times up to here fit into 64 bits

_STEP_BYTES = 4 << 20  # 200,000 keys

_ZERO_BYTES = 4096
_ZEROS_VIEW = memoryview(bytes(_ZERO_BYTES))
_ZEROS = address(_ZEROS_VIEW)


def is_compiled() -> bool:
    return cython.compiled


def file_bytes(slots: int, units: int) -> int:
    """The size of a file."""
    return HEADER_BYTES + SLOT_BYTES * slots + UNIT_BYTES * units


def index_hash(text_hash: int) -> int:
    """A 32-bit text hash as units hold it: Java's Math.abs, and 0 for the one int that has none."""
    if text_hash < _SIGN_BIT:
        return text_hash
    return _SIGN_BIT - (text_hash - _SIGN_BIT) if text_hash > _SIGN_BIT else 0


class KeyIndexFile:
    """A file of the index, on the mapped bytes of a `DiskFile`.

    F1. 1 <= next_unit <= units; units 1 .. next_unit - 1 are written, all above are zero.
    F2. Chains go down: a unit's previous unit is a smaller number. So a walk ends in any bytes.
    F3. Log offsets do not go down from one unit to the next.
    F4. Room is reserved for the first `_reserved` bytes: for the units below `_room`, none if 0.
    """

    __slots__ = (
        "_memory",
        "_reserved",
        "_room",
        "_slots",
        "_units_start",
        "_view",
        "begin_offset",
        "begin_timestamp",
        "disk_file",
        "end_offset",
        "end_timestamp",
        "is_dirty",
        "next_unit",
        "slots_used",
        "units",
    )

    def __init__(self, disk_file: DiskFile, slots: int, units: int) -> None:
        """Open a file, or a new one of zeros. CorruptFile if its header cannot be believed."""
        self.disk_file = disk_file
        self.is_dirty = False
        self._view = disk_file.view
        if len(self._view) != file_bytes(slots, units):
            raise CorruptFile(
                f"a key index file of {len(self._view)} bytes, not {file_bytes(slots, units)}",
                path=disk_file.path,
                hint=f"was it written with other settings than {slots} slots and {units} units?",
            )
        self._memory = address(self._view)
        self._slots = slots
        self.units = units
        self._units_start = _HEADER_BYTES + _SLOT_BYTES * slots
        self._reserved = 0
        self._room = 0
        self.begin_timestamp = load_i64(self._memory, 0)
        self.end_timestamp = load_i64(self._memory, 8)
        self.begin_offset = load_i64(self._memory, 16)
        self.end_offset = load_i64(self._memory, 24)
        self.slots_used = load_i32(self._memory, 32)
        # Apache may not have written the header of a file that is still empty.
        self.next_unit = load_i32(self._memory, 36) or 1
        if not (
            1 <= self.next_unit <= units
            and 0 <= self.slots_used <= self.next_unit
            and 0 <= self.begin_offset <= self.end_offset
        ):
            raise CorruptFile("the header of a key index file is damaged", path=disk_file.path)

    def prime(self, end_timestamp: int, end_offset: int) -> None:
        """Begin where the previous file ended.

        Not written: the first `put` replaces all of it, after it counted its unit's seconds from
        here, as Apache does.
        """
        self.begin_timestamp = end_timestamp
        self.end_timestamp = end_timestamp
        self.begin_offset = end_offset
        self.end_offset = end_offset

    def is_full(self) -> bool:
        return self.next_unit >= self.units

    def put(self, key_hash: int, log_offset: int, store_timestamp: int) -> bool:
        """Add a unit for a key (by its `index_hash`); False if the file is full.

        OSError, and nothing added, if there is no room on the disk.
        """
        unit = self.next_unit
        if unit >= self._room:
            if unit >= self.units:
                return False
            self._make_room(unit)
        memory = self._memory
        slot_at = _HEADER_BYTES + _SLOT_BYTES * (key_hash % self._slots)
        previous = load_i32(memory, slot_at)
        # By arithmetic: a branch here is a coin toss that waits for a load from far away.
        is_used = (previous > 0) & (previous < unit)
        previous *= is_used
        self.slots_used += 1 - is_used
        seconds = 0
        # Compared first: the difference of two arbitrary stamps may not fit.
        if 0 < self.begin_timestamp < store_timestamp:
            elapsed = (store_timestamp - self.begin_timestamp) // 1000
            seconds = elapsed if elapsed < _SECONDS_MAX else _SECONDS_MAX
        unit_at = self._units_start + _UNIT_BYTES * unit
        store_u32(memory, unit_at, key_hash)
        store_i64(memory, unit_at + 4, log_offset)
        store_i32(memory, unit_at + 12, seconds)
        store_i32(memory, unit_at + 16, previous)
        store_i32(memory, slot_at, unit)
        # In this order, because the kernel may write the page out between any two: begin is never
        # above end, and a header that counts units has the begin that recovery judges it by.
        self.end_timestamp = store_timestamp
        self.end_offset = log_offset
        store_i64(memory, 8, store_timestamp)
        store_i64(memory, 24, log_offset)
        if unit == 1:
            self.begin_timestamp = store_timestamp
            self.begin_offset = log_offset
            store_i64(memory, 0, store_timestamp)
            store_i64(memory, 16, log_offset)
        self.next_unit = unit + 1
        store_i32(memory, 32, self.slots_used)
        store_i32(memory, 36, unit + 1)
        self.is_dirty = True
        return True

    def _make_room(self, unit: int) -> None:
        """Have room for everything up to a unit, and for some more."""
        end = self._units_start + _UNIT_BYTES * (unit + 1)
        end = min(-(-end // _STEP_BYTES) * _STEP_BYTES, len(self._view))
        if end > self._reserved:
            self.disk_file.reserve(self._reserved, end)
            self._reserved = end
        self._room = (self._reserved - self._units_start) // _UNIT_BYTES

    def expect(self, key_hash: int) -> None:
        """Fetch the slot that a `put` will ask for soon: it lies anywhere in 20 MB."""
        prefetch(self._memory, _HEADER_BYTES + _SLOT_BYTES * (key_hash % self._slots))

    def find(self, key_hash: int, begin_ms: int, end_ms: int, limit: int) -> list[int]:
        """Log offsets of at most `limit` records, newest first, stored in [begin_ms, end_ms].

        Units know their time to the second, so records up to a second outside are found as well,
        and keys of the same hash too: the caller looks into the records. A record is given once
        even if its keys repeat.
        """
        found: list[int] = []
        base = _bounded(self.begin_timestamp)
        end_ms = _bounded(end_ms)
        if end_ms < base:
            return found
        highest = (end_ms - base) // 1000
        begin_ms = _bounded(begin_ms)
        lowest = (begin_ms - base) // 1000 if begin_ms > base else 0
        memory = self._memory
        last_offset = -1
        unit = load_i32(memory, _HEADER_BYTES + _SLOT_BYTES * (key_hash % self._slots))
        above = self.next_unit
        while 0 < unit < above and len(found) < limit:
            above = unit  # keeps F2 whatever the bytes say
            unit_at = self._units_start + _UNIT_BYTES * unit
            # The first unit's seconds were counted from the previous file's end.
            seconds = load_i32(memory, unit_at + 12) if unit > 1 else 0
            if seconds < lowest:
                break
            if seconds <= highest and load_u32(memory, unit_at) == key_hash:
                offset = load_i64(memory, unit_at + 4)
                if offset != last_offset and self.begin_offset <= offset <= self.end_offset:
                    found.append(offset)
                    last_offset = offset
            unit = load_i32(memory, unit_at + 16)
        return found

    def unit_offset(self, unit: int) -> int:
        """The log offset in a unit, written or not."""
        self._check_unit(unit)
        return load_i64(self._memory, self._units_start + _UNIT_BYTES * unit + 4)

    def unit_timestamp(self, unit: int) -> int:
        """When the record in a unit was stored, up to a second too early."""
        self._check_unit(unit)
        seconds = load_i32(self._memory, self._units_start + _UNIT_BYTES * unit + 12)
        return _bounded(self.begin_timestamp) + (1000 * seconds if unit > 1 else 0)

    def rebuild_to(self, unit_count: int, end_timestamp: int) -> None:
        """Make this the file that it was when it held `unit_count` units.

        For the time after a crash: those units are on the disk; slots, header and later units may
        be of any age. CorruptFile if the units cannot be what `put` wrote; the slots are spoiled
        then.
        """
        if not 0 < unit_count < self.units:
            raise CorruptFile(
                f"a key index file of {self.units} units cannot hold {unit_count}",
                path=self.disk_file.path,
            )
        self._make_room(unit_count)
        self.is_dirty = True
        zero_bytes(self._memory, _HEADER_BYTES, self._units_start - _HEADER_BYTES)
        damaged = self._chain_units(unit_count)
        if damaged:
            raise CorruptFile(f"unit {damaged} is damaged", path=self.disk_file.path)
        self._zero_units_from(unit_count + 1)
        self.next_unit = unit_count + 1
        self.end_offset = self.unit_offset(unit_count)
        self.end_timestamp = end_timestamp
        store_i64(self._memory, 8, self.end_timestamp)
        store_i64(self._memory, 24, self.end_offset)
        store_i32(self._memory, 32, self.slots_used)
        store_i32(self._memory, 36, self.next_unit)

    def _check_unit(self, unit: int) -> None:
        if not 0 < unit < self.units:
            raise CorruptFile(f"there is no unit {unit}", path=self.disk_file.path)

    def _chain_units(self, unit_count: int) -> int:
        """Fill the zeroed slots from the first units; the first that `put` cannot have written."""
        memory = self._memory
        self.slots_used = 0
        last_offset = self.begin_offset
        for unit in range(1, unit_count + 1):
            unit_at = self._units_start + _UNIT_BYTES * unit
            key_hash = load_u32(memory, unit_at)
            offset = load_i64(memory, unit_at + 4)
            slot_at = _HEADER_BYTES + _SLOT_BYTES * (key_hash % self._slots)
            previous = load_i32(memory, slot_at)
            if (
                key_hash >= _SIGN_BIT
                or offset < last_offset
                or (unit == 1 and offset != last_offset)
                or load_i32(memory, unit_at + 12) < 0
                or load_i32(memory, unit_at + 16) != previous
            ):
                return unit
            if previous == 0:
                self.slots_used += 1
            store_i32(memory, slot_at, unit)
            last_offset = offset
        return 0

    def _zero_units_from(self, unit: int) -> None:
        """Zero this unit and all above, writing only where something is: the rest may be a hole."""
        position = self._units_start + _UNIT_BYTES * unit
        end = self._units_start + _UNIT_BYTES * self.units
        while position < end:
            position, data_end = self.disk_file.find_data(position)
            while position < data_end:
                size = data_end - position
                # Up to the next page of the file, so that a page is touched once.
                if size > _ZERO_BYTES - position % _ZERO_BYTES:
                    size = _ZERO_BYTES - position % _ZERO_BYTES
                if not same_bytes(self._memory, position, _ZEROS, 0, size):
                    if position + size > self._reserved:
                        self.disk_file.reserve(position, position + size)
                    zero_bytes(self._memory, position, size)
                position += size


def _bounded(time_ms: int) -> int:
    if time_ms < 0:
        return 0
    return time_ms if time_ms < _TIME_MAX else _TIME_MAX
