"""MessageSizes has a histogram of message sizes for each topic, without a look at every message.

The number and bytes of a queue's new messages are known; their distribution over the buckets is
sampled from the queue's units, up to 64 of them, fewer if very many queues got messages, evenly
spaced. Each stands for those up to the next. So count and sum are exact, and the buckets are exact
for queues that got no more than that between two samplings, some seconds apart.
"""

from collections.abc import Callable, Iterator

from aerobee.model.histogram import Histogram
from aerobee.storage.index.consume_queue import FILLER_SIZE, ConsumeQueue

KIB = 1024
BOUNDS = (KIB, 4 * KIB, 512 * KIB, KIB * KIB, 2 * KIB * KIB, 4 * KIB * KIB)
"""RocketMQ's."""
UNITS_A_QUEUE = 64
UNITS_A_LOOK = 4096  # some two milliseconds


def units_a_queue(queues: int) -> int:
    """The number of units to sample per queue, if so many queues got messages."""
    return max(1, min(UNITS_A_QUEUE, UNITS_A_LOOK // max(1, queues)))


class MessageSizes:
    def __init__(self) -> None:
        self._topics: dict[str, Histogram] = {}

    def add(
        self, topic: str, queue: ConsumeQueue, messages: int, size: int, units_max: int
    ) -> None:
        """Add the new messages of a queue: their number, and their bytes in all."""
        if messages <= 0:
            return
        found = self._topics.get(topic)
        if found is None:
            found = self._topics[topic] = Histogram(BOUNDS)
        total = found.sum + size
        stride = -(-messages // units_max)
        last = size // messages
        for start in range(0, messages, stride):
            unit = queue.unit(queue.max_offset - messages + start)
            # Hidden or a gap: take the size of the one before, or the average.
            if unit is not None and unit[1] != FILLER_SIZE:
                last = unit[1]
            found.add(last, min(stride, messages - start))
        found.sum = total

    def forget(self, has_topic: Callable[[str], bool]) -> None:
        """Forget topics that do not exist any more."""
        self._topics = {name: one for name, one in self._topics.items() if has_topic(name)}

    def __iter__(self) -> Iterator[tuple[str, Histogram]]:
        return iter(list(self._topics.items()))
