"""The data sink `aerobee`, for Spark: the classes behind `df.write` and `df.writeStream`.

    df.write.format("aerobee").option("nameServer", ...).option("topic", "t").mode("append").save()

Thin on purpose, as the source is. A task gets its identity from Spark: the query's id and the
number of the micro-batch stay the same when a batch is repeated. `commit` and `abort` run in
another process, on another writer: they know only the tasks' commit messages.
"""

import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from aerobee.errors import Misuse
from aerobee.pipeline.sink.partition_writer import WriteTask, write_partition
from aerobee.pipeline.sink.sink_options import SinkOptions, check_columns, sink_options
from aerobee.pipeline.sink.staged_write import StagedRows, publish
from aerobee.pipeline.sink.write_round import FINISH_SECONDS, finish_write
from aerobee.pipeline.spark.worker_client import WorkerClient
from aerobee.pipeline.spark.worker_memory import settle

_QUERY_ID = "sql.streaming.queryId"
_BATCH_ID = "streaming.sql.batchId"


@dataclass
class TaskCommit(WriterCommitMessage):
    """The commit message of a task that has written its rows."""

    rows: int
    staged: StagedRows | None
    places: tuple[tuple[str, str], ...] = ()


def checked_options(
    given: Mapping[str, str], schema: StructType, *, is_stream: bool, overwrite: bool
) -> SinkOptions:
    """Parse the options and check the columns before any task begins. Misuse."""
    options = sink_options(given, is_stream=is_stream)
    check_columns({one.name: one.dataType.simpleString() for one in schema}, options)
    if overwrite and not is_stream:
        raise Misuse("a topic cannot be overwritten", hint='mode("append") adds to it')
    return options


class AerobeeWriter(DataSourceArrowWriter):
    """A batch write. Without a writeId it gets one here, once for all tasks and their attempts."""

    def __init__(self, options: SinkOptions) -> None:
        self._options = options
        self._write_id = options.write_id or uuid.uuid4().hex

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        context = _context()
        task = WriteTask(self._write_id, self._options.batch_id, context.partitionId())
        return _write(self._options, task, iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        _publish(self._options, messages)
        _finish(self._options, self._write_id, messages)


class AerobeeStreamWriter(DataSourceStreamArrowWriter):
    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        context = _context()
        task = WriteTask(
            _property(context, _QUERY_ID),
            int(_property(context, _BATCH_ID)),
            context.partitionId(),
        )
        return _write(self._options, task, iterator)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        _publish(self._options, messages)


def _write(options: SinkOptions, task: WriteTask, batches: Iterator[Any]) -> TaskCommit:
    settle(os.getpid())
    return TaskCommit(*write_partition(options, task, batches))


def _publish(options: SinkOptions, messages: list[WriterCommitMessage | None]) -> None:
    """Publish staged rows. There is nothing to abort: rows that are not published are never
    seen."""
    written = [one.staged for one in messages if isinstance(one, TaskCommit) and one.staged]
    if not written:
        return
    blocking = WorkerClient(options.target, options.send_seconds)
    try:
        blocking.run(publish(blocking.session, written, options.send_seconds))
    finally:
        blocking.close()


def _finish(
    options: SinkOptions, write_id: str, messages: list[WriterCommitMessage | None]
) -> None:
    """Let brokers drop the marks of a write, all but that it is finished. A stream has no such end:
    its next batch ends the last one."""
    places = {place for one in messages if isinstance(one, TaskCommit) for place in one.places}
    if not places:
        return
    blocking = WorkerClient(options.target, FINISH_SECONDS)
    try:
        blocking.run(finish_write(blocking.session, write_id, options.batch_id, places))
    finally:
        blocking.close()


def _context() -> TaskContext:
    context = TaskContext.get()
    if context is None:
        raise Misuse("rows are written by tasks of Spark, and this is none")
    return context


def _property(context: TaskContext, name: str) -> str:
    text = context.getLocalProperty(name)
    if not text:
        raise Misuse(f"Spark does not say {name} of this write", hint="pyspark 4.1 and later do")
    return text
