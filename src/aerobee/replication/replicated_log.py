"""ReplicatedLog: the commit log, as the master's side reads it and the slave's side appends to it.

`storage.store.Store` is one. Offsets are log offsets.
"""

from typing import Protocol


class ReplicatedLog(Protocol):
    @property
    def min_offset(self) -> int:
        """The start of the oldest file; 0 of a log that never had one."""

    @property
    def end_offset(self) -> int:
        """The end of the last record."""

    @property
    def flushed_offset(self) -> int:
        """Everything below is on the disk."""

    def log_slices(self, offset: int, limit: int) -> memoryview:
        """Bytes of one log file from `offset` on: at most `limit`, and none behind the end. Empty
        if there are none. The view keeps its memory alive."""

    def append_raw(self, log_offset: int, data: memoryview) -> int:
        """Append the whole records and fillers at the begin of `data`; the number of bytes taken.
        `log_offset` is the end of the log; of an empty log it is the start of its first file.

        An AerobeeError says why the next record is not appended: it is unsound, or the disk has no
        room. Sound records before it are appended all the same."""
