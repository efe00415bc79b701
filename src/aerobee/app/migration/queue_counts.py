"""Comparison of queues and consumer offsets of two brokers, while one of them may be written to.

The master is asked before and after the other one. A queue of the other one must end between the
two answers of the master, and must not begin behind the master's first answer.
"""

from collections.abc import Mapping

from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.bodies.topic_stats import QueueStats

Counts = Mapping[MessageQueue, QueueStats]
Offsets = Mapping[tuple[str, str], Mapping[int, int]]
"""Committed offsets by topic and group, by queue."""

_EMPTY = QueueStats(0, 0, 0)


def count_differences(before: Counts, own: Counts, after: Counts) -> list[str]:
    """A sentence for each queue whose messages differ."""
    found = []
    for queue in sorted({*before, *own, *after}):
        first, mine, last = (one.get(queue, _EMPTY) for one in (before, own, after))
        if not first.max_offset <= mine.max_offset <= last.max_offset:
            found.append(
                f"{queue.topic} queue {queue.queue_id} ends at {mine.max_offset} here, and at "
                f"{last.max_offset} on the master"
            )
        elif first.max_offset > 0 and mine.min_offset > max(0, last.min_offset):
            found.append(
                f"{queue.topic} queue {queue.queue_id} begins at {mine.min_offset} here, and at "
                f"{last.min_offset} on the master"
            )
    return found


def message_count(counts: Counts) -> int:
    return sum(one.max_offset - max(0, one.min_offset) for one in counts.values())


def older_offsets(master: Offsets, own: Offsets) -> list[str]:
    """The consumer offsets that are lower here than on the master, as `group topic queue`."""
    return [
        f"{group} {topic} {queue_id}"
        for (topic, group), queues in sorted(master.items())
        for queue_id, offset in sorted(queues.items())
        if own.get((topic, group), {}).get(queue_id, 0) < offset
    ]
