"""SourcePlanning plans reads in the driver: offsets of servers → partitions, without Spark.

    batch    the offsets of start and end, once
    stream   the start, fixed once; then, for each trigger, the end: all messages, or a share of
             them, or none yet

L1. A new queue begins at its earliest message; a queue that is gone is data loss, which is an error
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
        """Return the offset of a place, in every queue that exists now."""

        async def ask() -> dict[MessageQueue, int]:
            return await self._queues.at(await self._queues.found(), place)

        return self._insisted(ask)

    def latest(self) -> dict[MessageQueue, int]:
        """Return the end of every queue that exists now."""

        async def ask() -> dict[MessageQueue, int]:
            return await self._queues.latest(await self._queues.found())

        return self._insisted(ask)

    @property
    def pieces(self) -> int:
        """The maximal number of partitions of a batch."""
        return self._options.partitions_max or self._cores

    def partitions(self, start: Offsets, end: Offsets, most: int = 0) -> list[list[QueueRange]]:
        """Return the partitions of a batch. With `most` given, they depend on the arguments and the
        options only."""
        options = self._options
        pieces = split(
            ranges_between(start, end),
            pieces_min=options.partitions_min,
            messages_max=options.partition_messages_max,
        )
        most = max(most or self.pieces, options.partitions_min)
        return pack(pieces, most, options.partition_messages_max)

    def with_new_queues(self, start: Offsets, end: Offsets) -> dict[MessageQueue, int]:
        """Return `start`, with new queues added at their earliest offset."""
        new = [key for key in end if key not in start]
        if not new:
            return dict(start)
        _log.info("new queues: %s", ", ".join(map(str, new)))
        return {**start, **self._insisted(lambda: self._queues.earliest(new))}

    def without_lost_queues(self, start: Offsets, latest: Offsets) -> dict[MessageQueue, int]:
        """Return the ends of the queues as the end of a batch; for a queue that is gone or has gone
        back, its start. DataLoss, if that was not allowed."""
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
        """Return the end of a batch within the limits of one trigger."""
        ranges: Sequence[QueueRange] = ranges_between(start, end)
        options = self._options
        if options.batch_messages_max and ranges:
            ranges = limited(ranges, options.batch_messages_max)
        if options.batch_bytes_max and ranges:
            weighed = self._blocking.run(self._weighed(ranges))
            ranges = limited_by_bytes(ranges, options.batch_bytes_max, weighed)
        return {**start, **{one.queue: one.end for one in ranges}}

    async def _weighed(self, ranges: Sequence[QueueRange]) -> dict[MessageQueue, float]:
        """Return the mean size of the next few messages of each queue."""
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
