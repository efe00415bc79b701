"""Commit logs read as tables, through Spark itself: a live broker's, and one that Apache wrote."""

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.fixture_store import expected_messages, unpack
from tests.server_kit import Server
from tests.spark_kit import frame


def test_the_log_of_a_live_broker_has_what_its_topic_has(
    spark: SparkSession, server: Server
) -> None:
    server.send("LogLive", [b"%d" % number for number in range(30)], tag="a", keys=["k"])
    server.send("LogLive", [b"compress me " * 500])
    asked = frame(spark, server.name_server, topic="LogLive")
    reading = spark.read.format("aerobee-log").options(topic="LogLive", minPartitions="3")
    log = reading.load(str(server.store))
    assert log.columns == [*asked.columns, "logOffset"]
    same = [name for name in asked.columns if name != "brokerName"]
    by_place = ["queueId", "offset"]
    assert log.select(same).sort(by_place).collect() == asked.select(same).sort(by_place).collect()


def test_a_store_that_apache_wrote_is_a_table(spark: SparkSession, tmp_path: Path) -> None:
    store = unpack("clean", tmp_path)
    table = spark.read.format("aerobee-log").option("columns", "topic").load(str(store))
    counts = {row.topic: row["count"] for row in table.groupBy("topic").count().collect()}
    expected: dict[str, int] = {"FixDeleted": 1}
    for topic, _, _ in expected_messages("clean"):
        expected[topic] = expected.get(topic, 0) + 1
    assert counts == expected


def test_damage_fails_the_table_or_is_a_row_of_it(spark: SparkSession, tmp_path: Path) -> None:
    store = unpack("clean", tmp_path)
    file = store / "commitlog" / f"{0:020}"
    whole = spark.read.format("aerobee-log").option("columns", "logOffset").load(str(store))
    places = sorted(row.logOffset for row in whole.collect())
    start = places[100]
    content = bytearray(file.read_bytes())
    content[start + 4] ^= 0xFF
    file.write_bytes(content)
    reading = spark.read.format("aerobee-log")
    with pytest.raises(PySparkException, match=rf"log offsets \[{start}, "):
        reading.load(str(store)).count()
    reported = reading.option("onDamage", "report").load(str(store))
    (row,) = reported.where("damage is not null").collect()
    assert (row.logOffset, row.damage, row.topic) == (start, "no record", None)
    assert reported.where("damage is null").count() == len(places) - 1
