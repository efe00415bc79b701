"""Rows written into topics by Spark, batch and streaming: each once, whatever is done again."""

from pathlib import Path

import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import udf

from tests.server_kit import Server
from tests.sink_kit import all_values, stored
from tests.spark_kit import forget_last_commit, stream_frame

ROWS_AT_ONCE = "spark.sql.execution.arrow.maxRecordsPerBatch"


def write(frame: DataFrame, server: Server, topic: str, **options: str) -> None:
    given = {"nameServer": server.name_server, "topic": topic, **options}
    frame.write.format("aerobee").options(**given).mode("append").save()


def run(frame: DataFrame, server: Server, topic: str, checkpoint: Path, **options: str) -> None:
    """One run of a query over what is there now."""
    given = {"nameServer": server.name_server, "topic": topic, **options}
    query = (
        frame.writeStream.format("rocketmq")
        .options(**given)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def numbers(count: int) -> list[bytes]:
    return sorted(str(row).encode() for row in range(count))


def test_a_frame_is_written_with_all_its_columns(spark: SparkSession, server: Server) -> None:
    frame = spark.range(0, 3000, 1, 3).selectExpr(
        "cast(id as string) as value",
        "concat('k', id) as key",
        "if(id % 2 = 0, 'even', null) as tags",
        "map('number', cast(id as string)) as properties",
        "concat('o', id % 7) as orderingKey",
    )
    write(frame, server, "SparkFrame")
    found = stored(server, "SparkFrame", "value,key,tags,properties")
    rows = {int(row["value"]): row for values in found.values() for row in values}
    assert sorted(rows) == list(range(3000))
    for number, row in rows.items():
        assert row["key"] == f"k{number}".encode()
        assert row["tags"] == ("even" if number % 2 == 0 else None)
        assert f"number\x01{number}\x02" in row["properties"]
        assert f"__SHARDINGKEY\x01o{number % 7}\x02" in row["properties"]


def test_a_batch_write_with_an_id_may_be_done_again(spark: SparkSession, server: Server) -> None:
    frame = spark.range(0, 500, 1, 2).selectExpr("cast(id as string) as value")
    for _ in range(2):
        write(frame, server, "SparkWriteId", writeId="nightly")
    assert all_values(server, "SparkWriteId") == numbers(500)
    write(frame, server, "SparkWriteId", writeId="nightly", batchId="1")
    write(frame, server, "SparkWriteId")
    assert all_values(server, "SparkWriteId") == sorted(3 * numbers(500))


def test_a_batch_write_that_is_done_is_done_whatever_it_would_hold_now(
    spark: SparkSession, server: Server
) -> None:
    for rows in (500, 800):
        frame = spark.range(0, rows, 1, 3).selectExpr("cast(id as string) as value")
        write(frame, server, "SparkDone", writeId="done")
    assert all_values(server, "SparkDone") == numbers(500)
    write(frame, server, "SparkDoneToo", writeId="done")
    assert all_values(server, "SparkDoneToo") == numbers(800)


def test_more_tasks_and_queues_than_a_broker_remembers_are_written_once(
    spark: SparkSession, server: Server
) -> None:
    server.create("SparkWide", queues=900)
    frame = spark.range(0, 30, 1, 15).selectExpr("cast(id as string) as value")
    for _ in range(2):
        write(frame, server, "SparkWide", writeId="wide")
    assert all_values(server, "SparkWide") == numbers(30)


def test_a_stream_whose_last_batch_was_not_committed_writes_each_row_once(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    server.create("SparkIn", queues=4)
    server.send("SparkIn", [b"%d" % number for number in range(60)])
    frame = stream_frame(
        spark, server.name_server, topic="SparkIn", maxOffsetsPerTrigger="25", columns="value"
    )
    run(frame, server, "SparkOut", tmp_path / "c")
    first = stored(server, "SparkOut")
    forget_last_commit(tmp_path / "c")
    server.send("SparkIn", [b"%d" % number for number in range(60, 90)])
    run(frame, server, "SparkOut", tmp_path / "c")
    again = stored(server, "SparkOut")
    assert {queue: again[queue][: len(values)] for queue, values in first.items()} == first
    assert all_values(server, "SparkOut") == numbers(90)


def test_a_query_that_died_in_a_batch_finishes_it_with_each_row_once(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    flag = tmp_path / "fail"
    flag.touch()
    path = str(flag)

    def passed_on(value: bytearray) -> bytes:
        """The value; an error in its task when most of its rows are on their way."""
        if int(value) > 250 and Path(path).exists():
            raise RuntimeError("this task fails")
        return bytes(value)

    server.create("SparkDies", queues=2)
    server.create("SparkLives", queues=2)
    server.send("SparkDies", [b"%d" % number for number in range(300)])
    frame = stream_frame(spark, server.name_server, topic="SparkDies", columns="value")
    frame = frame.select(udf(passed_on, "binary", useArrow=False)("value").alias("value"))
    spark.conf.set(ROWS_AT_ONCE, "10")
    try:
        with pytest.raises(StreamingQueryException, match="this task fails"):
            run(frame, server, "SparkLives", tmp_path / "c", requestBytes="1000")
        assert len(all_values(server, "SparkLives")) < 300
        flag.unlink()
        run(frame, server, "SparkLives", tmp_path / "c", requestBytes="1000")
    finally:
        spark.conf.unset(ROWS_AT_ONCE)
    assert all_values(server, "SparkLives") == numbers(300)


def test_what_cannot_be_written_is_told_before_anything_is(
    spark: SparkSession, server: Server
) -> None:
    frame = spark.range(3).selectExpr("id as offset", "cast(id as string) as value")
    with pytest.raises(PySparkException, match="the sink has no column 'offset'"):
        write(frame, server, "SparkRefused")
    with pytest.raises(PySparkException, match="was deliveryGuarantee meant"):
        write(frame.select("value"), server, "SparkRefused", deliveryGarantee="idempotent")


def test_a_transactional_stream_is_seen_batch_by_batch_each_row_once(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    for topic in ("SparkStagedIn", "SparkStagedOut"):
        server.create(topic, queues=2)
    server.send("SparkStagedIn", [b"%d" % number for number in range(40)])
    frame = stream_frame(spark, server.name_server, topic="SparkStagedIn", columns="value")
    said = {"deliveryGuarantee": "transactional"}
    run(frame, server, "SparkStagedOut", tmp_path / "c", **said)
    first = stored(server, "SparkStagedOut")
    forget_last_commit(tmp_path / "c")
    run(frame, server, "SparkStagedOut", tmp_path / "c", **said)
    assert stored(server, "SparkStagedOut") == first
    assert all_values(server, "SparkStagedOut") == numbers(40)
