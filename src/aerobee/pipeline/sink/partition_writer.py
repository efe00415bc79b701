"""The writer in an executor: sends record batches as messages, and waits for all answers.

A task's memory is one record batch and a request for each queue, however many rows it has. It
returns when every row is acknowledged, and raises otherwise: Spark then runs it again. Rows of a
transactional write are staged; the driver gets their places and publishes them.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from aerobee.client.core.namespace import with_namespace
from aerobee.client.send.delivery import Delivery
from aerobee.errors import Misuse
from aerobee.pipeline.sink.outbox import Outbox, delivering
from aerobee.pipeline.sink.queue_plan import QueuePlan, plan_for
from aerobee.pipeline.sink.sink_options import Guarantee, SinkOptions
from aerobee.pipeline.sink.staged_write import StagedRows, staging, staging_plan
from aerobee.pipeline.sink.topic_writer import Parcel, TopicWriter
from aerobee.pipeline.sink.write_round import OpenedRound, agree, finish_task
from aerobee.pipeline.spark.worker_client import WorkerClient, kept
from aerobee.protocol.message.producer_mark import ROUND_EPOCHS

_ASK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class WriteTask:
    """The identity of a task: another attempt to write the same rows has the same."""

    write_id: str
    """Of the query, or of a batch write."""
    round_id: int
    """The micro-batch."""
    partition: int


class WrittenRows(NamedTuple):
    rows: int
    staged: StagedRows | None = None
    """Where they are until they are published; None: they are where they belong."""
    places: tuple[tuple[str, str], ...] = ()
    """Topics, and brokers that remember this task for them."""


def write_partition(options: SinkOptions, task: WriteTask, batches: Iterable[Any]) -> WrittenRows:
    """Write all rows of a task; returns when they are stored."""
    writer = PartitionWriter(kept(options.target, _ASK_SECONDS), options, task)
    try:
        for batch in batches:
            writer.take(batch)
        writer.finish()
    except BaseException:
        writer.abandon()
        raise
    return WrittenRows(writer.rows, writer.staged(), writer.places())


class PartitionWriter:
    def __init__(self, blocking: WorkerClient, options: SinkOptions, task: WriteTask) -> None:
        self._blocking = blocking
        self._options = options
        self._task = task
        self._topics: dict[str, TopicWriter | None] = {}
        self._places: dict[Hashable, list[int]] = {}
        self._opened: OpenedRound | None = None
        self._outbox: Outbox[int] | Outbox[None]
        session, seconds = blocking.session, options.send_seconds
        if options.guarantee is Guarantee.TRANSACTIONAL:
            # Other marks than an idempotent write's: a query may change from one to the other.
            self._opened = OpenedRound(f"{task.write_id}/t{task.partition}", task.round_id)
            send = staging(session, task.write_id, task.round_id, seconds)
            self._outbox = Outbox(send, self._note_place)
        else:
            if options.guarantee is Guarantee.IDEMPOTENT:
                self._opened = OpenedRound(f"{task.write_id}/{task.partition}", task.round_id)
            self._outbox = Outbox(delivering(Delivery(session), seconds, options.group or None))
        self._broker_name = ""
        self.rows = 0

    def take(self, batch: Any) -> None:
        """Send the rows of a record batch, or keep them for a request that is not full yet."""
        if batch.num_rows == 0:
            return
        for topic, rows in self._by_topic(batch):
            writer = self._writer(topic, batch)
            if writer is not None:
                self._post(topic, writer.take(rows))
        self.rows += batch.num_rows

    def finish(self) -> None:
        for topic, writer in self._topics.items():
            if writer is not None:
                self._post(topic, writer.finish())
        self._blocking.run(self._outbox.finish())
        if self._opened is not None and self._opened.crowded:
            self._blocking.run(finish_task(self._blocking.session, self._opened))

    def staged(self) -> StagedRows | None:
        """Return the places of staged rows that the driver has to publish; None: not
        transactional."""
        if self._options.guarantee is not Guarantee.TRANSACTIONAL:
            return None
        places = tuple(place for lane in self._places.values() for place in lane)
        task = self._task
        topic = next(iter(self._topics), "")
        return StagedRows(
            task.write_id, task.round_id, task.partition, topic, self._broker_name, places
        )

    def places(self) -> tuple[tuple[str, str], ...]:
        """Return pairs of a topic and a broker that keeps marks of this task for it."""
        return () if self._opened is None else tuple(sorted(self._opened.places))

    def _note_place(self, lane: Hashable, place: int) -> None:
        self._places.setdefault(lane, []).append(place)

    def abandon(self) -> None:
        self._blocking.run(self._outbox.abandon())

    def _post(self, topic: str, parcels: Iterable[Parcel]) -> None:
        for parcel in parcels:
            lane = (topic, parcel.lane)
            self._blocking.run(self._outbox.post(lane, parcel.draft, parcel.queue))

    def _by_topic(self, batch: Any) -> list[tuple[str, Any]]:
        if "topic" not in batch.schema.names:
            return [(self._options.topic, batch)]
        import pyarrow.compute as pc  # only for rows that name their topics

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

    def _writer(self, topic: str, batch: Any) -> TopicWriter | None:
        """Return the writer of a topic; None: all rows of this topic are stored already."""
        if topic not in self._topics:
            self._topics[topic] = self._blocking.run(self._begun(topic, batch))
        return self._topics[topic]

    async def _begun(self, topic: str, batch: Any) -> TopicWriter | None:
        session = self._blocking.session
        wired = with_namespace(session.options.namespace, topic)
        plan: QueuePlan | None
        if self._opened is None:
            plan = plan_for(
                (await session.routes.of(wired, may_be_new=True)).physical("Spark").writable
            )
        elif self._options.guarantee is Guarantee.TRANSACTIONAL:
            plan = await staging_plan(session, wired, self._options.broker or self._broker_name)
            self._broker_name = plan.brokers[0][0]
            self._opened.epochs[self._broker_name] = self._task.round_id * ROUND_EPOCHS
        else:
            plan = await agree(session, self._opened, wired, self._options.send_seconds)
            if plan is None:
                return None
        return TopicWriter(
            wired,
            plan,
            frozenset(batch.schema.names),
            self._options.request_bytes,
            self._task.partition,
            self._opened,
            session.new_id,
        )
