"""LogRange reads ranges of the commit log as they are: bytes for replicas, records of one's own.

`slice` and `record_end` are for a master that sends its log to slaves. The others are for a slave
that looks for the last record which its log shares with its master's: it compares records by their
bytes, so each is checked first. A damaged record differs from the master's, too, but the log behind
it is no other.

Up to the end of the log, not only as far as consumers may read. Slices keep their file mapped for
as long as they are held, whatever retention does with the file. Called from the core's thread only.
"""

from collections.abc import Callable

from aerobee.errors import CorruptRecord
from aerobee.protocol.message.record_check import CHECK_FINDINGS, FILLER, SOUND, RecordCheck
from aerobee.storage.commit.commit_log import CommitLog
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.read.record_reader import RecordReader
from aerobee.storage.read.record_walk import RecordOffsets, RecordWalk

_NOTHING = memoryview(b"")


class LogRange:
    """The log of one store."""

    def __init__(
        self, log: CommitLog, records: RecordReader, newest_record: Callable[[], int]
    ) -> None:
        """`records` is told from where on records carry the record CRC; `newest_record` gives the
        log offset of the newest record that a queue knows, or -1."""
        self._log = log
        self._records = records
        self._newest_record = newest_record
        self._check = RecordCheck()
        self._walk = RecordWalk()

    def slice(self, offset: int, limit: int) -> memoryview:
        """Bytes of one log file from a log offset on, at most so many; empty if there are none."""
        file = self._log.sequence.find(offset)
        size = min(limit, self._log.end_offset() - offset)
        if file is None or size <= 0:
            return _NOTHING
        return file.slice(offset - file.first_offset, size)  # which ends with the file

    def record_end(self, start: int, limit: int) -> int:
        """The last end of a record or filler up to a limit, which lies within the log; if the first
        from `start` on is larger, its end. `start` is the end of one, too."""
        file = self._log.sequence.find(start)
        assert file is not None, f"no log file has offset {start}"
        first = file.first_offset
        walk = self._walk
        found = walk.run(file, start - first, min(file.size, limit - first))
        if found == FILLER:
            # A filler belongs to the record behind it; alone it fills its file.
            return first + walk.position if walk.count else file.end_offset()
        if found != SOUND:
            raise _corrupt(file, walk.position, found)
        if first + walk.position <= limit or walk.count == 1:
            return first + walk.position
        return first + walk.last_position

    def own_record(self, log_offset: int) -> memoryview | None:
        """The record that begins at a log offset, one of `records_in` or `last_record`; None if the
        log does not go so far. CorruptRecord: it is damaged."""
        end = self._log.end_offset()
        file = self._log.sequence.find(log_offset)
        if file is None or log_offset >= end:
            return None
        position = log_offset - file.first_offset
        view = file.view[: min(file.size, end - file.first_offset)]
        needs_crc = log_offset >= self._records.crc_from
        check = self._check
        found = check.judge_in(view, position, file.first_offset, file.end_offset(), needs_crc)
        if found != SOUND:
            raise _corrupt(file, position, found)
        return file.slice(position, check.record.size)

    def last_record(self) -> int | None:
        """The log offset of the last record; None if the log has none.

        From the newest record that a queue knows it is not far: behind that lie records that no
        queue has, and those that are not dispatched yet. Without it the last file is passed over.
        """
        newest = self._newest_record()
        end = self._log.end_offset()
        for file in reversed(self._log.sequence.files):
            if file.first_offset < end:
                start = max(0, newest - file.first_offset)
                last = self._last_in(file, start, min(file.size, end - file.first_offset))
                if last is not None:
                    return file.first_offset + last
        return None

    def _last_in(self, file: MappedFile, start: int, end: int) -> int | None:
        found = self._walk.run(file, start, end)
        if found not in (SOUND, FILLER) and start > 0:
            found = self._walk.run(file, 0, end)  # a damaged queue led to no record
        if found not in (SOUND, FILLER):
            raise _corrupt(file, self._walk.position, found)
        return None if self._walk.count == 0 else self._walk.last_position

    def file_begins(self) -> list[int]:
        """The log offsets at which the files of the log begin, each with a record, in order."""
        end = self._log.end_offset()
        files = self._log.sequence.files
        return [file.first_offset for file in files if file.first_offset < end]

    def records_in(self, log_offset: int) -> RecordOffsets:
        """The log offsets of all records in the file that holds an offset; none outside the log.

        Passes over the whole file, which may wait for the disk. CorruptRecord: not all of it can be
        passed.
        """
        file = self._log.sequence.find(log_offset)
        if file is None:
            return RecordOffsets(self._log.sequence.files[0], 0)
        end = min(file.size, self._log.end_offset() - file.first_offset)
        found = self._walk.run(file, 0, end)
        if found not in (SOUND, FILLER):
            raise _corrupt(file, self._walk.position, found)
        return RecordOffsets(file, self._walk.count)


def _corrupt(file: MappedFile, position: int, found: int) -> CorruptRecord:
    return CorruptRecord(
        f"found {CHECK_FINDINGS[found]}",
        path=file.disk_file.path,
        position=position,
        log_offset=file.first_offset + position,
        hint="restore the file from a replica or a backup",
    )
