from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aerobee.pipeline.jobs.job import Chosen
from aerobee.pipeline.jobs.topic_io import checkpoint_of, group_of, query_id_of, started
from tests.spark_kit import forget_last_commit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_a_checkpoint_has_the_name_of_its_job_and_topic() -> None:
    assert checkpoint_of(Chosen({"checkpoint": "s3://b/c", "topic": "t"}), "lake") == "s3://b/c"
    unnamed = Chosen({"checkpoint": "", "topic": "%RETRY%g"})
    assert checkpoint_of(unnamed, "lake") == "checkpoints/lake-_RETRY_g"


def test_a_group_has_the_name_of_its_job_and_topic_unless_told() -> None:
    assert group_of(Chosen({"group": "", "topic": "a|b"}), "lake") == "lake-a_b"
    assert group_of(Chosen({"group": "g", "topic": "a|b"}), "lake") == "g"


def test_a_batch_knows_its_query_after_a_restart_too(spark: "SparkSession", tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []

    def note(batch: "DataFrame", number: int) -> None:
        seen.append((query_id_of(batch), number))

    values = {"once": "yes", "every": "1s", "topic": "t", "checkpoint": str(tmp_path / "memory")}
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2).load()
    for _ in range(2):
        query = started(rows.writeStream.foreachBatch(note), Chosen(values), "noting")
        assert query.name == "noting"
        query.awaitTermination()
        forget_last_commit(tmp_path / "memory")
    assert len({identity for identity, _ in seen}) == 1
    assert seen[0] in seen[1:]


def test_outside_of_a_query_there_is_no_id(spark: "SparkSession") -> None:
    with pytest.raises(AssertionError):
        query_id_of(spark.range(1))
