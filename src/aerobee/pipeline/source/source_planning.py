"""From what servers say to partitions: the driver's side of batch and stream, without Spark.

    batch    the places of start and end, once
    stream   where it begins, pinned; then, each time, where it may go to: everything that is there,
             or a share of it, or nothing yet

L1. A new queue begins at its earliest message; one that is gone is loss, and loss is an error
    unless it was allowed.
"""

import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from aerobee.model.message_queue import MessageQueue
from aerobee.pipeline.source.offset_ranges import (
    QueueRange,
    limited,
    limited_by_bytes,
    pack,
    ranges_between,
    split,
)
from aerobee.pipeline.source.queue_lookup import QueueLookup
from aerobee.pipeline.source.range_pull import DataLoss, RangePull
from aerobee.pipeline.source.source_options import SourceOptions, StartPlace
from aerobee.pipeline.source.stream_offsets import Offsets
from aerobee.pipeline.spark.worker_client import WorkerClient

_log = logging.getLogger(__name__)

V = TypeVar("V")

WEIGHED_MESSAGES = 32


class SourcePlanning:
    def __init__(self, options: SourceOptions, blocking: WorkerClient, cores: int) -> None:
        self._options = options
        self._blocking = blocking
        self._queues = QueueLookup(blocking.session, options)
        self._cores = cores

    def at(self, place: StartPlace) -> dict[MessageQueue, int]:
        """Where a place is, in every queue that there is now."""

        async def ask() -> dict[MessageQueue, int]:
            return await self._queues.at(await self._queues.found(), place)

        return self._insisted(ask)

    def latest(self) -> dict[MessageQueue, int]:
        """The end of every queue that there is now."""

        async def ask() -> dict[MessageQueue, int]:
            return await self._queues.latest(await self._queues.found())

        return self._insisted(ask)

    @property
    def pieces(self) -> int:
        """How many a batch is packed into, at most."""
        return self._options.partitions_max or self._cores

    def partitions(self, start: Offsets, end: Offsets, most: int = 0) -> list[list[QueueRange]]:
        """A function of its arguments and the options, and, if it is said how many there are
        to be at `most`, of nothing else."""
        options = self._options
        pieces = split(
            ranges_between(start, end),
            pieces_min=options.partitions_min,
            messages_max=options.partition_messages_max,
        )
        most = max(most or self.pieces, options.partitions_min)
        return pack(pieces, most, options.partition_messages_max)

    def with_new_queues(self, start: Offsets, end: Offsets) -> dict[MessageQueue, int]:
        """`start`, with the queues that came since at their earliest."""
        new = [key for key in end if key not in start]
        if not new:
            return dict(start)
        _log.info("new queues: %s", ", ".join(map(str, new)))
        return {**start, **self._insisted(lambda: self._queues.earliest(new))}

    def without_lost_queues(self, start: Offsets, latest: Offsets) -> dict[MessageQueue, int]:
        """How far a batch may go: the ends of the queues; of one that is gone or has gone back,
        where we are. DataLoss, if that was not allowed."""
        ends = dict(latest)
        for key, offset in start.items():
            if latest.get(key, -1) >= offset:
                continue
            what = f"ends at {latest[key]} now" if key in latest else "is gone"
            message = f"{key} was read up to {offset}, and {what}"
            if self._options.fails_on_loss:
                raise DataLoss(
                    message,
                    hint="was the topic made anew, or its broker lost? "
                    "failOnDataLoss=false goes on without",
                )
            _log.warning("%s", message)
            ends[key] = offset
        return ends

    def limited_end(self, start: Offsets, end: Offsets) -> dict[MessageQueue, int]:
        """How far a batch goes within the limits of one trigger."""
        ranges: Sequence[QueueRange] = ranges_between(start, end)
        options = self._options
        if options.batch_messages_max and ranges:
            ranges = limited(ranges, options.batch_messages_max)
        if options.batch_bytes_max and ranges:
            weighed = self._blocking.run(self._weighed(ranges))
            ranges = limited_by_bytes(ranges, options.batch_bytes_max, weighed)
        return {**start, **{one.queue: one.end for one in ranges}}

    async def _weighed(self, ranges: Sequence[QueueRange]) -> dict[MessageQueue, float]:
        """What a message of each queue weighs, by the next few of them."""
        found = {}
        for one in ranges:
            few = one._replace(end=min(one.end, one.start + WEIGHED_MESSAGES))
            async for pulled in RangePull(self._blocking.session, self._options, few).answers():
                found[one.queue] = len(pulled.records) / few.size
                break
        return found

    def commit(self, group: str, offsets: Offsets) -> None:
        self._insisted(lambda: self._queues.commit(group, offsets))

    def close(self) -> None:
        """Close the client that it was given."""
        self._blocking.close()

    def _insisted(self, ask: Callable[[], Coroutine[Any, Any, V]]) -> V:
        options = self._options
        return self._blocking.insist(ask, options.retries, options.retry_seconds)
