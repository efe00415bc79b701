"""QueueRead is the result of reading a queue: slices of the mapped log, checked or still to check.

`queue_reader` finds records in the log, `kept_reader` in what compaction kept, and the broker hands
them out. Nothing is copied. A slice keeps its file mapped for as long as it is held.

Records that come from the disk are checked before anyone sees a byte, checksum, queue and all, and
with them the units that named them: here if their pages are at hand; if not, the read is cold, and
whoever may wait for the disk calls `verify`. Of old records a filter chooses after that (`choose`),
because what it keeps back nobody looks at again.

Called from the core's thread only, but for `verify`.
"""

from enum import IntEnum
from typing import TYPE_CHECKING

from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.model.names import LIGHT_QUEUE_PREFIX
from aerobee.protocol.message.property_filter import PropertyFilter
from aerobee.protocol.message.record import Record
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.index.consume_queue import ConsumeQueue

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, same_bytes

_LIGHT_TOPIC = LIGHT_QUEUE_PREFIX.encode()  # such queues point at records of other queues

_STRETCH_BYTES_MAX = 4 << 20  # a thousand pages: some 10 µs


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


_FOUND = int(ReadStatus.FOUND)
_NO_MATCHED_MESSAGE = int(ReadStatus.NO_MATCHED_MESSAGE)


class QueueRead:
    """The outcome of one read. `slices` are records, whole and in order, `count` in all."""

    __slots__ = (
        "count",
        "is_cold",
        "max_offset",
        "min_offset",
        "next_offset",
        "queue",
        "ranges",
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
        self.ranges: list[tuple[MappedFile, int, int, int]] = []
        self.queue: ConsumeQueue | None = None

    def verify(self, crc_from: int) -> None:
        """Check every record against its checksums, and that it is what its unit stands for.

        CorruptRecord or CorruptFile at the first that fails. May wait for the disk; touches
        nothing that changes, so any thread may call it.
        """
        queue = self.queue
        if queue is None:
            return  # nothing was found
        record = Record()
        for file, position, size, queue_offset in self.ranges:
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

    def add(self, file: MappedFile, start: int, end: int, queue_offset: int) -> None:
        """The records in [start, end) of the log, the first of them at a queue offset."""
        position = start - file.first_offset
        self.slices.append(file.slice(position, end - start))
        self.ranges.append((file, position, end - start, queue_offset))

    def take_kept(
        self, queue: ConsumeQueue, ranges: list[tuple[MappedFile, int, int, int]], crc_from: int
    ) -> None:
        """Be a read of records that lie outside the log, one range each."""
        self.queue = queue
        for file, position, size, queue_offset in ranges:
            start = file.first_offset + position
            self.add(file, start, start + size, queue_offset)
            self.count += 1
            self.size += size
        if ranges:
            self.check_old(crc_from)

    def check_old(self, crc_from: int) -> None:
        """Records from the disk are checked now if they are at hand, else said to be cold."""
        try:
            self.is_cold = not self._is_at_hand()
        except OSError:
            self.is_cold = True  # the system cannot say: whoever reads it may have to wait
        if not self.is_cold:
            self.verify(crc_from)

    def _is_at_hand(self) -> bool:
        """Whether all of it is in memory.

        Messages of one queue lie apart, and a call for each would cost more than checking it. So
        the whole stretch is asked about first, with what lies between.
        """
        ranges = self.ranges
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

    def begin_at(self, min_offset: int) -> None:
        """Say where the queue begins for its readers."""
        self.min_offset = min_offset

    def choose(self, chosen: PropertyFilter, count_max: int, bytes_max: int) -> None:
        """Keep what a filter lets through of records that were checked, within the limits."""
        ranges = self.ranges
        queue = self.queue
        if not ranges or queue is None:
            return  # nothing was found
        self.ranges = []
        self.slices = []
        self.is_cold = False
        self.status = _NO_MATCHED_MESSAGE
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
                    start = file.first_offset + position
                    self.add(file, start, start + record.size, queue_offset)
                    self.status = _FOUND
                    self.count += 1
                    self.size += record.size
                position += record.size
                queue_offset += 1
                if looked_at > chosen.text_max:
                    self.next_offset = queue_offset
                    return


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
