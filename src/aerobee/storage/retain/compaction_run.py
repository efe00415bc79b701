"""One compaction of one queue: what was kept before and what came since → a new file.

    1  gather  the records since the last time, oldest first: key → its newest message. It ends
               where it should or where the table of keys is full; the next run goes on there.
    2  weigh   what was kept before, but for keys of 1 and deletions that are old: how much it is
    3  copy    the rest of 2, then the messages of 1, into a file of just that size
    4  finish  the file is synced, renamed into its place, and the folders are synced

Laws:
- Of every key that has a message before the new end, the newest is in the new file, unless that
  one says that the key is gone (it has no body) and is older than `deletions_before_ms`.
- Nothing else changes: a crash before 4 leaves the old file, one in it the old or the new.
- A message without a key, which a broker takes none of, is not kept.
- A record that is damaged ends the run with CorruptRecord: nothing may be decided by it.

Each `work` is a part of it, for a disk thread: the core adds units with `add` before, and touches
nothing of the run until the work is done. A part is small, because threads take turns.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

from aerobee.errors import CorruptRecord, DiskFailed
from aerobee.model.properties import find_property
from aerobee.ports.disk import Disk
from aerobee.protocol.message.record import WHOLE, Record
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.index.kept_file import (
    DELETION,
    DIGEST_BYTES,
    KeptEntry,
    KeptFile,
    KeptFileWriter,
    KeptHead,
)
from aerobee.storage.index.kept_files import UNFINISHED

KEY_BYTES = 600
"""What one key takes in the table of a run: digest, place and the dictionary's own."""
ENTRIES_A_PART = 1000
BYTES_A_PART = 4 << 20

PathOfEnd: TypeAlias = Callable[[bytes, int, int], str]
"""(topic, queue id, end) → what the file is called."""


class Unit(NamedTuple):
    """Where a record lies that is to be looked at."""

    queue_offset: int
    file: MappedFile
    position: int
    size: int
    tag_code: int


class _Newest(NamedTuple):
    unit: Unit
    stored_ms: int
    flags: int


class RunPlan(NamedTuple):
    """What a run is about."""

    topic: bytes
    queue_id: int
    before: KeptFile | None
    start: int
    """Queue offset of the first record to look at: where `before` ends."""
    end: int
    """Where to stop."""
    deletions_before_ms: int
    """Deletions that were stored before this go."""
    keys_max: int
    crc_from: int
    """Records from this log offset on carry a CRC."""


