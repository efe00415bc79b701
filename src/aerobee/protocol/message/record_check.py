"""RecordCheck decides what the bytes at one place of a commit log are: a record, a filler, damage.

Recovery and everything that reads a log without its broker believe a record by these laws alone:

C1. Whole: the record has one of the two magics, its size is at least 91 bytes and ends neither
    behind the memory nor behind the log file, and its parts add up to that size.
C2. In its own place: the log offset at byte 28 is the log offset at which the record was found. So
    a copy of a record in the body of another, or one left over from an earlier use of the file, is
    none.
C3. Checksums: a record CRC at the end of the properties must hold. A record without one is refused
    if `needs_crc`; else its body CRC must hold and its topic have no zero byte. (A body CRC says
    nothing of the topic. A lost sector shows as zeros, which no topic has.)
C4. A filler says how many bytes are left in the file, and that is how far the file goes. What
    follows its 8 bytes need not be in the memory, and is not looked at.

Every answer is about a *memory* that may be a whole file or any piece of a log. Positions are in
the memory; `base` is the log offset of its first byte, `file_end` the log offset at which the log
file ends that has the position. A piece that crosses into the next file is checked file by file.

A RecordCheck belongs to one thread.
"""

from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.protocol.message.record import (
    BODY_CRC,
    MAGIC_V1,
    MAGIC_V2,
    RECORD_BYTES_MIN,
    RECORD_CRC,
    WHOLE,
    Record,
)
from aerobee.protocol.message.record import FILLER as FILLER
from aerobee.protocol.message.record import FINDINGS as FINDINGS
from aerobee.protocol.message.record import TORN as TORN

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, load_i32, load_i64
    from aerobee.protocol.primitives.byte_search import find_byte

# What `judge` finds beside FILLER, TORN and the others of `Record.read`, whose WHOLE is its SOUND.
SOUND = WHOLE
MISPLACED = 10
UNSOUND = 11
WRONG_FILLER = 12

CHECK_FINDINGS = {
    **FINDINGS,
    SOUND: "a sound record",
    MISPLACED: "a record that belongs elsewhere",
    UNSOUND: "a record that does not match its checksum",
    WRONG_FILLER: "a filler of the wrong size",
}

# C twins of the numbers the hot code compares with.
_SOUND = SOUND
_FILLER = FILLER
_TORN = TORN
_MISPLACED = MISPLACED
_UNSOUND = UNSOUND
_WRONG_FILLER = WRONG_FILLER
_BODY_CRC = BODY_CRC
_RECORD_CRC = RECORD_CRC
_MAGIC_V1 = MAGIC_V1
_MAGIC_V2 = MAGIC_V2
_MAGIC_BYTE = 0xDA  # the first of both
_RECORD_BYTES_MIN = RECORD_BYTES_MIN


def is_compiled() -> bool:
    return cython.compiled


class RecordCheck:
    """Judges what lies at a position; `record` is then filled as `Record.read` fills it."""

    __slots__ = ("finding", "has_crc", "record")

    def __init__(self) -> None:
        self.record = Record()
        # Whether the record that `judge` found SOUND carries the record CRC.
        self.has_crc = False
        # Of the place that `find_next` returned: SOUND or TORN.
        self.finding = SOUND

    def judge(
        self,
        memory: memoryview,
        position: int,
        end: int,
        base: int,
        file_end: int,
        needs_crc: bool,
    ) -> int:
        """Return the finding for the bytes at `position` of a memory that ends at `end`: SOUND,
        FILLER, or the damage.

        After TORN the record may go on behind the memory: `record.size` is the size that it
        states, if at least 8 of its bytes are in the memory.
        """
        found = self.judge_place(memory, position, end, base, file_end)
        if found != _SOUND:
            return found
        vouched = self.record.vouched_by(memory)
        self.has_crc = vouched == _RECORD_CRC
        if self.has_crc or (
            vouched == _BODY_CRC and not needs_crc and not self._is_topic_torn(memory)
        ):
            return _SOUND
        return _UNSOUND

    def judge_place(
        self, memory: memoryview, position: int, end: int, base: int, file_end: int
    ) -> int:
        """`judge` without C3: no checksum is computed, and SOUND says nothing of them."""
        # Without a name for it: C would count a reference up and down for each record.
        found = self.record.read(memory, position, min(end, file_end - base))
        if found == _SOUND:
            return _SOUND if self.record.log_offset == base + position else _MISPLACED
        if found == _FILLER and base + position + self.record.size != file_end:
            return _WRONG_FILLER
        return found

    def _is_topic_torn(self, memory: memoryview) -> bool:
        """Whether the topic of the record just read has a zero byte."""
        start = self.record.topic_start
        for index in range(start, start + self.record.topic_size):
            if memory[index] == 0:
                return True
        return False

    def find_next(
        self,
        memory: memoryview,
        position: int,
        end: int,
        base: int,
        end_offset: int,
        needs_crc: bool,
    ) -> int:
        """Return the first position from `position` on where a sound record begins, or -1.

        A record may begin in the memory and end after it: then its position is returned with the
        finding TORN, and the caller looks again with `record.size` bytes from there. No record
        reaches beyond the log offset `end_offset`, the end of the file or of the log in it. A
        record of which fewer than 36 bytes are in the memory is not found.
        """
        at = position + 4
        last = end - 31  # behind the magic's first byte come 23 others, and the log offset's 8
        while at < last:
            at = find_byte(memory, _MAGIC_BYTE, at, last)
            if at < last and self._may_begin(memory, at - 4, end, base, end_offset, needs_crc):
                return at - 4
            at += 1
        return -1

    def _may_begin(
        self,
        memory: memoryview,
        position: int,
        end: int,
        base: int,
        end_offset: int,
        needs_crc: bool,
    ) -> bool:
        """Whether `find_next` returns this position."""
        magic = load_i32(memory, position + 4)
        if magic != _MAGIC_V1 and magic != _MAGIC_V2:
            return False
        if load_i64(memory, position + 28) != base + position:
            return False
        self.finding = self.judge(memory, position, end, base, end_offset, needs_crc)
        if self.finding != _TORN:
            return self.finding == _SOUND
        size = self.record.size
        return size >= _RECORD_BYTES_MIN and base + position + size <= end_offset

    def judge_in(
        self, view: memoryview, position: int, base: int, file_end: int, needs_crc: bool
    ) -> int:
        """`judge` for callers without a memory: any view, any position."""
        if not 0 <= position <= len(view):
            return TORN
        return self.judge(address(view), position, len(view), base, file_end, needs_crc)

    def find_next_in(
        self, view: memoryview, position: int, base: int, end_offset: int, needs_crc: bool
    ) -> int:
        """`find_next` for callers without a memory: any view."""
        if not 0 <= position <= len(view):
            raise Misuse(f"{position} is not within {len(view)} bytes")
        return self.find_next(address(view), position, len(view), base, end_offset, needs_crc)
