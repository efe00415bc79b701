"""Search for a time in a queue: halving over the store timestamps of its records.

Store timestamps never go back in the log, and a queue's units rise in it, so they never go back in
a queue either.
"""

from bisect import bisect_left
from collections.abc import Callable
from enum import Enum
from typing import TypeAlias

from aerobee.storage.index.consume_queue import FILLER_SIZE, ConsumeQueue

TimestampAt: TypeAlias = Callable[[int], int | None]
"""Log offset → when the record there was stored; None: it is gone."""


class Boundary(Enum):
    LOWER = "LOWER"  # the first message stored at or after the time
    UPPER = "UPPER"  # the last message stored at or before it


def stored_at(queue: ConsumeQueue, queue_offset: int, store_timestamp_at: TimestampAt) -> int:
    """When the record of a queue offset was stored; of a gap, the record before it."""
    unit = queue.unit(queue_offset)
    while unit is not None and unit[1] == FILLER_SIZE:
        queue_offset -= 1
        unit = queue.unit(queue_offset)
    # A record that retention took away meanwhile was stored before any that is left.
    return 0 if unit is None else store_timestamp_at(unit[0]) or 0


def offset_by_time(
    queue: ConsumeQueue, time_ms: int, boundary: Boundary, store_timestamp_at: TimestampAt
) -> int:
    """The queue offset of a time, within the queue; an empty queue answers its only offset."""
    # The first offset stored at or after `bound`: the answer for LOWER, and one past it for UPPER.
    bound = time_ms if boundary is Boundary.LOWER else time_ms + 1
    found = bisect_left(
        range(queue.max_offset),
        bound,
        queue.min_offset,
        key=lambda queue_offset: stored_at(queue, queue_offset, store_timestamp_at),
    )
    if boundary is Boundary.UPPER:
        return max(found - 1, queue.min_offset)
    return found
