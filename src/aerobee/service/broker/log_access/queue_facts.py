"""QueueFacts answers questions about queues by topic and queue id: offsets, times, existence.

A queue that does not exist is answered as an empty one that begins at 0.
"""

from aerobee.protocol.message.record import WHOLE, Record
from aerobee.storage.read.time_search import Boundary
from aerobee.storage.store import Store

NEVER = -1
# A queue is young if no more than this was written to the log since its first message: about the
# size of a machine's page cache.
YOUNG_BYTES = 4 << 30


class QueueFacts:
    def __init__(self, store: Store, young_bytes: int = YOUNG_BYTES) -> None:
        self._store = store
        self._young_bytes = young_bytes
        self._record = Record()

    def exists(self, topic: str, queue_id: int) -> bool:
        """Whether the queue ever had a message."""
        return self._store.queue(topic.encode(), queue_id) is not None

    def min_offset(self, topic: str, queue_id: int) -> int:
        queue = self._store.queue(topic.encode(), queue_id)
        return self._store.first_offset(queue) if queue is not None else 0

    def max_offset(self, topic: str, queue_id: int) -> int:
        """The end of the queue for readers."""
        queue = self._store.queue(topic.encode(), queue_id)
        return queue.max_offset if queue is not None else 0

    def next_offset(self, topic: str, queue_id: int) -> int:
        """The end of the queue for writers: with SYNC_FLUSH it is ahead of `max_offset`."""
        queue = self._store.queue(topic.encode(), queue_id)
        return queue.next_offset if queue is not None else 0

    def is_young(self, topic: str, queue_id: int) -> bool:
        """Whether the queue still has its very first message, and that is recent."""
        queue = self._store.queue(topic.encode(), queue_id)
        first = queue.unit(0) if queue is not None else None
        return first is not None and self._store.end_offset - first[0] <= self._young_bytes

    def offset_at(self, topic: str, queue_id: int, time_ms: int, boundary: Boundary) -> int:
        queue = self._store.queue(topic.encode(), queue_id)
        if queue is None:
            return 0
        return self._store.offset_by_time(queue, time_ms, boundary)

    def stored_ms(self, topic: str, queue_id: int, queue_offset: int) -> int:
        """The store timestamp of the message at an offset (of a compacted queue: of the next one
        that was kept); NEVER if there is none."""
        queue = self._store.queue(topic.encode(), queue_id)
        if queue is None:
            return NEVER
        kept_ms = self._store.kept_ms(queue, queue_offset)
        if kept_ms is not None:
            return kept_ms
        unit = queue.unit(queue_offset)
        view = self._store.record_at(unit[0]) if unit is not None else None
        if view is None or self._record.read_from(view, 0) != WHOLE:
            return NEVER
        return self._record.store_timestamp

    def earliest_ms(self, topic: str, queue_id: int) -> int:
        """The store timestamp of its oldest message; NEVER if it has none."""
        return self.stored_ms(topic, queue_id, self.min_offset(topic, queue_id))
