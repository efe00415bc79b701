"""The key index: which records of a topic hold a key, over all index files.

`index/` holds files named by 17 digits, yyyyMMddHHmmssSSS, in the order they were filled. The
dispatcher puts the keys of each record once, in log order:

    topic#<UNIQ_KEY>      then  topic#<key> for each word of KEYS      then  topic#T#<TAGS>

Laws. Everything here follows from the log: a file is named after the store time (UTC) of the record
that opens it, so that an index that was deleted comes back with the same names and bytes. Putting a
record again changes nothing. Only the last file is written. Called from the core's thread only.

The slots of a file are 20 MB, and each key wants another one: a load from memory that would be most
of the cost of a key. So keys wait, up to 16, while their slots are fetched; whoever looks settles
them first, so that nobody sees them wait.

Agrees with Apache's IndexService, which names files by its own clock and opens a new one a record
earlier if that record has no keys.
"""

from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from aerobee.errors import CorruptFile, Misuse
from aerobee.ports.disk import Disk, DiskFile
from aerobee.storage.index.key_index_file import HEADER_BYTES, KeyIndexFile, file_bytes

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        address,
        bytes_address,
        load_i64,
        load_u32,
        store_i64,
        store_u32,
    )
    from aerobee.protocol.primitives.java_hash import text_hash
    from aerobee.storage.index.key_index_file import index_hash

FIND_LIMIT_MAX = 64  # RocketMQ's maxMsgsNumBatch
FILE_BYTES_MAX = 0x7FFFFFFF  # Java maps a file by an int
NAME_DIGITS = 17

_BLANK = 0x20  # separates the words of KEYS
_TAG_PREFIX = b"T#"

_WAITING_MAX = 16  # more are no faster: the memory answers about that many loads at once
_WAITING_BYTES = 20  # hash, log offset, store time


def is_compiled() -> bool:
    return cython.compiled


class KeyIndexConfig(NamedTuple):
    """Sizes of an index file. Files of other sizes do not open: delete `index/` to change them."""

    slots: int = 5_000_000
    """Chains in a file. More make a look-up shorter; each costs 4 bytes."""
    units: int = 20_000_000
    """Keys in a file, plus one. More make fewer files; each costs 20 bytes."""


