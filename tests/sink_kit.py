"""Rows as a sink's tasks get them, and what a topic has of them afterwards.

rows(10, key=...)              record batches of 10 rows
write(server, "T", 10, ...)    one task writes them, as Spark would have it
stored(server, "T")            the messages, by queue
"""

import asyncio
import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from aerobee.errors import TopicNotFound
from aerobee.pipeline.sink.partition_writer import WriteTask, write_partition
from aerobee.pipeline.sink.sink_options import SinkOptions, sink_options
from aerobee.pipeline.source.partition_reader import read_ranges
from aerobee.pipeline.source.source_options import source_options
from aerobee.pipeline.source.source_planning import SourcePlanning
from aerobee.pipeline.spark.worker_client import WorkerClient
from tests.server_kit import Server


def batch(values: Iterable[object], **columns: Sequence[object]) -> Any:
    """One record batch."""
    names = ["value", *columns]
    return pa.record_batch([pa.array(list(values)), *map(pa.array, columns.values())], names=names)


def numbered(count: int, size: int = 100, start: int = 0) -> list[Any]:
    """Rows whose values are their numbers, in batches of some size."""
    rows = range(start, start + count)
    return [batch(str(row) for row in rows[at : at + size]) for at in range(0, count, size)]


def options_of(server: Server, topic: str = "", **more: str) -> SinkOptions:
    given = {"nameServer": server.name_server, **more}
    if topic:
        given["topic"] = topic
    return sink_options(given, is_stream="writeId" not in more)


def write(
    server: Server,
    topic: str,
    batches: Iterable[Any],
    *,
    task: WriteTask | None = None,
    **more: str,
) -> int:
    options = options_of(server, topic, **more)
    return write_partition(options, task or WriteTask("w", 0, 0), batches).rows


def stored(server: Server, topic: str, columns: str = "value") -> dict[tuple[str, int], list[Any]]:
    """The values of a topic, or rows of several columns, by broker and queue."""
    given = {"nameServer": server.name_server, "topic": topic, "columns": columns}
    options = source_options(given, is_stream=False)
    blocking = WorkerClient(options.target, options.timeout)
    try:
        _wait_for(blocking, topic)
        planner = SourcePlanning(options, blocking, 1)
        ranges = planner.partitions(planner.at(options.start), planner.at(options.end))
    finally:
        blocking.close()
    found: dict[tuple[str, int], list[Any]] = {}
    for part in ranges:
        for one in part:
            rows = [row for batch in read_ranges(options, [one]) for row in batch.to_pylist()]
            values = rows if "," in columns else [row[columns] for row in rows]
            found.setdefault((one.queue.broker_name, one.queue.queue_id), []).extend(values)
    return found


def _wait_for(blocking: WorkerClient, topic: str) -> None:
    """A name server hears of a new topic a moment after the first send."""
    while True:
        with contextlib.suppress(TopicNotFound):
            blocking.run(blocking.session.routes.refresh(topic))
            return


def all_values(server: Server, topic: str) -> list[bytes]:
    return sorted(value for values in stored(server, topic).values() for value in values)


def lag_of(server: Server, group: str) -> dict[str, int]:
    """What a group has yet to consume, by topic; of one that nobody told of, nothing."""

    async def ask() -> dict[str, int]:
        async with server.connect() as client:
            return (await client.admin.groups.progress(group)).topics()

    return asyncio.run(ask())
