"""LogTableWalk reads the records of a commit log, from any position in it, and checks each of them.

`record_check` decides whether a record is sound. So a walk can begin in the middle of a file:
`find` searches the next position of a sound record, and a copy of a record in a message's body is
not mistaken for one.

A walk goes through a *view*, a piece of a file; `base` is the log offset at which it begins.
Positions are in the view.

W1. Only sound records are stepped over: at anything else `take` stops and returns its finding.
W2. The log may be written meanwhile. A record without the record CRC whose properties end in a zero
    byte may be one whose end is not written yet: it counts as unsound.
"""

from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.pipeline.arrow.message_columns import MessageColumns
from aerobee.protocol.message.record import TORN
from aerobee.protocol.message.record_check import SOUND, UNSOUND, RecordCheck

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        address,
        bytes_address,
        bytes_at,
        same_bytes,
    )

# What `take` came to.
FULL = 0  # the columns are: finish them, and go on at `position`
ENDED = 1  # of what was to be walked through
SPECIAL = 2  # the record at `position` is for the caller, who skips `record_size`
WRONG = 3  # no sound record at `position`; `finding` says what is there

ALWAYS_MS = 2**63 - 1
"""The end of a time range that has none."""

# C twins of the numbers the hot code compares with.
_FULL = FULL
_ENDED = ENDED
_SPECIAL = SPECIAL
_WRONG = WRONG
_SOUND = SOUND
_TORN = TORN
_UNSOUND = UNSOUND
_SPECIAL_FLAGS = 0xC1  # compressed, or a batch inside


def is_compiled() -> bool:
    return cython.compiled


class LogTableWalk:
    """Copies records of chosen topics and store times into columns; all others are only checked."""

    __slots__ = (
        "_check",
        "_columns",
        "_is_chosen",
        "_record",
        "_time_end",
        "_time_start",
        "_topic",
        "_topic_bytes",
        "_topic_size",
        "_topics",
        "finding",
        "position",
        "record_size",
        "store_timestamp",
    )

    def __init__(
        self, columns: MessageColumns, topics: frozenset[bytes], time_start: int, time_end: int
    ) -> None:
        """No topics: all topics. A record is chosen by its store time, in [time_start,
        time_end)."""
        self._columns = columns
        self._check = RecordCheck()
        self._record = self._check.record
        self._topics = topics
        self._time_start = time_start
        self._time_end = time_end
        # Neighbours are often of one topic: the last answer is kept.
        self._topic_bytes = b""
        self._topic = bytes_address(self._topic_bytes)
        self._topic_size = -1
        self._is_chosen = False
        self.finding = 0
        self.position = 0
        self.record_size = 0
        self.store_timestamp = 0

    def take(self, view: memoryview, position: int, end: int, base: int, file_end: int) -> int:
        """Take the records that begin at [position, end), of a file that ends at the log offset
        `file_end`. After WRONG, `record_size` is an unchecked number and may be anything."""
        if not 0 <= position <= len(view) or end > len(view):
            raise Misuse(f"[{position}, {end}) is not within {len(view)} bytes")
        memory = address(view)
        limit = len(view)
        check = self._check
        record = self._record
        columns = self._columns
        while True:
            self.position = position
            if position >= end:
                return _ENDED
            if columns.is_full():
                return _FULL
            self.finding = check.judge(memory, position, limit, base, file_end, False)
            self.record_size = record.size
            if self.finding == _SOUND and self._is_unfinished(memory):
                self.finding = _UNSOUND
            if self.finding != _SOUND:
                return _WRONG
            self.store_timestamp = record.store_timestamp
            if (
                record.store_timestamp >= self._time_start
                and record.store_timestamp < self._time_end
                and self._is_wanted(memory)
            ):
                if record.sys_flag & _SPECIAL_FLAGS:
                    return _SPECIAL
                columns.add_record(memory, record)
            position += record.size

    def _is_unfinished(self, memory: memoryview) -> bool:
        """Whether the record just found sound is unsound by W2."""
        if self._check.has_crc:
            return False
        record = self._record
        end = record.properties_start + record.properties_size
        return record.properties_size > 0 and memory[end - 1] == 0

    def _is_wanted(self, memory: memoryview) -> bool:
        """Whether the record just read is of a chosen topic."""
        if not self._topics:
            return True
        record = self._record
        size = record.topic_size
        if size != self._topic_size or not same_bytes(
            memory, record.topic_start, self._topic, 0, size
        ):
            self._topic_bytes = bytes_at(memory, record.topic_start, size)
            self._topic = bytes_address(self._topic_bytes)
            self._topic_size = size
            self._is_chosen = self._topic_bytes in self._topics
        return self._is_chosen

    def find(self, view: memoryview, position: int, base: int, log_end: int) -> int:
        """Return the first position from `position` on where a sound record begins, or -1.

        A record may begin in the view and end after it: then its position is returned with the
        finding TORN, and the caller looks again with `record_size` bytes from there. No record
        reaches beyond `log_end`, a log offset. The last 35 bytes are not searched.
        """
        if not 0 <= position <= len(view):
            raise Misuse(f"{position} is not within {len(view)} bytes")
        memory = address(view)
        limit = len(view)
        check = self._check
        at = position - 1
        while True:
            at = check.find_next(memory, at + 1, limit, base, log_end, False)
            self.finding = check.finding
            self.record_size = self._record.size
            if at < 0 or self.finding == _TORN or not self._is_unfinished(memory):
                return at
