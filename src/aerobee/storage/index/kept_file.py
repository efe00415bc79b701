"""Kept files hold what compaction keeps of one queue: the newest message of each key.

A file speaks for all queue offsets before its `end`. It is written once, aside, synced, and renamed
into its place; nothing in it changes after that. Records are the log's bytes as they are, with the
checksums that they were stored with. Big-endian:

    0       8     12    16    24      32      40         48      56
    +-------+-----+-----+-----+-------+-------+----------+-------+------+
    | magic | ver | crc | end | log   | count | oldest   | all   | 0    |   head
    |       | 1   |     |     | end   |       | deletion | bytes |      |
    +-------+-----+-----+-----+-------+-------+----------+-------+------+
    64, 64 bytes each, in order of queue offset:                            entries
    | queue offset 8 | position 8 | size 4 | flags 4 | tag code 8 | stored ms 8 |
    | log offset 8   | digest of the key 16                                     |
    the records, one after the other                                        records

The crc is of the head behind it and of all entries. `log end`: where the last record that was
looked at ends in the log. `oldest deletion`: when the oldest message without a body was stored, 0
if there is none; such a message says that its key is gone, and goes itself after a while.

Nothing here is the core's alone: files are read on any thread, written on a disk thread.
"""

import zlib
from bisect import bisect_left
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from aerobee.errors import CorruptFile
from aerobee.ports.disk import Disk, DiskFile

MAGIC = b"AEROKEPT"
VERSION = 1
HEAD_BYTES = 64
DIGEST_BYTES = 16
DELETION = 1
"""Flag of a message without a body."""

_HEAD = Struct(">8sIIqqqqqq")
_ENTRY = Struct(">qqiiqqq16s")
_OFFSET = Struct(">q")
_CRC_FROM = 16
_TIME_AT = 32

ENTRY_BYTES = _ENTRY.size


class KeptEntry(NamedTuple):
    queue_offset: int
    position: int
    """Where its record begins in the file."""
    size: int
    flags: int
    tag_code: int
    stored_ms: int
    log_offset: int
    """Where the record lay in the log: it says so itself, and is checked by it."""
    digest: bytes
    """Of its key."""

    @property
    def is_deletion(self) -> bool:
        return self.flags & DELETION != 0


class KeptHead(NamedTuple):
    """What is known of a file before its first record is written."""

    end: int
    log_end: int
    entry_count: int
    oldest_deletion_ms: int
    records_bytes: int

    @property
    def file_bytes(self) -> int:
        return HEAD_BYTES + self.entry_count * ENTRY_BYTES + self.records_bytes


class KeptFile:
    """One file, mapped. K1. Its entries rise in queue offset, in position and in time."""

    def __init__(self, disk_file: DiskFile, head: KeptHead) -> None:
        self.disk_file = disk_file
        self.view = disk_file.view
        self.end = head.end
        self.log_end = head.log_end
        self.count = head.entry_count
        self.oldest_deletion_ms = head.oldest_deletion_ms

    @classmethod
    def open(cls, disk: Disk, path: str) -> "KeptFile":
        """CorruptFile: it is not as it was written. Reads all of its entries."""
        disk_file = disk.open(path) if disk.size(path) else None
        head = None if disk_file is None else _read_head(disk_file.view)
        if disk_file is None or head is None:
            raise CorruptFile(
                "messages that compaction kept cannot be read: head or entries are damaged",
                path=path,
                hint="restore the file from a backup; removed, it takes the messages with it "
                "that are not in the log any more",
            )
        return cls(disk_file, head)

    @property
    def first_offset(self) -> int:
        """The first queue offset at which a message was kept; `end` if none was."""
        return self._number(0, 0) if self.count else self.end

    def entry(self, number: int) -> KeptEntry:
        return KeptEntry(*_ENTRY.unpack_from(self.view, HEAD_BYTES + number * ENTRY_BYTES))

    def entries(self, start: int, end: int) -> Iterator[KeptEntry]:
        """Those numbered [start, end), as far as there are."""
        first = HEAD_BYTES + min(start, self.count) * ENTRY_BYTES
        last = HEAD_BYTES + min(end, self.count) * ENTRY_BYTES
        return map(KeptEntry._make, _ENTRY.iter_unpack(self.view[first:last]))

    def first_at(self, queue_offset: int) -> int:
        """The number of the first entry at or after a queue offset; `count` if there is none."""
        return self._first_from(0, queue_offset)

    def first_since(self, time_ms: int) -> int:
        """The number of the first entry that was stored then or later; `count` if none was."""
        return self._first_from(_TIME_AT, time_ms)

    def _first_from(self, at: int, bound: int) -> int:
        return bisect_left(range(self.count), bound, key=lambda number: self._number(number, at))

    def _number(self, number: int, at: int) -> int:
        value: int = _OFFSET.unpack_from(self.view, HEAD_BYTES + number * ENTRY_BYTES + at)[0]
        return value


class KeptFileWriter:
    """A file that is being written, on one disk thread at a time."""

    def __init__(self, disk: Disk, path: str, head: KeptHead) -> None:
        """Makes the file, with room for all of it. OSError if there is none."""
        self._head = head
        self._file = disk.create(path, head.file_bytes)
        self._number = 0
        self._position = HEAD_BYTES + head.entry_count * ENTRY_BYTES

    def add(self, entry: KeptEntry, record: memoryview) -> None:
        """The next message; where its record lies now does not matter."""
        view = self._file.view
        _ENTRY.pack_into(
            view,
            HEAD_BYTES + self._number * ENTRY_BYTES,
            *entry._replace(position=self._position),
        )
        view[self._position : self._position + entry.size] = record
        self._number += 1
        self._position += entry.size

    def finish(self) -> KeptFile:
        """Say that it is whole, and have it on the disk, all but its name."""
        head = self._head
        assert (self._number, self._position) == (head.entry_count, head.file_bytes)
        view = self._file.view
        _HEAD.pack_into(
            view,
            0,
            MAGIC,
            VERSION,
            0,
            head.end,
            head.log_end,
            head.entry_count,
            head.oldest_deletion_ms,
            head.file_bytes,
            0,
        )
        crc = _checksum(view, head.entry_count)
        view[12:_CRC_FROM] = crc.to_bytes(4, "big")
        self._file.sync()
        return KeptFile(self._file, head)


def _read_head(view: memoryview) -> KeptHead | None:
    """What the head says, if it and the entries are as they were written."""
    if len(view) < HEAD_BYTES:
        return None
    magic, version, crc, end, log_end, count, oldest_ms, all_bytes, _ = _HEAD.unpack_from(view, 0)
    if (magic, version, all_bytes) != (MAGIC, VERSION, len(view)):
        return None
    records_bytes = all_bytes - HEAD_BYTES - count * ENTRY_BYTES
    if count < 0 or records_bytes < 0 or crc != _checksum(view, count):
        return None
    return KeptHead(end, log_end, count, oldest_ms, records_bytes)


def _checksum(view: memoryview, count: int) -> int:
    return zlib.crc32(view[_CRC_FROM : HEAD_BYTES + count * ENTRY_BYTES])
