"""The checking of records one after another: the part of recovery that looks at every byte.

It runs over one file at a time and says why it stopped, with a finding of `record_check`. Called
from the core's thread only.
"""

from typing import TYPE_CHECKING

from aerobee.protocol.message.record_check import RecordCheck
from aerobee.storage.files.mapped_file import MappedFile

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython


def is_compiled() -> bool:
    return cython.compiled


class LogScan:
    """How far a scan has come, and what it has seen."""

    __slots__ = (
        "_check",
        "_needs_crc",
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
        self._check = RecordCheck()
        self.position = 0
        self.count = 0
        self.last_timestamp = 0
        self.is_all_crc = True

    def run(self, file: MappedFile, position: int) -> int:
        """Check records from `position` to the first that does not hold; what is there instead.

        `self.position` is then where it stopped.
        """
        check = self._check
        memory = file.memory
        base = file.first_offset
        file_end = base + file.size
        while True:
            self.position = position
            if self._skips_checksums:
                found = check.judge_place(memory, position, file.size, base, file_end)
                has_crc = found == 0 and check.record.has_crc(memory)
            else:
                found = check.judge(memory, position, file.size, base, file_end, self._needs_crc)
                has_crc = check.has_crc
            if found != 0:
                return found
            if not has_crc:
                self.is_all_crc = False
            self.last_timestamp = check.record.store_timestamp
            self.count += 1
            position += check.record.size
