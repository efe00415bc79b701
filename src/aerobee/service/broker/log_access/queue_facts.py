"""What is asked about queues, answered for any name and number: a queue that does not exist is one
that is empty and begins at 0.
"""

from aerobee.protocol.message.record import WHOLE, Record
from aerobee.storage.read.time_search import Boundary
from aerobee.storage.store import Store

NEVER = -1
# How much may have been written to the log since a queue's first message for the queue to be young:
# about what a machine keeps in memory.
YOUNG_BYTES = 4 << 30


class QueueFacts:
    def __init__(self, store: Store, young_bytes: int = YOUNG_BYTES) -> None:
        self._store = store
        self._young_bytes = young_bytes
        self._record = Record()

    def exists(self, topic: str, queue_id: int) -> bool:
        """Whether it ever held a message."""
        return self._store.queue(topic.encode(), queue_id) is not None

    def min_offset(self, topic: str, queue_id: int) -> int:
        queue = self._store.queue(topic.encode(), queue_id)
        return self._store.first_offset(queue) if queue is not None else 0

    def max_offset(self, topic: str, queue_id: int) -> int:
        """Where it ends for those who read."""
        queue = self._store.queue(topic.encode(), queue_id)
        return queue.max_offset if queue is not None else 0

    def next_offset(self, topic: str, queue_id: int) -> int:
        """Where it ends for those who write: with synchronous flush, before it can be read."""
        queue = self._store.queue(topic.encode(), queue_id)
        return queue.next_offset if queue is not None else 0

    def is_young(self, topic: str, queue_id: int) -> bool:
        """Whether it still has its very first message, and that is recent."""
        queue = self._store.queue(topic.encode(), queue_id)
        first = queue.unit(0) if queue is not None else None
        return first is not None and self._store.end_offset - first[0] <= self._young_bytes

    def offset_at(self, topic: str, queue_id: int, time_ms: int, boundary: Boundary) -> int:
        queue = self._store.queue(topic.encode(), queue_id)
        if queue is None:
            return 0
        return self._store.offset_by_time(queue, time_ms, boundary)

    def stored_ms(self, topic: str, queue_id: int, queue_offset: int) -> int:
        """When the message at an offset was stored, of a compacted queue the next that was kept;
        NEVER if there is none."""
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
        """When its oldest message was stored; NEVER if it has none."""
        return self.stored_ms(topic, queue_id, self.min_offset(topic, queue_id))