class KeyIndex:
    """The index files in order; made by `open` after a clean stop, by `recover` after a crash.

    K1. Every file but the last is full, and every file has at least one unit.
    K2. Records below `_newest_offset` are in; of the one at it, the first `_newest_keys` keys are.
    K3. Keys `_settled` to `_waiting` of the memory wait: in for K2, but in no file yet.
    """

    __slots__ = (
        "_config",
        "_directory",
        "_disk",
        "_files",
        "_last",
        "_names_changed",
        "_newest_keys",
        "_newest_offset",
        "_settled",
        "_skip",
        "_waiting",
        "_waiting_memory",
        "_waiting_view",
    )

    def __init__(
        self, disk: Disk, directory: str, config: KeyIndexConfig, files: list[KeyIndexFile]
    ) -> None:
        """Of files that are already believed: see `open` and `recover`."""
        if config.slots < 1 or config.units < 2:
            raise Misuse("a key index file needs a slot and two units at least")
        if file_bytes(config.slots, config.units) > FILE_BYTES_MAX:
            raise Misuse(f"a key index file may have {FILE_BYTES_MAX} bytes at most")
        self._disk = disk
        self._directory = directory
        self._config = config
        self._files = files
        self._last = files[-1] if files else None
        self._names_changed = False
        self._newest_offset = files[-1].end_offset if files else -1
        self._newest_keys = _units_of_last_record(files)
        self._skip = 0
        self._settled = 0
        self._waiting = 0
        self._waiting_view = memoryview(bytearray(_WAITING_MAX * _WAITING_BYTES))
        self._waiting_memory = address(self._waiting_view)

    @classmethod
    def open(cls, disk: Disk, directory: str, config: KeyIndexConfig) -> "KeyIndex":
        """Believe the files, after a clean stop. CorruptFile names one that cannot be believed."""
        names = index_names(disk, directory)
        files = _open_files(disk, directory, names, config, None)
        if len(files) < len(names) - 1:
            _close(files)
            raise CorruptFile("empty", path=f"{directory}/{names[len(files)]}")
        index = cls(disk, directory, config, files)
        # Apache opens a file before it has a key for it.
        index._remove_names(names[len(files) :])
        return index

    @classmethod
    def recover(
        cls,
        disk: Disk,
        directory: str,
        config: KeyIndexConfig,
        dispatched: int,
        unit_count: int,
        store_timestamp_at: Callable[[int], int | None],
        cut_at: int | None = None,
    ) -> "KeyIndex":
        """After a crash: the index of exactly the records below the log offset `dispatched`, or
        below a lower one, at which the log was cut.

        All keys of those records were synced, when the last file held `unit_count` units; later
        writes are on the disk in part. `store_timestamp_at` reads a record's store time from the
        log (None if it is not there any more). CorruptFile if the index is not what was synced:
        `discard` it then, and put the whole log.
        """
        names = index_names(disk, directory)
        files = _open_files(disk, directory, names, config, dispatched)
        while cut_at is not None and files and files[-1].begin_offset >= cut_at:
            files.pop().disk_file.close()
            unit_count = config.units - 1 if files else 0  # K1
        if files:
            try:
                if cut_at is not None:
                    dispatched, units = cut_at, range(unit_count + 1)
                    unit_count = bisect_left(units, cut_at, 1, key=files[-1].unit_offset) - 1
                _cut(files[-1], dispatched, unit_count, store_timestamp_at)
            except CorruptFile:
                _close(files)
                raise
        elif unit_count:
            raise CorruptFile(f"the file of {unit_count} units is missing", path=directory)
        index = cls(disk, directory, config, files)
        index._remove_names(names[len(files) :])
        return index

    # Putting.

    def put_keys_of(
        self,
        prefix_hash: int,
        memory: memoryview,
        unique_start: int,
        unique_size: int,
        keys_start: int,
        keys_size: int,
        tags_start: int,
        tags_size: int,
        log_offset: int,
        store_timestamp: int,
    ) -> int:
        """Put the keys of a record: the values of its UNIQ_KEY, KEYS and TAGS, size 0 if absent.

        `prefix_hash` is `topic_hash(topic)`. A rolled-back half message has no keys: do not call.
        Returns how many keys were not in before.
        """
        if log_offset < self._newest_offset:
            return 0
        if log_offset > self._newest_offset:
            self._newest_offset = log_offset
            self._newest_keys = 0
        self._skip = self._newest_keys
        count = 0
        if unique_size > 0:
            key_hash = text_hash(memory, unique_start, unique_size, prefix_hash)
            count += self._put(key_hash, log_offset, store_timestamp)
        position = keys_start
        end = keys_start + keys_size
        while position < end:
            start = position
            while position < end and memory[position] != _BLANK:
                position += 1
            if position > start:
                key_hash = text_hash(memory, start, position - start, prefix_hash)
                count += self._put(key_hash, log_offset, store_timestamp)
            position += 1
        if tags_size > 0:
            key_hash = text_hash(bytes_address(_TAG_PREFIX), 0, 2, prefix_hash)
            key_hash = text_hash(memory, tags_start, tags_size, key_hash)
            count += self._put(key_hash, log_offset, store_timestamp)
        return count

    def put_keys(
        self,
        topic: bytes,
        unique: bytes,
        keys: bytes,
        tags: bytes,
        log_offset: int,
        store_timestamp: int,
    ) -> int:
        """`put_keys_of` for callers who have no record."""
        text = unique + keys + tags
        after_unique = len(unique)
        after_keys = after_unique + len(keys)
        return self.put_keys_of(
            topic_hash(topic),
            bytes_address(text),
            0,
            after_unique,
            after_unique,
            len(keys),
            after_keys,
            len(tags),
            log_offset,
            store_timestamp,
        )

    def _put(self, key_text_hash: int, log_offset: int, store_timestamp: int) -> int:
        if self._skip > 0:
            self._skip -= 1
            return 0
        if self._waiting == _WAITING_MAX:
            self._settle()
        key_hash = index_hash(key_text_hash)
        at = self._waiting * _WAITING_BYTES
        store_u32(self._waiting_memory, at, key_hash)
        store_i64(self._waiting_memory, at + 4, log_offset)
        store_i64(self._waiting_memory, at + 12, store_timestamp)
        self._waiting += 1
        self._newest_keys += 1
        if self._last is not None:
            self._last.expect(key_hash)
        return 1

    def _settle(self) -> None:
        """Put what waits into the files. If a file cannot be made, the rest goes on waiting."""
        memory = self._waiting_memory
        while self._settled < self._waiting:
            at = self._settled * _WAITING_BYTES
            key_hash = load_u32(memory, at)
            log_offset = load_i64(memory, at + 4)
            store_timestamp = load_i64(memory, at + 12)
            if self._last is None or not self._last.put(key_hash, log_offset, store_timestamp):
                self._roll(store_timestamp).put(key_hash, log_offset, store_timestamp)
            self._settled += 1
        self._settled = 0
        self._waiting = 0

    def _try_to_settle(self) -> None:
        """For those who can do without the newest keys on a full disk."""
        with suppress(OSError):
            self._settle()

    def _roll(self, store_timestamp: int) -> KeyIndexFile:
        """Open the next file, for a record of this store time."""
        name = int(file_name(store_timestamp))
        if self._last is not None:
            name = max(name, int(self._last.disk_file.path[-NAME_DIGITS:]) + 1)
        config = self._config
        disk_file = self._disk.create_sparse(
            f"{self._directory}/{name:0{NAME_DIGITS}}", file_bytes(config.slots, config.units)
        )
        file = KeyIndexFile(disk_file, config.slots, config.units)
        if self._last is not None:
            file.prime(self._last.end_timestamp, self._last.end_offset)
        self._names_changed = True
        self._files.append(file)
        self._last = file
        return file

    # Finding.

    def find(self, topic: bytes, key: bytes, begin_ms: int, end_ms: int, limit: int) -> list[int]:
        """Log offsets of records that may hold the key, newest first, stored in [begin_ms, end_ms].

        At most 64, as in RocketMQ. The caller compares keys and times with the records: hashes
        collide, and times are known to the second. A tag is found as the key `T#<tag>`.
        """
        key_hash = index_hash(text_hash(bytes_address(key), 0, len(key), topic_hash(topic)))
        self._try_to_settle()
        limit = min(limit, FIND_LIMIT_MAX)
        found: list[int] = []
        for file in reversed(self._files):
            if len(found) >= limit:
                break
            if file.begin_timestamp <= end_ms and begin_ms <= file.end_timestamp:
                # One more: a record whose keys span two files is found in both.
                offsets = file.find(key_hash, begin_ms, end_ms, limit - len(found) + 1)
                found += offsets[1:] if found and offsets[:1] == found[-1:] else offsets
            if file.begin_timestamp < begin_ms:
                break
        return found[:limit]

    @property
    def end_offset(self) -> int:
        """The log offset of the last record that has keys; -1 if there is none."""
        self._settle()
        return -1 if self._last is None else self._last.end_offset

    @property
    def newest_file_begin(self) -> int:
        """The log offset of the first record in the newest file; -1 if there is none."""
        self._settle()
        return -1 if self._last is None else self._last.begin_offset

    @property
    def end_timestamp(self) -> int:
        """When that record was stored; 0 if there is none."""
        self._settle()
        return 0 if self._last is None else self._last.end_timestamp

    @property
    def unit_count(self) -> int:
        """Units in the last file: with the dispatched log offset, what `recover` wants to know."""
        self._settle()
        return 0 if self._last is None else self._last.next_unit - 1

    @property
    def paths(self) -> list[str]:
        self._settle()
        return [file.disk_file.path for file in self._files]

    # Keeping.

    def sync_targets(self) -> list[DiskFile]:
        """Files written since the last call: the caller syncs them all."""
        self._settle()
        targets: list[DiskFile] = []
        for file in self._files:
            if file.is_dirty:
                file.is_dirty = False
                targets.append(file.disk_file)
        return targets

    def directory_to_sync(self) -> str | None:
        """The index folder if names came or went since the last call: the caller syncs it."""
        self._settle()
        changed = self._names_changed
        self._names_changed = False
        return self._directory if changed else None

    def remove_below(self, min_log_offset: int) -> list[DiskFile]:
        """Take out the files all of whose records are below the log's begin, never the last.

        The caller closes and removes them, oldest first, and syncs the folder in its own time: one
        that comes back after a crash is found again.
        """
        removed: list[DiskFile] = []
        while len(self._files) > 1 and self._files[0].end_offset < min_log_offset:
            removed.append(self._files.pop(0).disk_file)
        return removed

    def close(self) -> None:
        """Give up the files' handles. What is dirty was synced before, if at all."""
        self._try_to_settle()  # what goes on waiting is put again by the next start
        _close(self._files)
        self._files = []
        self._last = None

    def _remove_names(self, names: list[str]) -> None:
        # Newest first, so that a crash amid it leaves an index without gaps.
        for name in reversed(names):
            self._disk.remove(f"{self._directory}/{name}")
            self._names_changed = True


