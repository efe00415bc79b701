"""RawWalk passes over bytes of another broker's log and decides how far they may be appended.

A slave gets its master's log as a stream: a piece begins where the slave's own log ends, and ends
anywhere, also inside a record. Appended are whole records and fillers only.

R1. Every record is sound in its place (`record_check`), checksums included. The record CRC is not
    required: records of Apache brokers need not have one.
R2. Behind a record its file has room for a filler, as in every log (L1 of `commit_log`). A filler
    ends its file, and is whole when all bytes up to there have come.
R3. Topic and queue id can be those of a queue. No start gets past a record of which dispatch can
    make none.
R4. A record that has not come whole is waited for, unless it is known to be none already.

The cost of a record is its checksum; no object is made for it. A RawWalk belongs to one thread.
"""

from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.protocol.message.record import FILLER_BYTES, RECORD_BYTES_MIN, TOPIC_BYTES_MAX, Record
from aerobee.protocol.message.record_check import (
    CHECK_FINDINGS,
    MISPLACED,
    RecordCheck,
)
from aerobee.protocol.message.record_check import FILLER as FILLER
from aerobee.protocol.message.record_check import SOUND as SOUND
from aerobee.protocol.message.record_check import TORN as TORN

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, bytes_address, load_i64

# What `run` finds beside FILLER and the damage that `record_check` knows.
INCOMPLETE = 20
CROSSING = 21
NO_QUEUE = 22

RAW_FINDINGS = {
    **CHECK_FINDINGS,
    INCOMPLETE: "a record that has not come whole",
    CROSSING: "a record that does not fit into the log file",
    NO_QUEUE: "a record whose topic or queue id no queue can have",
}

# C twins of the numbers the hot code compares with.
_SOUND = SOUND
_FILLER = FILLER
_TORN = TORN
_MISPLACED = MISPLACED
_INCOMPLETE = INCOMPLETE
_CROSSING = CROSSING
_NO_QUEUE = NO_QUEUE
_FILLER_BYTES = FILLER_BYTES
_RECORD_BYTES_MIN = RECORD_BYTES_MIN
_TOPIC_BYTES_MAX = TOPIC_BYTES_MAX


def is_compiled() -> bool:
    return cython.compiled


class RawWalk:
    """One object serves every piece: its attributes are those of the last `run`."""

    __slots__ = (
        "_allowed",
        "_check",
        "_queue_id_max",
        "_topic_bytes",
        "is_all_crc",
        "last_timestamp",
        "position",
        "size",
    )

    def __init__(self, topic_bytes: bytes, queue_id_max: int) -> None:
        """`topic_bytes`: for each of 256 bytes, 1 if a topic may have it."""
        if len(topic_bytes) != 256:
            raise Misuse(f"a table of {len(topic_bytes)} bytes, not 256")
        self._topic_bytes = topic_bytes
        self._allowed = bytes_address(self._topic_bytes)
        self._queue_id_max = queue_id_max
        self._check = RecordCheck()
        # Where the walk stopped; behind the records that may be appended.
        self.position = 0
        # After FILLER: its bytes, up to the end of the file.
        self.size = 0
        # Of the records passed: whether each has the record CRC, when the last one was stored.
        self.is_all_crc = True
        self.last_timestamp = 0

    def run(self, data: memoryview, position: int, base: int, file_end: int) -> int:
        """Pass over records from `position` on; why it stopped: INCOMPLETE, FILLER, or damage.

        `base` is the log offset of the first byte of `data`, `file_end` that at which the log file
        of this position ends.
        """
        check = self._check
        memory = address(data)
        end = len(data)
        self.is_all_crc = True
        self.last_timestamp = 0
        if position < 0 or position > end:
            raise Misuse(f"{position} is not within {end} bytes")
        while True:
            self.position = position
            found = check.judge(memory, position, end, base, file_end, False)
            if found != _SOUND:
                return self._explain(found, memory, end, base, file_end)
            # By subtraction: what is left in the file is never more than its size.
            if check.record.size > file_end - base - position - _FILLER_BYTES:
                return _CROSSING
            if not self._has_queue(memory):
                return _NO_QUEUE
            if not check.has_crc:
                self.is_all_crc = False
            self.last_timestamp = check.record.store_timestamp
            position += check.record.size

    def _explain(self, found: int, memory: memoryview, end: int, base: int, file_end: int) -> int:
        """Tell bytes that have yet to come from those that are wrong."""
        position = self.position
        left = end - position
        self.size = self._check.record.size
        if found == _FILLER:
            return _FILLER if self.size <= left else _INCOMPLETE
        if found != _TORN:
            return found
        if left < 8:
            return _INCOMPLETE  # too few to say anything of
        if self.size < _RECORD_BYTES_MIN:
            return _TORN
        if self.size > file_end - base - position - _FILLER_BYTES:
            return _CROSSING
        # Nobody should wait for the end of a record of which the begin is wrong.
        if left >= 36 and load_i64(memory, position + 28) != base + position:
            return _MISPLACED
        return _INCOMPLETE

    def _has_queue(self, memory: memoryview) -> bool:
        """Whether a queue can have the topic and the queue id of the record just read."""
        record: Record = self._check.record
        if record.queue_id < 0 or record.queue_id > self._queue_id_max:
            return False
        if record.topic_size < 1 or record.topic_size > _TOPIC_BYTES_MAX:
            return False
        for index in range(record.topic_start, record.topic_start + record.topic_size):
            if self._allowed[memory[index]] == 0:
                return False
        return True
