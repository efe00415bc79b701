"""The data source `aerobee`, for Spark: topics as tables, batch and streaming.

    spark.read.format("aerobee").option("nameServer", "localhost:9876").option("topic", "t").load()
    spark.readStream.format("aerobee")...

Thin on purpose: options, planning and decoding are modules that know no Spark. An executor gets a
`Ranges`: plain values.
"""

import logging
import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from aerobee.errors import AerobeeError, Misuse
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.source.offset_ranges import QueueRange
from aerobee.pipeline.source.source_options import SourceOptions, source_options
from aerobee.pipeline.source.source_planning import SourcePlanning
from aerobee.pipeline.source.stream_offsets import as_dict, from_dict, pieces_in
from aerobee.pipeline.spark.worker_client import WorkerClient
from aerobee.pipeline.spark.worker_memory import settle

if TYPE_CHECKING:
    from aerobee.pipeline.sink.spark_sink import AerobeeStreamWriter, AerobeeWriter

_log = logging.getLogger(__name__)

Nested = dict[str, Any]

_NO_LIMIT = 2**62


class Ranges(InputPartition):
    """The ranges that one task reads, in order."""

    def __init__(self, ranges: Sequence[QueueRange]) -> None:
        super().__init__(None)
        # Plain tuples: what is pickled must not depend on where a class is.
        self.ranges = [
            (one.queue.topic, one.queue.broker_name, int(one.queue.queue_id), one.start, one.end)
            for one in ranges
        ]

    def restored(self) -> list[QueueRange]:
        return [
            QueueRange(MessageQueue(topic, broker_name, QueueId(queue_id)), start, end)
            for topic, broker_name, queue_id, start, end in self.ranges
        ]


class AerobeeSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return "aerobee"

    def schema(self) -> str:
        return _schema_options(self.options).schema.ddl()

    def reader(self, schema: StructType) -> "AerobeeReader":
        return AerobeeReader(source_options(self.options, is_stream=False))

    def streamReader(self, schema: StructType) -> "AerobeeStreamReader":
        return AerobeeStreamReader(source_options(self.options, is_stream=True))

    # Every process that Spark starts for a read imports this module: the other half comes later.

    def writer(self, schema: StructType, overwrite: bool) -> "AerobeeWriter":
        from aerobee.pipeline.sink.spark_sink import AerobeeWriter, checked_options

        return AerobeeWriter(
            checked_options(self.options, schema, is_stream=False, overwrite=overwrite)
        )

    def streamWriter(self, schema: StructType, overwrite: bool) -> "AerobeeStreamWriter":
        from aerobee.pipeline.sink.spark_sink import AerobeeStreamWriter, checked_options

        return AerobeeStreamWriter(
            checked_options(self.options, schema, is_stream=True, overwrite=overwrite)
        )


class RocketmqSource(AerobeeSource):
    """The same source, under the name `rocketmq`."""

    @classmethod
    def name(cls) -> str:
        return "rocketmq"


class _Executing:
    """Base of both readers: the part that runs in an executor."""

    options: SourceOptions

    def read(self, partition: InputPartition) -> Iterator[Any]:
        from aerobee.pipeline.source.partition_reader import (
            read_ranges,  # the driver plans and reads not
        )

        assert isinstance(partition, Ranges)
        settle(os.getpid())
        return read_ranges(self.options, partition.restored())


class AerobeeReader(_Executing, DataSourceReader):
    def __init__(self, options: SourceOptions) -> None:
        self.options = options

    def partitions(self) -> Sequence[InputPartition]:
        blocking = WorkerClient(self.options.target, self.options.timeout)
        try:
            planner = SourcePlanning(self.options, blocking, os.cpu_count() or 1)
            start, end = planner.at(self.options.start), planner.at(self.options.end)
            start = planner.with_new_queues(start, end)
            planned = planner.partitions(start, end)
        finally:
            blocking.close()
        return [Ranges(ranges) for ranges in planned] or [Ranges([])]