def discard(disk: Disk, directory: str) -> None:
    """Remove the whole index, newest file first: the log can make it again."""
    names = index_names(disk, directory)
    for name in reversed(names):
        disk.remove(f"{directory}/{name}")
    if names:
        disk.sync_directory(directory)


def index_names(disk: Disk, directory: str) -> list[str]:
    """The names of index files, in order; other files are not ours to judge."""
    names = disk.list_directory(directory)
    return [name for name in names if len(name) == NAME_DIGITS and name.isdecimal()]


def topic_hash(topic: bytes) -> int:
    """The hash of `topic#`, which the hash of each of its keys continues."""
    prefix = topic + b"#"
    return text_hash(bytes_address(prefix), 0, len(prefix), 0)


def file_name(time_ms: int) -> str:
    """yyyyMMddHHmmssSSS of a time since 1970, in UTC, clamped to the years 1970 to 9999."""
    time_ms = min(max(time_ms, 0), 253_402_300_799_999)  # 9999-12-31 23:59:59.999
    seconds, ms = divmod(time_ms, 1000)
    days, second_of_day = divmod(seconds, 86_400)
    hours, second_of_hour = divmod(second_of_day, 3600)
    minutes, second = divmod(second_of_hour, 60)
    # Years of the count begin in March, so that a leap day ends one. 719,468 days lie between
    # 0000-03-01 and 1970-01-01; 400, 100, 4 years and 1 year have 146,097, 36,524, 1,461, 365 days.
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    march_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * march_month + 2) // 5 + 1
    month = march_month + 3 if march_month < 10 else march_month - 9
    year = era * 400 + year_of_era + (1 if month <= 2 else 0)
    return f"{year:04}{month:02}{day:02}{hours:02}{minutes:02}{second:02}{ms:03}"


