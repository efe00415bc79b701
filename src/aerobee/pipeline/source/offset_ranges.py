"""Ranges of offsets to read, and their division into Spark's partitions: arithmetic only.

A replayed batch must get the partitions that it had, so all functions depend on their arguments
only: no clock, no chance, no order of dictionaries.

    limit   at most so many messages or bytes in a batch, each queue its share, none left out
    split   a large range becomes several, as many as it is larger than the others
    pack    many small ranges become few partitions: a Python task costs tens of milliseconds

R1. No function leaves an offset out or returns it twice.
"""

import heapq
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue
from aerobee.pipeline.source.stream_offsets import Offsets


class QueueRange(NamedTuple):
    """[start, end) of one queue."""

    queue: MessageQueue
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def ranges_between(start: Offsets, end: Offsets) -> list[QueueRange]:
    """Return the ranges between two sets of offsets, in the order of queues. Empty ones are left
    out; the caller adds new queues, which only `end` has, to `start`."""
    found = []
    for key in sorted(end):
        if key not in start:
            raise Misuse(f"{key} has an end and no start")
        if start[key] < end[key]:
            found.append(QueueRange(key, start[key], end[key]))
    return found


def limited(ranges: Sequence[QueueRange], messages_max: int) -> list[QueueRange]:
    """Limit all ranges together to so many messages: one of each, and a share of the rest.

    One of each, because a small queue beside a large one must not starve. If there are more queues
    than messages, some queues get their turn now and others next time; the turn is computed from
    the offsets.
    """
    if messages_max < 1:
        raise Misuse(f"a limit of {messages_max} messages reads nothing")
    total = sum(one.size for one in ranges)
    count = len(ranges)
    if total <= messages_max:
        return list(ranges)
    if messages_max < count:
        first = sum(one.start for one in ranges) % count
        chosen = sorted((first + turn) % count for turn in range(messages_max))
        return [ranges[index]._replace(end=ranges[index].start + 1) for index in chosen]
    more = _shares([one.size - 1 for one in ranges], messages_max - count)
    return [
        one._replace(end=one.start + 1 + share) for one, share in zip(ranges, more, strict=True)
    ]


def _shares(sizes: Sequence[int], amount: int) -> list[int]:
    """Divide an amount, at most the sum of the weights, in proportion; the remainder of rounding
    goes to the largest fractions, of equal ones to the first."""
    total = sum(sizes)
    shares = [size * amount // total for size in sizes]
    by_remainder = sorted(
        range(len(sizes)), key=lambda index: (-(sizes[index] * amount % total), index)
    )
    for index in by_remainder[: amount - sum(shares)]:
        shares[index] += 1
    return shares


def limited_by_bytes(
    ranges: Sequence[QueueRange], bytes_max: int, message_bytes: Mapping[MessageQueue, float]
) -> list[QueueRange]:
    """Limit the ranges to about so many bytes, by the mean size of messages of each queue so far.
    At least one message is read, however large it is."""
    if bytes_max < 1:
        raise Misuse(f"a limit of {bytes_max} bytes reads nothing")
    weight = sum(one.size * max(1.0, message_bytes.get(one.queue, 1.0)) for one in ranges)
    if weight <= bytes_max:
        return list(ranges)
    total = sum(one.size for one in ranges)
    return limited(ranges, max(1, int(total * (bytes_max / weight))))


def split(ranges: Sequence[QueueRange], *, pieces_min: int, messages_max: int) -> list[QueueRange]:
    """Cut large ranges, so that there are at least `pieces_min` (0: any number) and none has more
    than `messages_max` (0: any number). The pieces of one range are as equal as possible."""
    total = sum(one.size for one in ranges)
    pieces = []
    for one in ranges:
        count = 1
        if pieces_min > len(ranges) and total:
            count = max(1, round(one.size * pieces_min / total))
        if messages_max:
            count = max(count, -(-one.size // messages_max))
        pieces += _cut(one, min(count, max(1, one.size)))
    return pieces


def pack(
    ranges: Sequence[QueueRange], partitions_max: int, messages_max: int = 0
) -> list[list[QueueRange]]:
    """Pack ranges into few partitions of similar size: the largest range first, each into the
    emptiest partition. At most `partitions_max`, or as many as needed for none to have more than
    `messages_max` (0: any number). Within a partition ranges are in the order of queues."""
    if partitions_max < 1:
        raise Misuse(f"{partitions_max} partitions hold nothing")
    filled: list[list[QueueRange]] = [[] for _ in range(min(partitions_max, len(ranges)))]
    emptiest = [(0, index) for index in range(len(filled))]
    for one in sorted(ranges, key=lambda one: (-one.size, one.queue, one.start)):
        size, index = emptiest[0]
        if messages_max and size and size + one.size > messages_max:
            index = len(filled)  # where the emptiest has no room, none has
            filled.append([one])
            heapq.heappush(emptiest, (one.size, index))
        else:
            filled[index].append(one)
            heapq.heapreplace(emptiest, (size + one.size, index))
    return [sorted(partition) for partition in filled]


def _cut(one: QueueRange, count: int) -> list[QueueRange]:
    places = [one.start + one.size * index // count for index in range(count + 1)]
    return [one._replace(start=start, end=end) for start, end in pairwise(places) if start < end]
