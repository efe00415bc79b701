"""Jobs on a real broker: what they leave is what was sent, also after a batch was done twice."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from aerobee.pipeline.delta.delta_table import opened
from aerobee.pipeline.jobs.failure import explained
from aerobee.pipeline.jobs.job import JobOutcome, chosen_of
from aerobee.pipeline.jobs.registry import job_of
from tests.fixture_store import unpack
from tests.job_kit import change
from tests.server_kit import Server
from tests.spark_kit import forget_last_commit, frame


def run(spark: SparkSession, server: Server, name: str, **options: str) -> JobOutcome:
    """A job over what is there now; a query to its end."""
    job = job_of(name)
    given = {key.replace("_", "-"): text for key, text in options.items()}
    if job.is_stream:
        given["once"] = "yes"
    outcome = job.start(spark, chosen_of(job, {"name-server": server.name_server, **given}))
    if outcome.query is not None:
        outcome.query.awaitTermination()
    return outcome


def delta_rows(folder: Path) -> list[dict[str, Any]]:
    table = opened(str(folder))
    assert table is not None
    rows: list[dict[str, Any]] = table.to_pyarrow_table().to_pylist()
    return rows


def messages_in(spark: SparkSession, server: Server, topic: str) -> list[Any]:
    """By queue and offset."""
    rows = frame(spark, server.name_server, topic=topic).collect()
    return sorted(rows, key=lambda row: (row["queueId"], row["offset"]))


@pytest.mark.parametrize("form", ["parquet", "delta"])
def test_a_lake_has_each_message_once_also_after_a_replay(
    spark: SparkSession, server: Server, tmp_path: Path, form: str
) -> None:
    topic = f"Lake-{form}"
    bodies = [b"%d" % number for number in range(20)]
    server.send(topic, bodies, tag="new")
    lake, memory = tmp_path / "lake", tmp_path / "memory"
    options = {"topic": topic, "to_folder": str(lake), "checkpoint": str(memory), "format": form}
    run(spark, server, "lake", **options)
    forget_last_commit(memory)
    server.send(topic, [b"later"])
    run(spark, server, "lake", **options)
    if form == "delta":
        rows = delta_rows(lake)
    else:
        rows = [row.asDict() for row in spark.read.parquet(str(lake)).collect()]
    assert sorted(bytes(row["value"]) for row in rows) == sorted([*bodies, b"later"])
    assert {(row["topic"], row["tags"]) for row in rows[:1]} <= {(topic, "new"), (topic, None)}
    assert {row["date"] for row in rows} == {row["timestamp"].date() for row in rows}


def test_a_table_follows_its_changes_and_a_new_column(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    topic, table = "shop-orders", tmp_path / "table"
    options = {"topic": topic, "to_folder": str(table), "checkpoint": str(tmp_path / "memory")}
    first = [
        change("r", {"id": 1, "city": "Rome", "total": "1.50"}, key={"id": 1}),
        change("c", {"id": 2, "city": "Oslo", "total": "2.50"}, key={"id": 2}),
        change("u", {"id": 1, "city": "Bern", "total": "1.75"}, key={"id": 1}),
    ]
    server.send(topic, first, order_by="one queue")
    run(spark, server, "upsert", **options)
    then = [
        change("d", {"id": 2, "city": "Oslo", "total": "2.50"}, key={"id": 2}),
        change("c", {"id": 3, "city": "Kyiv", "total": "9.00", "is_gift": True}, key={"id": 3}),
    ]
    server.send(topic, then, order_by="one queue")
    for _ in range(2):
        run(spark, server, "upsert", **options)
        forget_last_commit(tmp_path / "memory")
    rows = sorted(delta_rows(table), key=lambda row: int(row["id"]))
    assert rows == [
        {"city": "Bern", "id": 1, "total": "1.75", "_sequence": "", "is_gift": None},
        {"city": "Kyiv", "id": 3, "total": "9.00", "_sequence": "", "is_gift": True},
    ]


def test_a_change_that_its_column_cannot_hold_stops_the_job_and_is_explained(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    server.send("shop-bad", [change("c", {"id": "one"}, key={"id": "one"})])
    with pytest.raises(StreamingQueryException) as raised:
        run(
            spark,
            server,
            "upsert",
            topic="shop-bad",
            to_folder=str(tmp_path / "table"),
            checkpoint=str(tmp_path / "memory"),
            schema="id bigint",
        )
    told = explained(raised.value)
    assert "'one'" in told.message
    assert "at org.apache" not in told.message
    assert opened(str(tmp_path / "table")) is None


def test_statistics_are_final_when_the_watermark_has_passed_them(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    topic, folder = "Statistics", tmp_path / "folder"
    noon = 1_763_208_000_000
    hour = 3_600_000
    bodies = [(noon, "Rome", 1), (noon + 59_999, "Rome", 2), (noon, "Oslo", 4)]
    late = [(noon + hour, "Rome", 8)]
    for batch in (bodies, late, [(noon + 1, "Rome", 100)]):
        sent = [json.dumps({"at": at, "city": city, "n": n}).encode() for at, city, n in batch]
        server.send(topic, sent)
        run(
            spark,
            server,
            "statistics",
            topic=topic,
            form="json",
            time="at",
            by="city",
            sum="n",
            emit="final",
            watermark="1m",
            to_folder=str(folder),
            checkpoint=str(tmp_path / "memory"),
        )
    rows = spark.read.parquet(str(folder)).collect()
    found = sorted((row["city"], row["messages"], float(row["sum_n"])) for row in rows)
    assert found == [("Oslo", 1, 4.0), ("Rome", 2, 3.0)]


def test_updates_of_statistics_are_told_once_and_the_last_word_is_right(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    topic, to, memory = "Updated", "Updates", tmp_path / "memory"
    options = {"topic": topic, "to_topic": to, "by": "tags", "window": "7d"}
    server.send(topic, [b"1", b"2", b"3"], tag="new")
    run(spark, server, "statistics", **options, checkpoint=str(memory))
    first = messages_in(spark, server, to)
    assert [json.loads(row["value"])["messages"] for row in first] == [3]
    forget_last_commit(memory)
    run(spark, server, "statistics", **options, checkpoint=str(memory))
    assert messages_in(spark, server, to) == first
    server.send(topic, [b"4"], tag="new")
    server.send(topic, [b"5"], tag="paid")
    run(spark, server, "statistics", **options, checkpoint=str(memory))
    told = {bytes(row["key"]): json.loads(row["value"]) for row in messages_in(spark, server, to)}
    found = {key.rpartition(b"|")[2]: said["messages"] for key, said in told.items()}
    assert found == {b"new": 4, b"paid": 1}


def test_a_replay_sends_a_range_once_however_often_it_is_run(
    spark: SparkSession, server: Server
) -> None:
    bodies = [b"%d" % number for number in range(12)]
    server.send("Original", bodies, tag="even", keys=["k"], headers={"colour": "red"})
    server.send("Original", [b"other"], tag="odd")
    options = {"topic": "Original", "to_topic": "Again", "tags": "even"}
    first, second = (run(spark, server, "replay", **options) for _ in range(2))
    assert first.said == "12 messages of Original are in Again"
    assert first.records == second.records
    rows = messages_in(spark, server, "Again")
    assert sorted(int(row["value"]) for row in rows) == list(range(12))
    assert {(bytes(row["key"]), row["tags"]) for row in rows} == {(b"k", "even")}
    assert all("colour\x01red" in row["properties"] for row in rows)
    order: dict[int, list[int]] = {}
    for row in messages_in(spark, server, "Original"):
        if row["tags"] == "even":
            order.setdefault(row["queueId"], []).append(int(row["value"]))
    places = {int(row["value"]): (row["queueId"], row["offset"]) for row in rows}
    for numbers in order.values():
        assert len({places[number][0] for number in numbers}) == 1
        assert [places[number][1] for number in numbers] == sorted(
            places[number][1] for number in numbers
        )
    more = run(spark, server, "replay", **options, id="once-more")
    assert more.records[0]["id"] == "once-more"
    assert len(messages_in(spark, server, "Again")) == 24


def test_an_audit_of_a_topic_finds_nothing_wrong(spark: SparkSession, server: Server) -> None:
    server.send("Audited", [b"12345"] * 12)
    outcome = run(spark, server, "audit", topic="Audited")
    (record,) = outcome.records
    assert record["messages"] == 12
    assert record["bytes"] == 60
    assert (record["queues"], record["missing"], record["repeats"]) == (4, 0, 0)
    assert outcome.is_well
    assert outcome.said == "12 messages checked: nothing is wrong"


def test_an_audit_of_a_store_that_rocketmq_wrote_needs_no_broker(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    store = unpack("clean", tmp_path)
    outcome = run(spark, server, "audit", store=str(store))
    counted = {str(record["topic"]): record["messages"] for record in outcome.records}
    assert counted
    (log,) = sorted((store / "commitlog").iterdir())[:1]
    with log.open("r+b") as file:
        file.seek(4)  # the first record's magic
        file.write(b"bad!")
    damaged = run(spark, server, "audit", store=str(store))
    assert not damaged.is_well
    assert damaged.records[0]["topic"] == "-"
    assert int(str(damaged.records[0]["damaged"])) > 0
