"""Reading a queue: (queue, offset, limits) → slices of the mapped log.

Station ⑦. The units of the queue say where the records lie; records that touch become one slice.
Nothing is copied. A slice keeps its file mapped for as long as it is held.

What is believed how far:
- The newest part of the log (from `hot_from` on) was written or checked by this process and is in
  memory: only each record's size and queue offset are compared with the unit that named it.
- Older records come from the disk, and so do the units that name them. If their pages are at hand
  they are checked here, checksum, queue and all; if not, the result says `is_cold` and the caller
  has them checked by `verify` on a thread that may wait for the disk, before anyone sees a byte.
- A filter by properties is asked about records that are believed: the newest ones where they lie,
  older ones after they were checked (`choose`), because what it keeps back nobody looks at again.
- A unit that points outside the log is damage, since units are hidden before their records go:
  passed over, it would be a message lost in silence.

Called from the core's thread only, but for `verify`.

Longer than 500 lines because slices, copies and choices follow the same rules of belief.
"""

from enum import IntEnum
from typing import TYPE_CHECKING

from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.model.names import LIGHT_QUEUE_PREFIX
from aerobee.protocol.property_filter import PropertyFilter
from aerobee.protocol.record import Record
from aerobee.protocol.reply_buffer import ReplyBuffer
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.index.consume_queue import ConsumeQueue

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.big_endian import (
        bytes_address,
        copy_bytes,
        load_i32,
        load_i64,
        same_bytes,
    )

_LIGHT_TOPIC = LIGHT_QUEUE_PREFIX.encode()  # such queues point at records of other queues

_STRETCH_BYTES_MAX = 4 << 20  # a thousand pages: some 10 µs

UNITS_SCANNED_MIN = 800  # a filter may look at so many units, however few messages are asked for


def is_compiled() -> bool:
    return cython.compiled


class ReadStatus(IntEnum):
    """What a read found; the names are RocketMQ's."""

    FOUND = 0
    NO_MATCHED_MESSAGE = 1  # units were there, the filter passed none
    MESSAGE_WAS_REMOVING = 2  # the units' records are gone
    OFFSET_TOO_SMALL = 3
    OFFSET_OVERFLOW_ONE = 4  # exactly at the end: wait for the next message
    OFFSET_OVERFLOW_BADLY = 5
    NO_MESSAGE_IN_QUEUE = 6
    NO_MATCHED_LOGIC_QUEUE = 7


