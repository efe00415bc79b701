"""Reading one record of the log: by its log offset, by a key, by unique id.

What comes from here was asked for by a person or a tool, now and then: every record is checked
against its checksums before it is handed out, wherever it lies.
"""

from typing import TYPE_CHECKING

from aerobee.errors import CorruptRecord
from aerobee.protocol.message.record import WHOLE, Record
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.index.key_index import KeyIndex

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython


def is_compiled() -> bool:
    return cython.compiled


class RecordReader:
    """Single records of one log."""

    __slots__ = ("_log", "_record", "crc_from", "index", "readable_to")

    def __init__(self, log: FileSequence) -> None:
        self._log = log
        # Set once the index is open: recovering it takes timestamps from here.
        self.index: KeyIndex | None = None
        self._record = Record()
        # Log offsets: records from here on carry a CRC; may be read.
        self.crc_from = 0
        self.readable_to = 0

    def at(self, log_offset: int) -> memoryview | None:
        """The record at a log offset; None if no record begins there.

        An offset may come from anywhere (a message id is a number that someone sent): what stands
        there must name this very offset as its own. CorruptRecord if it does, but is damaged.
        """
        record = self._record
        file = self.find(log_offset, record)
        if file is None:
            return None
        return file.slice(record.position, record.size)

    def find(self, log_offset: int, record: Record) -> MappedFile | None:
        """Have `record` say what lies at a log offset, and where in which file; None as `at`."""
        file = self._log.find(log_offset)
        if file is None or log_offset < 0 or log_offset >= self.readable_to:
            return None
        position = log_offset - file.first_offset
        if record.read(file.memory, position, file.size) != 0 or record.log_offset != log_offset:
            return None
        if log_offset + record.size > self.readable_to:
            return None
        if not record.is_sound(file.memory, log_offset >= self.crc_from):
            raise CorruptRecord(
                "a record does not match its checksum",
                path=file.disk_file.path,
                position=position,
                log_offset=log_offset,
                hint="restore the file from a replica or a backup",
            )
        return file

    def is_at_hand(self, start: int, end: int) -> bool:
        """Whether these log offsets lie in one file, and in memory."""
        file = self._log.find(start)
        if file is None or end > file.end_offset():
            return False
        return file.disk_file.is_resident(start - file.first_offset, end - file.first_offset)

    def cold_part(self, log_offset: int, size: int) -> memoryview | None:
        """The bytes of a record if reading them would wait for the disk; None if it would not."""
        file = self._log.find(log_offset)
        if file is None:
            return None
        start = log_offset - file.first_offset
        end = min(start + max(size, 0), file.size)
        if file.disk_file.is_resident(start, end):
            return None
        return file.slice(start, end - start)

    def store_timestamp_at(self, log_offset: int) -> int | None:
        """When the record at a log offset was stored; None if no record begins there."""
        file = self._log.find(log_offset)
        if file is None:
            return None
        record = self._record
        if record.read_from(file.view, log_offset - file.first_offset) != WHOLE:
            return None
        return record.store_timestamp if record.log_offset == log_offset else None

    def by_key(
        self, topic: bytes, key: bytes, begin_ms: int, end_ms: int, limit: int
    ) -> list[memoryview]:
        """Records of a topic that hold a key (or have it as unique id), newest first.

        The index keeps hashes: another key of the same hash may be among them.
        """
        if self.index is None:
            return []
        found = []
        for log_offset in self.index.find(topic, key, begin_ms, end_ms, limit):
            record = self.at(log_offset)
            if record is not None:
                found.append(record)
        return found
