"""Search for a time in a queue: halving over the store timestamps of its records.

Store timestamps never go back in the log, and a queue's units rise in it, so they never go back in
a queue either.
"""

from collections.abc import Callable
from enum import Enum

from aerobee.storage.index.consume_queue import FILLER_SIZE, ConsumeQueue


class Boundary(Enum):
    LOWER = "LOWER"  # the first message stored at or after the time
    UPPER = "UPPER"  # the last message stored at or before it


def offset_by_time(
    queue: ConsumeQueue,
    time_ms: int,
    boundary: Boundary,
    store_timestamp_at: Callable[[int], int | None],
) -> int:
    """The queue offset of a time, within the queue; an empty queue answers its only offset."""

    def stored_at(queue_offset: int) -> int:
        unit = queue.unit(queue_offset)
        while unit is not None and unit[1] == FILLER_SIZE:
            queue_offset -= 1  # a gap counts as stored with the record before it
            unit = queue.unit(queue_offset)
        # A record that retention took away meanwhile was stored before any that is left.
        return 0 if unit is None else store_timestamp_at(unit[0]) or 0

    # The first offset stored at or after `bound`: the answer for LOWER, and one past it for UPPER.
    bound = time_ms if boundary is Boundary.LOWER else time_ms + 1
    low, high = queue.min_offset, queue.max_offset
    while low < high:
        middle = (low + high) // 2
        if stored_at(middle) < bound:
            low = middle + 1
        else:
            high = middle
    if boundary is Boundary.UPPER:
        return max(low - 1, queue.min_offset)
    return low
