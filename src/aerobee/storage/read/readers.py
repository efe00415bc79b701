"""Everything that can be read of an open store, by queue, log offset, key and time.

The half of a store that changes nothing, and that its other half inherits. It hands on what the
readers of this package find; `Store` tells them how far they may go.

Called from the core's thread only, but for `verify`.
"""

from collections.abc import Iterator

from aerobee.protocol.message.property_filter import PropertyFilter
from aerobee.storage.commit.commit_log import CommitLog
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.index.derived_files import DerivedFiles
from aerobee.storage.index.kept_file import KeptFile
from aerobee.storage.read.kept_reader import KeptReader
from aerobee.storage.read.log_range import LogRange
from aerobee.storage.read.log_search import records_holding
from aerobee.storage.read.queue_read import QueueRead, ReadStatus
from aerobee.storage.read.queue_reader import QueueReader
from aerobee.storage.read.record_reader import RecordReader
from aerobee.storage.read.time_search import Boundary, offset_by_time

CHECKED_UNITS_MAX = 800
CHECKED_BYTES_MAX = 1 << 20
"""Of old messages: so much is read and checked at a time for a filter to choose from."""


class Readers:
    """The readers of one store over its queues."""

    def __init__(self, log: CommitLog, derived: DerivedFiles, records: RecordReader) -> None:
        self._queues = derived.queues
        self._reader = QueueReader(log.sequence)
        self._records = records
        self._kept = KeptReader(derived.kept)
        self._log_files = log.sequence
        # For replicas: what a slave compares with its master's log.
        self.log_range = LogRange(log, records, derived.newest_record)

    @property
    def fast_path_readers(self) -> tuple[ConsumeQueues, QueueReader]:
        """For a caller that is compiled and reads hundreds of thousands of times a second."""
        return self._queues, self._reader

    @property
    def records(self) -> RecordReader:
        """For a caller that is compiled and looks for single records by the hundred thousand."""
        return self._records

    def log_slices(self, offset: int, limit: int) -> memoryview:
        """Bytes of one log file from a log offset on, at most so many and at most up to the end of
        the log; empty if there are none. For replicas; see `LogRange`."""
        return self.log_range.slice(offset, limit)

    def earliest_timestamp(self) -> int:
        """When the oldest record was stored; -1 if there is none."""
        stamp = self._records.store_timestamp_at(self._log_files.first_offset())
        return -1 if stamp is None else stamp

    def is_hot(self, log_offset: int) -> bool:
        """Whether a record is so new that it is in memory."""
        return log_offset >= self._reader.hot_from

    def queue(self, topic: bytes, queue_id: int) -> ConsumeQueue | None:
        return self._queues.find(topic, queue_id)

    def queues(self) -> list[ConsumeQueue]:
        return self._queues.all()

    def born_at(self, topic: bytes) -> int:
        """The log offset at which a topic of this name was deleted: older records of it are dead,
        and so are older records that wait to be stored in it. 0: none was deleted."""
        return self._queues.born_at(topic)

    def first_offset(self, queue: ConsumeQueue) -> int:
        """Where a queue begins for its readers: before its units if older messages were kept."""
        kept = self._kept.find(queue)
        return queue.min_offset if kept is None else kept.first_offset

    def kept_ms(self, queue: ConsumeQueue, offset: int) -> int | None:
        """When the next message that compaction kept was stored, or the last if none follows; None
        if the offset lies behind what was compacted."""
        kept = self._kept.find(queue)
        if kept is None or offset >= kept.end or kept.count == 0:
            return None
        return kept.entry(min(kept.first_at(offset), kept.count - 1)).stored_ms

    def read(
        self,
        topic: bytes,
        queue_id: int,
        offset: int,
        count_max: int,
        bytes_max: int,
        tag_codes: frozenset[int] | None = None,
        chosen: PropertyFilter | None = None,
    ) -> QueueRead:
        """Messages of a queue from an offset on, as slices of the log: those that have one of the
        tags, or those that the filter chooses. A cold read has yet to be filtered: once it is
        verified, call its `choose`."""
        queue = self._queues.find(topic, queue_id)
        if queue is None:
            return QueueRead(ReadStatus.NO_MATCHED_LOGIC_QUEUE, 0, 0, 0)
        kept = self._kept.find(queue)
        if kept is not None:
            return self._read_compacted(
                queue, kept, offset, count_max, bytes_max, tag_codes, chosen
            )
        return self._read(queue, offset, count_max, bytes_max, tag_codes, chosen)

    def _read_compacted(
        self,
        queue: ConsumeQueue,
        kept: KeptFile,
        offset: int,
        count_max: int,
        bytes_max: int,
        tag_codes: frozenset[int] | None,
        chosen: PropertyFilter | None,
    ) -> QueueRead:
        if offset >= kept.end or kept.first_at(offset) == kept.count:
            offset = max(offset, kept.end)
            read = self._read(queue, offset, count_max, bytes_max, tag_codes, chosen)
            read.begin_at(kept.first_offset)
            return read
        if chosen is None:
            limits = (count_max, bytes_max)
        else:
            limits = (CHECKED_UNITS_MAX, CHECKED_BYTES_MAX)
        read = self._kept.read(queue, kept, offset, *limits, tag_codes, self._reader.crc_from)
        if chosen is not None and not read.is_cold:
            read.choose(chosen, count_max, bytes_max)
        return read

    def _read(
        self,
        queue: ConsumeQueue,
        offset: int,
        count_max: int,
        bytes_max: int,
        tag_codes: frozenset[int] | None,
        chosen: PropertyFilter | None,
    ) -> QueueRead:
        if chosen is None or not self._reader.is_old_at(queue, offset):
            return self._reader.read(queue, offset, count_max, bytes_max, tag_codes, chosen)
        read = self._reader.read(queue, offset, CHECKED_UNITS_MAX, CHECKED_BYTES_MAX, tag_codes)
        if not read.is_cold:
            read.choose(chosen, count_max, bytes_max)
        return read

    def verify(self, read: QueueRead) -> None:
        """Check a cold read; on any thread. CorruptRecord if it may not be shown."""
        read.verify(self._reader.crc_from)

    def record_at(self, log_offset: int) -> memoryview | None:
        """The record that begins at a log offset, checked; None if none does."""
        return self._records.at(log_offset)

    def records_with(self, needle: bytes, log_offset: int) -> Iterator[memoryview]:
        """Every record from a log offset on that holds these bytes. Blocks: for a start."""
        return records_holding(self._log_files, needle, log_offset, self._records.readable_to)

    def cold_part(self, log_offset: int, size: int) -> memoryview | None:
        """The bytes of a record if reading them would wait for the disk; None if it would not."""
        if log_offset >= self._reader.hot_from:
            return None
        return self._records.cold_part(log_offset, size)

    def records_by_key(
        self, topic: bytes, key: bytes, begin_ms: int, end_ms: int, limit: int
    ) -> list[memoryview]:
        """Records of a topic with a key or unique id, newest first."""
        return self._records.by_key(topic, key, begin_ms, end_ms, limit)

    def offset_by_time(self, queue: ConsumeQueue, time_ms: int, boundary: Boundary) -> int:
        kept = self._kept.find(queue)
        if kept is not None:
            found = self._kept.offset_by_time(kept, time_ms, boundary)
            if found is not None:
                return found
        return offset_by_time(queue, time_ms, boundary, self._records.store_timestamp_at)
