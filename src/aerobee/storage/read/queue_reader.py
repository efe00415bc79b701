"""Reading a queue: (queue, offset, limits) → slices of the mapped log.

The units of the queue say where the records lie; records that touch become one slice,
and what was found is a `QueueRead`. Small messages that lie apart are copied instead.

What is believed how far:
- The newest part of the log (from `hot_from` on) was written or checked by this process and is in
  memory: only each record's size and queue offset are compared with the unit that named it.
- Older records come from the disk, and so do the units that name them: see `queue_read`.
- A filter by properties is asked about records that are believed: the newest ones where they lie,
  older ones after they were checked.
- A unit that points outside the log is damage, since units are hidden before their records go:
  passed over, it would be a message lost in silence.

Called from the core's thread only.
"""

from typing import TYPE_CHECKING

from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.protocol.message.property_filter import PropertyFilter
from aerobee.protocol.message.record import Record
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.read.queue_read import QueueRead, ReadStatus, misled

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        copy_bytes,
        load_i32,
        load_i64,
    )

_FOUND = int(ReadStatus.FOUND)
_NO_MATCHED_MESSAGE = int(ReadStatus.NO_MATCHED_MESSAGE)
_MESSAGE_WAS_REMOVING = int(ReadStatus.MESSAGE_WAS_REMOVING)
_OFFSET_TOO_SMALL = int(ReadStatus.OFFSET_TOO_SMALL)
_OFFSET_OVERFLOW_ONE = int(ReadStatus.OFFSET_OVERFLOW_ONE)
_OFFSET_OVERFLOW_BADLY = int(ReadStatus.OFFSET_OVERFLOW_BADLY)
_NO_MESSAGE_IN_QUEUE = int(ReadStatus.NO_MESSAGE_IN_QUEUE)

UNITS_SCANNED_MIN = 800  # a filter may look at so many units, however few messages are asked for


def is_compiled() -> bool:
    return cython.compiled


