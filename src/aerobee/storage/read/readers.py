"""Everything that can be read of an open store, by queue, log offset, key and time.

The half of a store that changes nothing, and that its other half inherits. It hands on what the
readers of this package find; `Store` tells them how far they may go.

Called from the core's thread only, but for `verify`.
"""

from aerobee.protocol.reply_buffer import ReplyBuffer
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.read.queue_reader import QueueRead, QueueReader, ReadStatus
from aerobee.storage.read.record_reader import RecordReader
from aerobee.storage.read.time_search import Boundary, offset_by_time


class Readers:
    """The readers of one store over its queues."""

    def __init__(self, queues: ConsumeQueues, reader: QueueReader, records: RecordReader) -> None:
        self._queues = queues
        self._reader = reader
        self._records = records

    def queue(self, topic: bytes, queue_id: int) -> ConsumeQueue | None:
        return self._queues.find(topic, queue_id)

    def queues(self) -> list[ConsumeQueue]:
        return self._queues.all()

    def read(
        self,
        topic: bytes,
        queue_id: int,
        offset: int,
        count_max: int,
        bytes_max: int,
        tag_codes: frozenset[int] | None = None,
    ) -> QueueRead:
        """Messages of a queue from an offset on, as slices of the log."""
        queue = self._queues.find(topic, queue_id)
        if queue is None:
            return QueueRead(ReadStatus.NO_MATCHED_LOGIC_QUEUE, 0, 0, 0)
        return self._reader.read(queue, offset, count_max, bytes_max, tag_codes)

    def copy_hot(
        self,
        queue: ConsumeQueue,
        offset: int,
        count_max: int,
        bytes_max: int,
        tag_codes: frozenset[int] | None,
        output: ReplyBuffer,
    ) -> int:
        """Append messages that are in memory to `output`; how many, and `copied_to` is where to
        read on. 0: `read` says what there is. See `QueueReader.copy_hot`."""
        return self._reader.copy_hot(queue, offset, count_max, bytes_max, tag_codes, output)

    @property
    def copied_to(self) -> int:
        return self._reader.next_offset

    def verify(self, read: QueueRead) -> None:
        """Check a cold read; on any thread. CorruptRecord if it may not be shown."""
        read.verify(self._reader.crc_from)

    def record_at(self, log_offset: int) -> memoryview | None:
        """The record that begins at a log offset, checked; None if none does."""
        return self._records.at(log_offset)

    def records_by_key(
        self, topic: bytes, key: bytes, begin_ms: int, end_ms: int, limit: int
    ) -> list[memoryview]:
        """Records of a topic with a key or unique id, newest first."""
        return self._records.by_key(topic, key, begin_ms, end_ms, limit)

    def offset_by_time(self, queue: ConsumeQueue, time_ms: int, boundary: Boundary) -> int:
        return offset_by_time(queue, time_ms, boundary, self._records.store_timestamp_at)