class QueueRead:
    """The outcome of one read. `slices` are records, whole and in order, `count` in all."""

    __slots__ = (
        "_queue",
        "_ranges",
        "count",
        "is_cold",
        "max_offset",
        "min_offset",
        "next_offset",
        "size",
        "slices",
        "status",
    )

    def __init__(self, status: int, next_offset: int, min_offset: int, max_offset: int) -> None:
        self.status = status
        # Where to read on.
        self.next_offset = next_offset
        self.min_offset = min_offset
        self.max_offset = max_offset
        self.slices: list[memoryview] = []
        self.count = 0
        self.size = 0
        self.is_cold = False
        # (file, position, size, first queue offset) of each slice, and whose they are.
        self._ranges: list[tuple[MappedFile, int, int, int]] = []
        self._queue: ConsumeQueue | None = None

    def verify(self, crc_from: int) -> None:
        """Check every record against its checksums, and that it is what its unit stands for.

        CorruptRecord or CorruptFile at the first that fails. May wait for the disk; touches
        nothing that changes, so any thread may call it.
        """
        queue = self._queue
        if queue is None:
            return  # nothing was found
        record = Record()
        for file, position, size, queue_offset in self._ranges:
            memory = file.memory
            end = position + size
            while position < end:
                log_offset = file.first_offset + position
                if (
                    record.read(memory, position, file.size) != 0
                    or record.log_offset != log_offset
                    or not record.is_sound(memory, log_offset >= crc_from)
                ):
                    raise CorruptRecord(
                        "a record does not match its checksum",
                        path=file.disk_file.path,
                        position=position,
                        log_offset=log_offset,
                        hint="restore the file from a replica or a backup; "
                        "consumers can skip past this offset",
                    )
                position += record.size
                if position > end or not is_at(queue, queue_offset, memory, record):
                    raise misled(queue, queue_offset)
                queue_offset += 1

    def take_kept(
        self, queue: ConsumeQueue, ranges: list[tuple[MappedFile, int, int, int]], crc_from: int
    ) -> None:
        """Be a read of records that lie outside the log, one range each: they are checked now if
        they are at hand, else said to be cold."""
        self._queue = queue
        self._ranges = ranges
        for file, position, size, _ in ranges:
            self.slices.append(file.slice(position, size))
            self.count += 1
            self.size += size
            try:
                if not file.disk_file.is_resident(position, position + size):
                    self.is_cold = True
            except OSError:
                self.is_cold = True  # as in `QueueReader`
        if not self.is_cold:
            self.verify(crc_from)

    def begin_at(self, min_offset: int) -> None:
        """Say where the queue begins for its readers."""
        self.min_offset = min_offset

    def choose(self, chosen: PropertyFilter, count_max: int, bytes_max: int) -> None:
        """Keep what a filter lets through of records that were checked, within the limits."""
        ranges = self._ranges
        queue = self._queue
        if not ranges or queue is None:
            return  # nothing was found
        self._ranges = []
        self.slices = []
        self.is_cold = False
        self.status = 1
        self.count = 0
        self.size = 0
        looked_at = 0
        record = Record()
        for file, position, size, queue_offset in ranges:
            end = position + size
            while position < end:
                if record.read(file.memory, position, end) != 0:
                    raise misled(queue, queue_offset)
                looked_at += record.properties_size
                if chosen.matches(file.memory, record.properties_start, record.properties_size):
                    if self.count == count_max or (
                        self.count > 0 and self.size + record.size > bytes_max
                    ):
                        self.next_offset = queue_offset
                        return
                    self._ranges.append((file, position, record.size, queue_offset))
                    self.slices.append(file.slice(position, record.size))
                    self.status = 0
                    self.count += 1
                    self.size += record.size
                position += record.size
                queue_offset += 1
                if looked_at > chosen.text_max:
                    self.next_offset = queue_offset
                    return


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
        if status != 0:
            return self._without_messages(queue, offset, status)
        result = QueueRead(1, offset, queue.min_offset, queue.max_offset)
        if (
            chosen is not None
            and chosen is self._barren_filter
            and queue is self._barren_queue
            and offset == self._barren_from
        ):
            result.next_offset = self._barren_to
            return result
        result._queue = queue
        self._collect(queue, offset, count_max, bytes_max, tag_codes, chosen, result)
        if result.count > 0:
            result.status = 0
            self._check_old(result)
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
        """`copy`, of messages that are believed as they are."""
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
        if result.status != 0 or result.is_cold:
            return 0
        output.make_room(result.size)
        for file, position, size, _ in result._ranges:
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
        """The status of an offset outside the queue; 0 if it is inside."""
        if queue.max_offset == 0:
            return 6
        if offset < queue.min_offset:
            return 3
        if offset == queue.max_offset:
            return 4
        if offset > queue.max_offset:
            return 5
        return 0

    def _without_messages(self, queue: ConsumeQueue, offset: int, status: int) -> QueueRead:
        if status == 6:
            next_offset = 0
        elif status == 3:
            next_offset = queue.min_offset
        elif status == 5:
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
        """Walk the units from `offset`, gathering runs of records that touch."""
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
            if size == 0x7FFFFFFF:
                # In a gap the next record may touch the one before, but it is not the next one.
                if run_file is not None:
                    self._add(result, run_file, run_start, run_end, run_first)
                    run_file = None
                result.status = 2
                offset += 1
                continue
            if log_offset + size > self.readable_to:
                if log_offset + size > self.dispatched_to:
                    raise misled(queue, offset)
                if offset == result.next_offset:
                    result.status = 4  # nothing before it either: to be waited for
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
                    self._add(result, run_file, run_start, run_end, run_first)
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
            self._add(result, run_file, run_start, run_end, run_first)
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

    def _add(
        self, result: QueueRead, file: MappedFile, start: int, end: int, queue_offset: int
    ) -> None:
        position = start - file.first_offset
        result.slices.append(file.slice(position, end - start))
        result._ranges.append((file, position, end - start, queue_offset))

    def _check_old(self, result: QueueRead) -> None:
        """Records from the disk are checked now if they are at hand, else said to be cold."""
        first = result._ranges[0]
        if first[0].first_offset + first[1] >= self.hot_from:
            return  # queues rise in the log: all that follow are newer
        try:
            result.is_cold = not self._is_at_hand(result._ranges)
        except OSError:
            result.is_cold = True  # the system cannot say: whoever reads it may have to wait
        if not result.is_cold:
            result.verify(self.crc_from)

    def _is_at_hand(self, ranges: list[tuple[MappedFile, int, int, int]]) -> bool:
        """Whether all of it is in memory.

        Messages of one queue lie apart, and a call for each would cost more than checking it. So
        the whole stretch is asked about first, with what lies between.
        """
        file = ranges[0][0]
        start = ranges[0][1]
        end = ranges[-1][1] + ranges[-1][2]
        if (
            ranges[-1][0] is file
            and end - start <= _STRETCH_BYTES_MAX
            and file.disk_file.is_resident(start, end)
        ):
            return True
        for file, start, size, _ in ranges:
            if not file.disk_file.is_resident(start, start + size):
                return False
        return True


def is_at(queue: ConsumeQueue, queue_offset: int, memory: memoryview, record: Record) -> bool:
    """Whether a record is the one of a queue at an offset."""
    if (
        record.queue_offset == queue_offset
        and record.queue_id == queue.queue_id
        and record.topic_size == len(queue.topic)
        and same_bytes(memory, record.topic_start, bytes_address(queue.topic), 0, record.topic_size)
    ):
        return True
    return queue.topic.startswith(_LIGHT_TOPIC)


def misled(queue: ConsumeQueue, queue_offset: int) -> CorruptFile:
    return CorruptFile(
        f"the unit of queue offset {queue_offset} does not point at its record",
        path=queue.sequence.directory,
        hint="stop, remove the consumequeue folder and start: it is built again from the log",
    )
