"""The reader in an executor: turns ranges of queues into Arrow batches.

A task's memory is one batch and a few answers, however large its ranges are. Small ranges share a
batch. All its input is plain values: it opens its own connections, and keeps them for the next task
of the same worker.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from aerobee.client.api.client_options import ClientOptions, options_for
from aerobee.errors import RemoteProtocolError
from aerobee.pipeline.arrow.arrow_batches import finish_batch
from aerobee.pipeline.arrow.message_columns import ENDED, FULL, SPECIAL, MessageColumns
from aerobee.pipeline.arrow.schema import OFFSET, TAGS, TopicSchema
from aerobee.pipeline.arrow.unpacked_rows import unpacked_rows
from aerobee.pipeline.source.offset_ranges import QueueRange
from aerobee.pipeline.source.range_pull import answers_of
from aerobee.pipeline.source.source_options import SourceOptions
from aerobee.pipeline.spark.worker_client import WorkerClient, kept
from aerobee.protocol.message.record_check import FINDINGS
from aerobee.protocol.message.tag_filter import tags_of

if TYPE_CHECKING:
    from aerobee.pipeline.values.value_decoding import DeadLetter

BATCH_BYTES_MAX = 64 << 20

V = TypeVar("V")


def read_ranges(options: SourceOptions, ranges: Sequence[QueueRange]) -> Iterator[Any]:
    """Yield the messages of these ranges, as record batches."""
    if ranges:
        yield from _TaskReader(kept(options.target, options.timeout), options, ranges).batches()


class _TaskReader:
    """Reads the ranges of one task, batch by batch."""

    def __init__(
        self, blocking: WorkerClient, options: SourceOptions, ranges: Sequence[QueueRange]
    ) -> None:
        self._blocking = blocking
        self._options = options
        self._ranges = ranges
        self._wanted = ranges[0]
        self._tags = tags_of(options.tags) if not options.sql else ()
        self._schema = options.schema
        # A broker compares hashes of tags, so readers compare the tags themselves.
        self._built = options.schema
        if self._tags and TAGS not in self._built.names:
            self._built = TopicSchema((*self._built.names, TAGS), self._built.property_form)
        self._decoding = None
        if options.values is not None:
            from aerobee.pipeline.values.value_decoding import ValueDecoding

            self._decoding = ValueDecoding(options.values, self._bury)
            if OFFSET not in self._built.names:
                self._built = TopicSchema((*self._built.names, OFFSET), self._built.property_form)
        # No more room than there can be rows: most of what a small task costs was making it.
        rows = min(options.rows_max, max(1, sum(one.size for one in ranges)))
        self._columns = MessageColumns(self._built.wanted, rows, BATCH_BYTES_MAX)

    def batches(self) -> Iterator[Any]:
        answers = answers_of(self._blocking.session, self._options, self._ranges)
        try:
            while (answer := self._blocking.run(_next(answers))) is not None:
                wanted, pulled = answer
                if self._columns.rows and not self._may_share(wanted):
                    yield self._finished()
                self._wanted = wanted
                yield from self._taken(pulled.records)
            if self._columns.rows:
                yield self._finished()
        finally:
            self._blocking.run(_closed(answers))

    def _may_share(self, wanted: QueueRange) -> bool:
        """Whether rows of this range may be added to the current batch. All rows of a batch have
        the same broker, and the same queue where values that cannot be decoded are reported."""
        if self._decoding is not None:
            return wanted.queue == self._wanted.queue
        return wanted.queue.broker_name == self._wanted.queue.broker_name

    def _taken(self, records: bytes) -> Iterator[Any]:
        view = memoryview(records)
        position = 0
        while True:
            came_to = self._columns.take(view, position, len(records), self._wanted.end)
            position = self._columns.position
            if came_to == ENDED:
                return
            if came_to == SPECIAL:
                size = self._columns.record_size
                for row in unpacked_rows(records[position : position + size]):
                    if self._wanted.start <= row.offset < self._wanted.end:
                        self._columns.add(row)
                        if self._columns.is_full():
                            yield self._finished()
                position += size
            elif came_to == FULL:
                yield self._finished()
            else:
                raise RemoteProtocolError(
                    f"{FINDINGS[self._columns.finding]} in an answer of {self._wanted.queue}, "
                    f"after offset {self._columns.next_offset - 1}"
                )

    def _finished(self) -> Any:
        batch = finish_batch(self._columns, self._built, self._wanted.queue.broker_name)
        if self._tags:
            import pyarrow.compute as pc  # which takes longer than a small task does

            batch = batch.filter(pc.is_in(batch.column(TAGS), pa.array(self._tags, pa.string())))
        if self._decoding is not None:
            batch = self._decoding.decoded(batch, self._wanted.queue)
        return batch.select(list(self._schema.names)) if self._built != self._schema else batch

    def _bury(self, letters: "Sequence[DeadLetter]") -> None:
        assert self._options.values is not None
        topic = self._options.values.dead_letter_topic
        target, timeout = self._options.target, self._options.timeout
        self._blocking.run(_sent(options_for(target, timeout=timeout), topic, letters))


async def _sent(options: ClientOptions, topic: str, letters: "Sequence[DeadLetter]") -> None:
    from aerobee.client.client import Client  # a reader of whole queues needs no other of it

    async with Client(options) as client:
        for letter in letters:
            await client.send(topic, letter.body, headers=letter.headers)


async def _next(answers: AsyncIterator[V]) -> V | None:
    return await anext(answers, None)


async def _closed(answers: Any) -> None:
    await answers.aclose()
