"""What runs in an executor for a write: record batches → messages, acknowledged.

A task's memory is one record batch and a request for each queue, however many rows it has. It
returns when every row is acknowledged, and raises otherwise: Spark then runs it again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from aerobee.client.core.namespace import with_namespace
from aerobee.client.delivery import Delivery
from aerobee.errors import Misuse
from aerobee.pipeline.blocking import Blocking, kept
from aerobee.pipeline.outbox import Outbox
from aerobee.pipeline.round_opening import OpenedRound, agree
from aerobee.pipeline.sink_options import Guarantee, SinkOptions
from aerobee.pipeline.sink_plan import plan_for
from aerobee.pipeline.topic_writer import Parcel, TopicWriter

_ASK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class WriteTask:
    """Which rows these are: who writes them again, is the same task."""

    write_id: str
    """Of the query, or of a batch write."""
    round_id: int
    """The micro-batch."""
    partition: int

    @property
    def producer(self) -> str:
        return f"{self.write_id}/{self.partition}"


def write_partition(options: SinkOptions, task: WriteTask, batches: Iterable[Any]) -> int:
    """Have all rows stored; how many there were."""
    writer = PartitionWriter(kept(options.target, _ASK_SECONDS), options, task)
    try:
        for batch in batches:
            writer.take(batch)
        writer.finish()
    except BaseException:
        writer.abandon()
        raise
    return writer.rows


class PartitionWriter:
    def __init__(self, blocking: Blocking, options: SinkOptions, task: WriteTask) -> None:
        self._blocking = blocking
        self._options = options
        self._task = task
        self._topics: dict[str, TopicWriter] = {}
        self._outbox = Outbox(
            Delivery(blocking.session), options.send_seconds, options.group or None
        )
        self._opened: OpenedRound | None = None
        if options.guarantee is Guarantee.IDEMPOTENT:
            self._opened = OpenedRound(task.producer, task.round_id)
        self.rows = 0

    def take(self, batch: Any) -> None:
        """Send the rows of a record batch, or keep them for a request that is not full yet."""
        if batch.num_rows == 0:
            return
        for topic, rows in self._by_topic(batch):
            self._post(topic, self._writer(topic, batch).take(rows))
        self.rows += batch.num_rows

    def finish(self) -> None:
        for topic, writer in self._topics.items():
            self._post(topic, writer.finish())
        self._blocking.run(self._outbox.finish())

    def abandon(self) -> None:
        self._blocking.run(self._outbox.abandon())

    def _post(self, topic: str, parcels: Iterable[Parcel]) -> None:
        for parcel in parcels:
            lane = (topic, parcel.lane)
            self._blocking.run(self._outbox.post(lane, parcel.draft, parcel.queue))

    def _by_topic(self, batch: Any) -> list[tuple[str, Any]]:
        if "topic" not in batch.schema.names:
            return [(self._options.topic, batch)]
        column = batch.column("topic")
        topics = pc.unique(column).to_pylist()
        if len(topics) == 1:
            return [(self._named(topics[0]), batch)]
        found = []
        for topic in topics:
            chosen = pc.is_null(column) if topic is None else pc.equal(column, topic)
            found.append((self._named(topic), batch.filter(chosen, null_selection_behavior="drop")))
        return found

    def _named(self, topic: str | None) -> str:
        named = topic or self._options.topic
        if not named:
            raise Misuse("a row without a topic", hint="give the option topic for such rows")
        return named

    def _writer(self, topic: str, batch: Any) -> TopicWriter:
        writer = self._topics.get(topic)
        if writer is None:
            writer = self._topics[topic] = self._blocking.run(self._begun(topic, batch))
        return writer

    async def _begun(self, topic: str, batch: Any) -> TopicWriter:
        session = self._blocking.session
        wired = with_namespace(session.options.namespace, topic)
        if self._opened is None:
            plan = plan_for((await session.routes.of(wired, may_be_new=True)).writable)
        else:
            plan = await agree(session, self._opened, wired, self._options.send_seconds)
        return TopicWriter(
            wired,
            plan,
            frozenset(batch.schema.names),
            self._options.request_bytes,
            self._task.partition,
            self._opened,
            session.new_id,
        )
