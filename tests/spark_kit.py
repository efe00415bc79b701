"""One Spark session for a whole run of tests, and queries whose batches can be looked at.

Starting Spark takes about ten seconds and its first Python source as many again, so every test that
wants Spark takes the fixture `spark`, which `tests/conftest.py` offers to all of them. Two cores,
UTC, and the settings that people get from `aerobee.pipeline.session`.

Frames come from `frame` and `stream_frame`; `finished` runs a stream to the end of what is there,
and `Running` keeps one going. Both hand their batches to this process, where a test reads them by
number: the only way to see that a batch came a second time, and in which partitions.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import pytest

from aerobee.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    # Class loading, not speed, is what a short run waits for.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
}
PARTITION = "partition"
"""The column that says in which partition a row came."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """The session of this run."""
    from pyspark import java_gateway

    folder = tmp_path_factory.mktemp("spark")
    places = {
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
    }
    session: SparkSession = spark_session(
        "aerobee tests", master="local[2]", settings={**SETTINGS, **places}
    )
    start_answering: Any = java_gateway.ensure_callback_server_started
    gateway: Any = session.sparkContext._gateway
    start_answering(gateway)
    try:
        yield session
    finally:
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()  # what the machine waits for
        gateway.proc.wait(timeout=60)


def is_of_spark(thread: threading.Thread) -> bool:
    """Whether a thread answers the session's calls: such a one ends with the session."""
    if "py4j" not in sys.modules:
        return False
    from py4j.clientserver import ClientServerConnection, PythonServer

    owner = getattr(getattr(thread, "_target", None), "__self__", None)
    return isinstance(owner, ClientServerConnection | PythonServer)


def frame(spark: "SparkSession", name_server: str, **options: str) -> "DataFrame":
    """What a batch reads."""
    return spark.read.format("aerobee").options(nameServer=name_server, **options).load()


def stream_frame(spark: "SparkSession", name_server: str, **options: str) -> "DataFrame":
    """What a stream reads, from the beginning unless said otherwise."""
    given = {"startingOffsets": "earliest", **options}
    if options.keys() & {"startingTimestamp", "startingOffsetsByTimestamp"}:
        del given["startingOffsets"]
    return spark.readStream.format("aerobee").options(nameServer=name_server, **given).load()


class Running:
    """A query whose batches come here, numbered as Spark numbers them."""

    def __init__(self, frame: "DataFrame", checkpoint: Path, **trigger: Any) -> None:
        from pyspark.sql.functions import spark_partition_id

        self.batches: dict[int, list[Row]] = {}
        writer = frame.withColumn(PARTITION, spark_partition_id()).writeStream
        if trigger:
            writer = writer.trigger(**trigger)
        self.query: StreamingQuery = (
            writer.option("checkpointLocation", str(checkpoint)).foreachBatch(self._take).start()
        )

    def _take(self, frame: "DataFrame", number: int) -> None:
        self.batches[number] = frame.collect()

    @property
    def rows(self) -> "list[Row]":
        """All that came so far, batch after batch."""
        return [row for _, rows in sorted(self.batches.items()) for row in rows]

    def catch_up(self) -> "list[Row]":
        """All rows, when everything that is there now has come."""
        self.query.processAllAvailable()
        return self.rows

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(Exception) if error is not None else contextlib.nullcontext():
            self.query.stop()


def finished(frame: "DataFrame", checkpoint: Path) -> "dict[int, list[Row]]":
    """The batches of a run over what is there now."""
    with Running(frame, checkpoint, availableNow=True) as running:
        running.query.awaitTermination()
        return running.batches


def forget_last_commit(checkpoint: Path) -> int:
    """As after a crash before the last batch was committed; its number."""
    last = max(int(path.name) for path in (checkpoint / "commits").iterdir() if path.name.isdigit())
    (checkpoint / "commits" / str(last)).unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)
    return last
