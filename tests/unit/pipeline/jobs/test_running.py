import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aerobee.pipeline.jobs.job import Chosen
from aerobee.pipeline.jobs.running import follow, local_settings, stopping_signals
from aerobee.pipeline.jobs.topic_io import started

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class Noted:
    """Everything that was told."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.batches: list[int] = []

    def step(self, text: str) -> None:
        self.steps.append(text)

    def batch(self, progress: Mapping[str, Any]) -> None:
        self.batches.append(progress["batchId"])

    def tasks(self, done: int, total: int) -> None:
        raise AssertionError("a query is told of by batches")


def query_of(spark: "SparkSession", folder: Path, apply: Any) -> "StreamingQuery":
    values = {"once": "no", "every": "0s", "topic": "t", "checkpoint": str(folder / "memory")}
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2).load()
    return started(rows.writeStream.foreachBatch(apply), Chosen(values), "followed")


def test_every_batch_is_told_until_it_is_to_stop(spark: "SparkSession", tmp_path: Path) -> None:
    noted = Noted()
    query = query_of(spark, tmp_path, lambda batch, number: None)
    follow(query, noted, lambda: len(noted.batches) >= 3)
    assert noted.batches == sorted(set(noted.batches))
    assert noted.steps == ["stopping"]
    assert not query.isActive


def test_a_query_that_fails_is_told_of_and_raised(spark: "SparkSession", tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    def fail(batch: "DataFrame", number: int) -> None:
        raise RuntimeError("it was planted")

    with pytest.raises(StreamingQueryException, match="it was planted"):
        follow(query_of(spark, tmp_path, fail), Noted(), lambda: False)


def test_one_signal_is_remembered_and_a_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stopping_signals() as is_stopped:
        assert not is_stopped()
        os.kill(os.getpid(), signal.SIGTERM)
        assert is_stopped()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) is before


def test_one_machine_needs_few_pieces() -> None:
    assert int(local_settings("local[*]")["spark.sql.shuffle.partitions"]) < 200
    assert local_settings("spark://host:7077") == {}