class QueueReader:
    """Reads queues of one store."""

    __slots__ = (
        "_barren_filter",
        "_barren_from",
        "_barren_queue",
        "_barren_to",
        "_log",
        "_looked_at",
        "_record",
        "crc_from",
        "dispatched_to",
        "hot_from",
        "next_offset",
        "readable_to",
    )

    def __init__(self, log: FileSequence) -> None:
        self._log = log
        # The one that a filter is being asked about.
        self._record = Record()
        # Bytes of properties that it was asked about.
        self._looked_at = 0
        # Where a filter has just chosen nothing: who asks there again is not to wait again.
        self._barren_filter: PropertyFilter | None = None
        self._barren_queue: ConsumeQueue | None = None
        self._barren_from = 0
        self._barren_to = 0
        # Log offsets: records from here on carry a CRC; are in memory and believed. Up to here
        # they have units; may be read.
        self.crc_from = 0
        self.hot_from = 0
        self.dispatched_to = 0
        self.readable_to = 0
        # Where the last copy ended.
        self.next_offset = 0

    def read(
        self,
        queue: ConsumeQueue,
        offset: int,
        count_max: int,
        bytes_max: int,
        tag_codes: frozenset[int] | None,
        chosen: PropertyFilter | None = None,
    ) -> QueueRead:
        """Messages from a queue offset on, at least one if there is any, within the limits.
        `chosen` is for offsets where nothing is old."""
        status = self._misfit(queue, offset)
        if status != _FOUND:
            return self._without_messages(queue, offset, status)
        result = QueueRead(_NO_MATCHED_MESSAGE, offset, queue.min_offset, queue.max_offset)
        if (
            chosen is not None
            and chosen is self._barren_filter
            and queue is self._barren_queue
            and offset == self._barren_from
        ):
            result.next_offset = self._barren_to
            return result
        result.queue = queue
        self._collect(queue, offset, count_max, bytes_max, tag_codes, chosen, result)
        if result.count > 0:
            result.status = _FOUND
            first = result.ranges[0]
            # Queues rise in the log: where the first is not old, none is.
            if first[0].first_offset + first[1] < self.hot_from:
                result.check_old(self.crc_from)
        return result

    def copy(
        self,
        queue: ConsumeQueue,
        offset: int,
        count_max: int,
        bytes_max: int,
        tag_codes: frozenset[int] | None,
        output: ReplyBuffer,
        chosen: PropertyFilter | None = None,
    ) -> int:
        """Append messages that are at hand to `output`; how many, and `next_offset` is where to
        read on. 0: none was appended, and `read` says what there is. Small messages of one queue
        lie apart in the log: copying them costs less than a slice for each."""
        count = self.copy_hot(queue, offset, count_max, bytes_max, tag_codes, output, chosen)
        if count == 0 and chosen is None and self.is_old_at(queue, offset):
            count = self._copy_old(queue, offset, count_max, bytes_max, tag_codes, output)
        return count

    def copy_hot(
        self,
        queue: ConsumeQueue,
        offset: int,
        count_max: int,
        bytes_max: int,
        tag_codes: frozenset[int] | None,
        output: ReplyBuffer,
        chosen: PropertyFilter | None = None,
    ) -> int:
        """`copy`, of messages that are believed as they are.

        The twin of `_collect`: both walk the same units by the same limits and filters, apart
        because each runs once per message. `test_a_copy_is_what_a_read_shows` compares the two.
        """
        if offset < queue.min_offset or offset >= queue.max_offset:
            return 0
        start = output.position
        end = offset + (max(800, count_max) if chosen is None else chosen.units_max)
        if end > queue.max_offset:
            end = queue.max_offset
        units = queue.find(offset)
        assert units is not None
        first = offset
        self._looked_at = 0
        file = None
        count = 0
        while offset < end and count < count_max:
            position = offset * 20 - units.first_offset
            if position >= units.size:
                units = queue.find(offset)
                assert units is not None
                position = 0
            log_offset = load_i64(units.memory, position)
            size = load_i32(units.memory, position + 8)
            if count > 0 and output.position - start + size > bytes_max:
                break
            if tag_codes is not None and load_i64(units.memory, position + 12) not in tag_codes:
                offset += 1
                continue
            if file is None or log_offset >= file.first_offset + file.size:
                file = self._log.find(log_offset)
            if file is None or not self._is_hot(file, offset, log_offset, size):
                output.position = start
                return 0
            if chosen is not None and not self._passes(chosen, queue, offset, file, log_offset):
                offset += 1
                if self._looked_at > chosen.text_max:
                    break
                continue
            output.make_room(size)
            copy_bytes(
                output.memory, output.position, file.memory, log_offset - file.first_offset, size
            )
            output.position += size
            count += 1
            offset += 1
        self.next_offset = offset
        if chosen is not None and count == 0:
            self._barren_filter = chosen
            self._barren_queue = queue
            self._barren_from = first
            self._barren_to = offset
        return count

    def _copy_old(
        self,
        queue: ConsumeQueue,
        offset: int,
        count_max: int,
        bytes_max: int,
        tag_codes: frozenset[int] | None,
        output: ReplyBuffer,
    ) -> int:
        """`copy`, of older ones: each is checked before it is copied. What is damaged is left to
        `read`, which says so."""
        try:
            result = self.read(queue, offset, count_max, bytes_max, tag_codes)
        except (CorruptFile, CorruptRecord):
            return 0
        if result.status != _FOUND or result.is_cold:
            return 0
        output.make_room(result.size)
        for file, position, size, _ in result.ranges:
            copy_bytes(output.memory, output.position, file.memory, position, size)
            output.position += size
        self.next_offset = result.next_offset
        return result.count

    def _is_hot(self, file: MappedFile, offset: int, log_offset: int, size: int) -> bool:
        """Whether a unit points at its own record, and that is in memory and may be shown."""
        position = log_offset - file.first_offset
        return (
            log_offset >= self.hot_from
            and position >= 0
            and 0 < size <= file.size - position
            and log_offset + size <= self.readable_to
            and load_i32(file.memory, position) == size
            and load_i64(file.memory, position + 20) == offset
        )

    def is_old_at(self, queue: ConsumeQueue, offset: int) -> bool:
        """Whether the message at an offset is too old to be believed unchecked. Messages of a queue
        rise in the log: if it is not, none behind it is."""
        if offset < queue.min_offset or offset >= queue.max_offset:
            return False
        units = queue.find(offset)
        assert units is not None
        return load_i64(units.memory, offset * 20 - units.first_offset) < self.hot_from

    def _is_chosen(
        self, chosen: PropertyFilter, queue: ConsumeQueue, offset: int, log_offset: int, size: int
    ) -> bool:
        """Whether a filter lets the record of a unit through."""
        file = self._log.find(log_offset)
        if file is None:
            raise misled(queue, offset)
        self._check_unit(queue, file, offset, log_offset, size)
        return self._passes(chosen, queue, offset, file, log_offset)

    def _passes(
        self,
        chosen: PropertyFilter,
        queue: ConsumeQueue,
        offset: int,
        file: MappedFile,
        log_offset: int,
    ) -> bool:
        record = self._record
        if record.read(file.memory, log_offset - file.first_offset, file.size) != 0:
            raise misled(queue, offset)
        self._looked_at += record.properties_size
        return chosen.matches(file.memory, record.properties_start, record.properties_size)

    def _misfit(self, queue: ConsumeQueue, offset: int) -> int:
        """The status of an offset outside the queue; FOUND if it is inside."""
        if queue.max_offset == 0:
            return _NO_MESSAGE_IN_QUEUE
        if offset < queue.min_offset:
            return _OFFSET_TOO_SMALL
        if offset == queue.max_offset:
            return _OFFSET_OVERFLOW_ONE
        if offset > queue.max_offset:
            return _OFFSET_OVERFLOW_BADLY
        return _FOUND

    def _without_messages(self, queue: ConsumeQueue, offset: int, status: int) -> QueueRead:
        if status == _NO_MESSAGE_IN_QUEUE:
            next_offset = 0
        elif status == _OFFSET_TOO_SMALL:
            next_offset = queue.min_offset
        elif status == _OFFSET_OVERFLOW_BADLY:
            next_offset = queue.max_offset
        else:
            next_offset = offset
        return QueueRead(status, next_offset, queue.min_offset, queue.max_offset)

    def _collect(
        self,
        queue: ConsumeQueue,
        offset: int,
        count_max: int,
        bytes_max: int,
        tag_codes: frozenset[int] | None,
        chosen: PropertyFilter | None,
        result: QueueRead,
    ) -> None:
        """Walk the units from `offset`, gathering runs of records that touch.

        The twin of `copy_hot`, which copies where this gathers; a change here belongs there too.
        `test_a_copy_is_what_a_read_shows` compares the two.
        """
        end = offset + (max(800, count_max) if chosen is None else chosen.units_max)
        if end > queue.max_offset:
            end = queue.max_offset
        units = queue.find(offset)
        assert units is not None
        self._looked_at = 0
        run_file = None
        run_start = run_end = run_first = 0
        while offset < end and result.count < count_max:
            position = offset * 20 - units.first_offset
            if position >= units.size:
                units = queue.find(offset)
                assert units is not None
                position = 0
            log_offset = load_i64(units.memory, position)
            size = load_i32(units.memory, position + 8)
            if result.count > 0 and result.size + size > bytes_max:
                break
            if size == 0x7FFFFFFF:  # FILLER_SIZE
                # In a gap the next record may touch the one before, but it is not the next one.
                if run_file is not None:
                    result.add(run_file, run_start, run_end, run_first)
                    run_file = None
                result.status = _MESSAGE_WAS_REMOVING
                offset += 1
                continue
            if log_offset + size > self.readable_to:
                if log_offset + size > self.dispatched_to:
                    raise misled(queue, offset)
                if offset == result.next_offset:  # nothing before it either: to be waited for
                    result.status = _OFFSET_OVERFLOW_ONE
                break
            if tag_codes is not None and load_i64(units.memory, position + 12) not in tag_codes:
                offset += 1
                continue
            if chosen is not None and not self._is_chosen(chosen, queue, offset, log_offset, size):
                offset += 1
                if self._looked_at > chosen.text_max:
                    break
                continue
            if log_offset != run_end or run_file is None or log_offset >= run_file.end_offset():
                if run_file is not None:
                    result.add(run_file, run_start, run_end, run_first)
                run_file = self._log.find(log_offset)
                if run_file is None:
                    raise misled(queue, offset)
                run_start = log_offset
                run_first = offset
            self._check_unit(queue, run_file, offset, log_offset, size)
            run_end = log_offset + size
            result.count += 1
            result.size += size
            offset += 1
        if run_file is not None:
            result.add(run_file, run_start, run_end, run_first)
        result.next_offset = offset

    def _check_unit(
        self, queue: ConsumeQueue, file: MappedFile, offset: int, log_offset: int, size: int
    ) -> None:
        """Whether the unit points at its own record. Records that may be cold are not touched."""
        position = log_offset - file.first_offset
        if size > 0 and size <= file.size - position:
            if log_offset < self.hot_from:
                return
            if (
                load_i32(file.memory, position) == size
                and load_i64(file.memory, position + 20) == offset
            ):
                return
        raise misled(queue, offset)
