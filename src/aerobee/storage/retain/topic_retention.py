"""Topics whose messages are to be seen for less time than the store keeps its log.

The log holds all topics mixed, so the records of one cannot go before their file does: they are
hidden. The first visible offset of each queue (min_offset) is raised past the messages that are too
old, and queue files that hold nothing else are removed. By log offset and by key such messages are
found as long as their log file is there.

A shorter time than the store's is all that can be had: nothing keeps a log file for one topic. A
longer one changes nothing.

Nothing of this is on the disk. Whoever opens a store tells it again; until then, and for the minute
in which the clock is not believed (`retention`), hidden messages of the last days are seen again.

Every second one pass over the queues begins, a few queues at a step. In each, the search starts at
the first visible message and strides on from there: those are the records that lie together, while
halving over the whole queue would bring pages from all over the log into memory.

Called from the core's thread only.
"""

from bisect import bisect_left
from collections import deque

from aerobee.errors import Misuse
from aerobee.storage.index.batch_consume_queue import BatchConsumeQueue
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.derived_files import DerivedFiles
from aerobee.storage.read.time_search import TimestampAt, stored_at
from aerobee.storage.retain.removals import Removals

PASS_INTERVAL_MS = 1000
QUEUES_A_STEP = 4  # each may wait for the disk a few times


class TopicRetention:
    """The topics with a time of their own, and the pass that is under way."""

    def __init__(
        self,
        derived: DerivedFiles,
        store_timestamp_at: TimestampAt,
        removals: Removals,
    ) -> None:
        self._derived = derived
        self._store_timestamp_at = store_timestamp_at
        self._removals = removals
        self._retention_ms: dict[bytes, int] = {}
        self._next_pass_ms: int | None = None
        self._waiting: deque[ConsumeQueue | BatchConsumeQueue] = deque()

    def set(self, topic: bytes, retention_ms: int | None) -> None:
        """How long messages of a topic are seen; None: as long as the log has them."""
        if retention_ms is None:
            self._retention_ms.pop(topic, None)
            return
        if retention_ms <= 0:
            raise Misuse(f"a retention of {retention_ms} ms", hint="it must be positive")
        self._retention_ms[topic] = retention_ms
        self._next_pass_ms = None

    def step(self, time_ms: int, monotonic_ms: int) -> None:
        """Go on with the pass, or begin one if it is time."""
        if not self._waiting and self._is_due(monotonic_ms):
            self._next_pass_ms = monotonic_ms + PASS_INTERVAL_MS
            self._begin()
        for _ in range(min(QUEUES_A_STEP, len(self._waiting))):
            queue = self._waiting.popleft()
            retention_ms = self._retention_ms.get(queue.topic)
            if retention_ms is not None:
                self._hide(queue, time_ms - retention_ms)

    def _is_due(self, monotonic_ms: int) -> bool:
        if not self._retention_ms:
            return False
        return self._next_pass_ms is None or monotonic_ms >= self._next_pass_ms

    def _begin(self) -> None:
        for topic in self._retention_ms:
            self._waiting.extend(self._derived.queues.of_topic(topic))
        for queue in self._derived.batch_queues.all():
            if queue.topic in self._retention_ms:
                self._waiting.append(queue)

    def _hide(self, queue: ConsumeQueue | BatchConsumeQueue, since_ms: int) -> None:
        """Hide the messages of a queue that were stored before a time."""
        if isinstance(queue, ConsumeQueue):
            hidden = queue.hide_before(self._first_since(queue, since_ms))
        else:
            unit = queue.find(queue.first_since(since_ms))
            hidden = queue.hide_below(queue.log_end if unit is None else unit.log_offset)
        for file in hidden:
            self._removals.add(file.disk_file)

    def _first_since(self, queue: ConsumeQueue, since_ms: int) -> int:
        """The first visible queue offset whose record was stored then or later."""

        def stored_ms(queue_offset: int) -> int:
            return stored_at(queue, queue_offset, self._store_timestamp_at)

        start, end = queue.min_offset, queue.max_offset
        if start == end or stored_ms(start) >= since_ms:
            return start
        # `start` is too old from here on; the strides grow.
        stride = 1
        while start + stride < end and stored_ms(start + stride) < since_ms:
            start += stride
            stride *= 2
        end = min(start + stride, end)
        return bisect_left(range(end), since_ms, start + 1, key=stored_ms)