def _open_files(
    disk: Disk, directory: str, names: list[str], config: KeyIndexConfig, end: int | None
) -> list[KeyIndexFile]:
    """The first files: up to one that never got a unit, or that begins at the log offset `end`.

    A file without units was new when the machine stopped, and may be cut short.
    """
    files: list[KeyIndexFile] = []
    end_offset = 0
    for name in names:
        path = f"{directory}/{name}"
        if disk.size(path) < HEADER_BYTES:
            break
        disk_file = disk.open_sparse(path)
        try:
            if not any(disk_file.view[:HEADER_BYTES]):
                disk_file.close()
                break
            file = KeyIndexFile(disk_file, config.slots, config.units)
            if file.next_unit == 1 or (end is not None and file.begin_offset >= end):
                disk_file.close()
                break
            if file.begin_offset < end_offset:
                raise CorruptFile("records of the file before", path=path)
        except CorruptFile:
            disk_file.close()
            _close(files)
            raise
        end_offset = file.end_offset
        files.append(file)
    return files


def _close(files: list[KeyIndexFile]) -> None:
    for file in files:
        file.disk_file.close()


def _cut(
    file: KeyIndexFile,
    dispatched: int,
    unit_count: int,
    store_timestamp_at: Callable[[int], int | None],
) -> None:
    """Bring the last file back to its first units, which hold the records below `dispatched`."""
    last_offset = file.unit_offset(unit_count)
    next_offset = 0 if unit_count + 1 == file.units else file.unit_offset(unit_count + 1)
    # A unit above that is below the mark says that this was not the last file when it was made.
    if last_offset >= dispatched or 0 < next_offset < dispatched:
        raise CorruptFile("the units are not those that were synced", path=file.disk_file.path)
    if unit_count == file.next_unit - 1:
        end_timestamp: int | None = file.end_timestamp
    else:
        end_timestamp = store_timestamp_at(last_offset)
    if end_timestamp is None:
        end_timestamp = file.unit_timestamp(unit_count)
    file.rebuild_to(unit_count, end_timestamp)


def _units_of_last_record(files: list[KeyIndexFile]) -> int:
    """How many of the last units are of the record at the end, over all files."""
    count = 0
    for file in reversed(files):
        for unit in range(file.next_unit - 1, 0, -1):
            if file.unit_offset(unit) != files[-1].end_offset:
                return count
            count += 1
    return count