class AerobeeStreamReader(_Executing, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Lives in one process beside the driver for as long as the query does. An executor gets a copy
    of it that has the options only."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self._planner: SourcePlanning | None = None
        self._initial: dict[MessageQueue, int] | None = None
        self._is_pinned = True
        self._frozen_end: dict[MessageQueue, int] | None = None
        self._waiting_since: float | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"options": self.options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["options"])  # type: ignore[misc]

    # Where it stands.

    def initialOffset(self) -> Nested:
        """Return the start; Spark calls this more than once, and always gets the same."""
        if self._initial is None:
            self._initial = self._plan().at(self.options.start)
            self._is_pinned = False
            if self._frozen_end is not None:
                # What came between the two is not loss: the stream begins after what was frozen.
                for queue, offset in self._initial.items():
                    self._frozen_end[queue] = max(offset, self._frozen_end.get(queue, 0))
        return as_dict(self._initial)

    def latestOffset(self, start: Nested, limit: ReadLimit) -> Nested:
        if not self._is_pinned:
            # Spark writes down where a batch ends, not where the first begins. An empty one does:
            # a crash in the first real batch would begin somewhere else otherwise.
            self._is_pinned = True
            return start
        planner = self._plan()
        stands = at = from_dict(start)
        ends = planner.latest() if self._frozen_end is None else self._frozen_end
        latest = planner.without_lost_queues(at, ends)
        at = planner.with_new_queues(at, latest)
        if isinstance(limit, ReadAllAvailable):
            end = latest
        elif self._is_too_little(at, latest):
            return start
        else:
            end = planner.limited_end(at, latest)
        # The same places are the same text, whoever wrote it and with how many cores.
        return start if end == stands else as_dict(end, planner.pieces)

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return a limit that lets the options decide: Spark knows no limit in messages of a
        topic."""
        return ReadMaxRows(self.options.batch_messages_max or _NO_LIMIT)

    def prepareForTriggerAvailableNow(self) -> None:
        self._frozen_end = self._plan().latest()

    def reportLatestOffset(self) -> Nested:
        return as_dict(self._plan().latest())

    def partitions(self, start: Nested, end: Nested) -> Sequence[InputPartition]:
        planner = self._plan()
        to = from_dict(end)
        at = planner.with_new_queues(from_dict(start), to)
        planned = planner.partitions(at, to, pieces_in(end))
        return [Ranges(ranges) for ranges in planned] or [Ranges([])]

    def commit(self, end: Nested) -> None:
        """Commit the offsets of the group, for tools to show; the checkpoint is authoritative.
        Spark never calls this for the last batch of a run: `progress_listener` covers that one,
        too."""
        if not self.options.commits:
            return
        group = self.options.group
        try:
            self._plan().commit(group, from_dict(end))
        except AerobeeError as error:
            _log.warning("the group %s was not told how far it is: %s", group, error)

    def stop(self) -> None:
        if self._planner is not None:
            self._planner.close()
            self._planner = None

    def _is_too_little(self, at: dict[MessageQueue, int], latest: dict[MessageQueue, int]) -> bool:
        """Whether to wait for more messages; False when that has taken too long already."""
        least = self.options.batch_messages_min
        ready = sum(max(0, end - at.get(key, 0)) for key, end in latest.items())
        now = time.monotonic()
        if not ready or ready >= least or self._frozen_end is not None:
            self._waiting_since = None
            return False
        if self._waiting_since is None:
            self._waiting_since = now
        if now - self._waiting_since < self.options.batch_delay_seconds:
            return True
        self._waiting_since = None
        return False

    def _plan(self) -> SourcePlanning:
        if self._planner is None:
            blocking = WorkerClient(self.options.target, self.options.timeout)
            self._planner = SourcePlanning(self.options, blocking, os.cpu_count() or 1)
        return self._planner


def _schema_options(given: Any) -> SourceOptions:
    """Parse the options for the schema only: those of a stream and those of a batch are both
    allowed."""
    try:
        return source_options(given, is_stream=False)
    except Misuse:
        return source_options(given, is_stream=True)
