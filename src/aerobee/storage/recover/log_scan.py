"""The checking of records one after another: the part of recovery that looks at every byte.

It runs over one file at a time and says why it stopped, as `protocol.record` says what it found,
or with one of three findings of its own. Called from the core's thread only.
"""

from typing import TYPE_CHECKING

from aerobee.protocol.message.record import FINDINGS, Record
from aerobee.storage.files.mapped_file import MappedFile

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

MISPLACED = 10
UNSOUND = 11
WRONG_FILLER = 12

SCAN_FINDINGS = {
    **FINDINGS,
    MISPLACED: "a record that belongs elsewhere",
    UNSOUND: "a record that does not match its checksum",
    WRONG_FILLER: "a filler of the wrong size",
}


def is_compiled() -> bool:
    return cython.compiled


class LogScan:
    """How far a scan has come, and what it has seen."""

    __slots__ = (
        "_needs_crc",
        "_record",
        "_skips_checksums",
        "count",
        "is_all_crc",
        "last_timestamp",
        "position",
    )

    def __init__(self, needs_crc: bool, skips_checksums: bool) -> None:
        """`needs_crc`: a record without the record CRC does not count as sound."""
        self._needs_crc = needs_crc
        self._skips_checksums = skips_checksums
        self._record = Record()
        self.position = 0
        self.count = 0
        self.last_timestamp = 0
        self.is_all_crc = True

    def run(self, file: MappedFile, position: int) -> int:
        """Check records from `position` to the first that does not hold; what is there instead.

        `self.position` is then where it stopped.
        """
        record = self._record
        memory = file.memory
        while True:
            self.position = position
            found = record.read(memory, position, file.size)
            if found != 0:
                if found == 1 and record.size != file.size - position:
                    return 12
                return found
            if record.log_offset != file.first_offset + position:
                return 10
            if not self._skips_checksums and not record.is_sound(memory, self._needs_crc):
                return 11
            if not record.has_crc(memory):
                self.is_all_crc = False
                if self._is_topic_torn(memory):
                    return 11
            self.last_timestamp = record.store_timestamp
            self.count += 1
            position += record.size

    def _is_topic_torn(self, memory: memoryview) -> bool:
        """Whether a sector is missing from the topic, for which nothing but the CRC could vouch. It
        shows as zeros, which no topic has, and dispatch could do nothing with it."""
        start = self._record.topic_start
        for index in range(start, start + self._record.topic_size):
            if memory[index] == 0:
                return True
        return False
