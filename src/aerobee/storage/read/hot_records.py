"""One record of the log where it lies, for a caller that is compiled and asks by the hundred
thousand a second.

Only what this process wrote or checked, and what may be shown: of the rest the checksum is looked
at first, by `record_reader`. Called from the core's thread only.
"""

from typing import TYPE_CHECKING

from aerobee.protocol.message.record import Record
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.read.queue_reader import QueueReader

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython


def is_compiled() -> bool:
    return cython.compiled


class HotRecords:
    """H1. After True, `record` says where the parts of the record lie in `file`."""

    __slots__ = ("_log", "_reader", "file", "record")

    def __init__(self, log: FileSequence, reader: QueueReader) -> None:
        """`reader` is told how far the log may be read, and from where on it is believed."""
        self._log = log
        self._reader = reader
        self.record = Record()
        self.file: MappedFile | None = None

    def find(self, log_offset: int) -> bool:
        """Whether a record begins there that may be shown as it is. An offset may come from
        anywhere: what stands there must name this very offset as its own."""
        if log_offset < self._reader.hot_from or log_offset >= self._reader.readable_to:
            return False
        file = self._log.find(log_offset)
        if file is None:
            return False
        self.file = file
        # 0: whole.
        return (
            self.record.read(file.memory, log_offset - file.first_offset, file.size) == 0
            and self.record.log_offset == log_offset
            and log_offset + self.record.size <= self._reader.readable_to
        )