class CompactionRun:
    """R1. Between two parts either `is_hungry` (it wants units from `next_offset` on) or not."""

    def __init__(self, disk: Disk, path_of_end: PathOfEnd, plan: RunPlan) -> None:
        self._disk = disk
        self._path_of_end = path_of_end
        self.plan = plan
        self.next_offset = plan.start
        self.outcome: KeptFile | None = None
        """The new file, once it is in its place."""
        self._log_end = 0 if plan.before is None else plan.before.log_end
        self._units: list[Unit] | None = None
        # By digest of the key, in the order of the queue.
        self._newest: dict[bytes, _Newest] = {}
        self._is_full = False
        self._record = Record()
        self._count = self._bytes = self._oldest_ms = 0
        self._parts: Iterator[None] | None = None
        self._path = ""

    @property
    def is_hungry(self) -> bool:
        """Whether there are records left to look at."""
        return self._parts is None and not self._is_full and self.next_offset < self.plan.end

    def add(self, units: list[Unit], next_offset: int) -> None:
        """What the next part looks at, and where the one after it begins."""
        self._units = units
        self.next_offset = next_offset

    def work(self) -> None:
        """Do one part. On a disk thread."""
        if self._units is not None:
            units, self._units = self._units, None
            for unit in units:
                if not self._gather(unit):
                    self.next_offset = unit.queue_offset
                    self._is_full = True
                    break
            return
        if self._parts is None:
            self._parts = self._written()
        next(self._parts, None)

    def discard(self) -> None:
        """Nobody wants it any more: remove what was made, if anything was. On a disk thread."""
        for path in (self._path + UNFINISHED, self._path if self.outcome is not None else ""):
            with suppress(FileNotFoundError):
                if self._path and path:
                    self._disk.remove(path)

    # Gathering.

    def _gather(self, unit: Unit) -> bool:
        """Look at one record; False: its key does not fit into the table any more."""
        record, view = self._record, unit.file.view
        log_offset = unit.file.first_offset + unit.position
        if (
            record.read_from(view, unit.position) != WHOLE
            or (record.size, record.log_offset) != (unit.size, log_offset)
            or (record.queue_id, record.queue_offset) != (self.plan.queue_id, unit.queue_offset)
            or bytes(view[record.topic_start : record.topic_start + record.topic_size])
            != self.plan.topic
            or not record.is_sound_in(view, log_offset >= self.plan.crc_from)
        ):
            raise CorruptRecord(
                "a record that is to be compacted is damaged",
                path=unit.file.disk_file.path,
                position=unit.position,
                log_offset=log_offset,
                hint="restore the file from a replica or a backup; until then the log is kept "
                "from here on",
            )
        start = record.properties_start
        key = find_property(bytes(view[start : start + record.properties_size]), b"KEYS")
        if key is not None and key.strip():
            digest = key_digest(key)
            # Out and in again: the table stays in the order of the queue.
            if self._newest.pop(digest, None) is None and len(self._newest) >= self.plan.keys_max:
                return False
            flags = 0 if record.body_size else DELETION
            self._newest[digest] = _Newest(unit, record.store_timestamp, flags)
        self._log_end = log_offset + unit.size
        return True

    # Writing.

    def _written(self) -> Iterator[None]:
        """Weigh, copy, finish; a pause after each part."""
        plan = self.plan
        fresh = [(digest, newest) for digest, newest in self._newest.items() if self._stays(newest)]
        yield
        for _, newest in fresh:
            self._weigh(newest.unit.size, newest.flags, newest.stored_ms)
        for entries in self._old_parts():
            for entry in entries:
                self._weigh(entry.size, entry.flags, entry.stored_ms)
            yield
        head = KeptHead(self.next_offset, self._log_end, self._count, self._oldest_ms, self._bytes)
        self._path = self._path_of_end(plan.topic, plan.queue_id, head.end)
        self.discard()  # of a run that failed
        writer = KeptFileWriter(self._disk, self._path + UNFINISHED, head)
        yield
        for entries in self._old_parts():
            yield from _paused(self._copy_old(writer, entries))
        yield from _paused(_copy_fresh(writer, fresh))
        file = writer.finish()
        yield
        self._disk.rename(self._path + UNFINISHED, self._path)
        self._sync_folders()
        self.outcome = file

    def _sync_folders(self) -> None:
        """Of the queue, the topic, all topics, and the store: each may be new. One that cannot be
        synced is final, as everywhere: the next sync would say that all is well."""
        folder = self._path
        for _ in range(4):
            folder = folder.rpartition("/")[0]
            try:
                self._disk.sync_directory(folder)
            except OSError as error:
                raise DiskFailed(
                    f"a sync of {folder} failed: {error}",
                    hint="the store takes no more writes; check the disk, then restart",
                ) from error

    def _stays(self, newest: _Newest) -> bool:
        return not newest.flags or newest.stored_ms >= self.plan.deletions_before_ms

    def _weigh(self, size: int, flags: int, stored_ms: int) -> None:
        self._count += 1
        self._bytes += size
        if flags:
            self._oldest_ms = min(stored_ms, self._oldest_ms or stored_ms)

    def _old_parts(self) -> Iterator[list[KeptEntry]]:
        """What stays of what was kept before."""
        before, plan = self.plan.before, self.plan
        for start in range(0, 0 if before is None else before.count, ENTRIES_A_PART):
            assert before is not None
            yield [
                entry
                for entry in before.entries(start, start + ENTRIES_A_PART)
                if entry.digest not in self._newest
                and (not entry.is_deletion or entry.stored_ms >= plan.deletions_before_ms)
            ]

    def _copy_old(self, writer: KeptFileWriter, entries: list[KeptEntry]) -> Iterator[int]:
        before = self.plan.before
        assert before is not None
        for entry in entries:
            view = before.view[entry.position : entry.position + entry.size]
            self._check_kept(before, entry)
            writer.add(entry, view)
            yield entry.size

    def _check_kept(self, before: KeptFile, entry: KeptEntry) -> None:
        """A record that went bad since must not be handed on as if it were whole."""
        record = self._record
        if (
            record.read_from(before.view, entry.position) == WHOLE
            and (record.size, record.log_offset) == (entry.size, entry.log_offset)
            and record.is_sound_in(before.view, entry.log_offset >= self.plan.crc_from)
        ):
            return
        raise CorruptRecord(
            "a record that compaction kept is damaged",
            path=before.disk_file.path,
            position=entry.position,
            log_offset=entry.log_offset,
            hint="restore the file from a backup; until then the log is kept from here on",
        )


def key_digest(key: bytes) -> bytes:
    """What stands for a key: two keys of one digest are not met in a lifetime."""
    return blake2b(key, digest_size=DIGEST_BYTES).digest()


def _copy_fresh(writer: KeptFileWriter, fresh: list[tuple[bytes, _Newest]]) -> Iterator[int]:
    for digest, (unit, stored_ms, flags) in fresh:
        log_offset = unit.file.first_offset + unit.position
        entry = KeptEntry(
            unit.queue_offset, 0, unit.size, flags, unit.tag_code, stored_ms, log_offset, digest
        )
        writer.add(entry, unit.file.slice(unit.position, unit.size))
        yield unit.size


def _paused(sizes: Iterator[int]) -> Iterator[None]:
    """A pause whenever so many bytes, or so many entries, were copied."""
    left = BYTES_A_PART
    for size in sizes:
        left -= size + BYTES_A_PART // ENTRIES_A_PART
        if left <= 0:
            yield
            left = BYTES_A_PART
