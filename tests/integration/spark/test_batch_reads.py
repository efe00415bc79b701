"""Topics read as tables, through Spark itself."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from aerobee.model.message_queue import MessageQueue, QueueId
from tests.server_kit import Server
from tests.spark_kit import frame


def offsets_of(rows: Any) -> list[tuple[int, int]]:
    return sorted((row.queueId, row.offset) for row in rows)


def places(topic: str, **offsets: int) -> str:
    """Offsets by queue, `q0=3`, as a person writes them."""
    return json.dumps({topic: {"broker-a": {name[1:]: at for name, at in offsets.items()}}})


def test_a_table_is_what_was_sent_in_all_its_columns(spark: SparkSession, server: Server) -> None:
    before = datetime.now(UTC)
    receipts = server.send(
        "SparkAll", [b"one", b"\xff\x00", b" "], tag="red", keys=["k1", "k2"], headers={"a": "ü"}
    )
    receipts += server.send("SparkAll", [b"compress me " * 500])
    rows = {
        (row.queueId, row.offset): row
        for row in frame(spark, server.name_server, topic="SparkAll").collect()
    }
    bodies = [b"one", b"\xff\x00", b" ", b"compress me " * 500]
    assert len(rows) == 4
    for number, (receipt, body) in enumerate(zip(receipts, bodies, strict=True)):
        row = rows[int(receipt.queue.queue_id), receipt.offset]
        assert (row.topic, row.brokerName) == ("SparkAll", "broker-a")
        assert bytes(row.value) == body
        assert row.msgId == receipt.message_id
        assert row.reconsumeTimes == 0
        stored = row.timestamp.astimezone(UTC)
        assert before.timestamp() - 1 < stored.timestamp() < datetime.now(UTC).timestamp() + 1
        assert abs((row.bornTimestamp - row.timestamp).total_seconds()) < 60
        if number < 3:
            assert (row.tags, bytes(row.key)) == ("red", b"k1 k2")
            assert dict(pair.split("\x01") for pair in row.properties.split("\x02") if pair)[
                "a"
            ] == ("ü")
        else:
            assert (row.tags, row.key) == (None, None)


def test_the_same_table_has_two_names_and_needs_no_registering(
    spark: SparkSession, server: Server
) -> None:
    server.send("SparkNames", [b"x"] * 4)
    for name in ("aerobee", "rocketmq"):
        options = {"nameServer": server.name_server, "topic": "SparkNames"}
        assert spark.read.format(name).options(**options).load().count() == 4


def test_brokers_filter_by_tag_and_by_sql(spark: SparkSession, server: Server) -> None:
    server.send("SparkFilter", [b"r"] * 6, tag="red", headers={"n": "1"})
    server.send("SparkFilter", [b"g"] * 5, tag="green", headers={"n": "7"})
    for option, expected in (
        ({"subExpression": "red"}, {b"r": 6}),
        ({"filterExpression": "n > 5"}, {b"g": 5}),
        ({"subExpression": "red || green"}, {b"r": 6, b"g": 5}),
    ):
        rows = frame(spark, server.name_server, topic="SparkFilter", **option).collect()
        found = [bytes(row.value) for row in rows]
        assert {body: found.count(body) for body in set(found)} == expected


def test_columns_and_maps_are_what_was_asked_for(spark: SparkSession, server: Server) -> None:
    server.send("SparkColumns", [b"x"], headers={"a": "b"}, tag="t")
    found = frame(
        spark,
        server.name_server,
        topic="SparkColumns",
        columns="offset,properties",
        properties="map",
    )
    assert found.columns == ["offset", "properties"]
    (row,) = found.collect()
    assert (row.offset, row.properties["a"], row.properties["TAGS"]) == (0, "b", "t")


def test_values_come_decoded_and_bad_ones_as_they_were_told_to(
    spark: SparkSession, server: Server
) -> None:
    server.send("SparkValues", [b'{"n": 1, "m": {"a": [1.5]}, "o": {"x": "y"}}', b"broken"])
    found = frame(
        spark,
        server.name_server,
        topic="SparkValues",
        valueFormat="json",
        valueSchema="n long, m map<string, array<double>>, o struct<x: string>",
        onDecodeError="null",
    )
    assert [row.n for row in found.select("value.n").collect()].count(None) == 1
    (row,) = found.where("value is not null").collect()
    assert row.value.asDict(recursive=True) == {"n": 1, "m": {"a": [1.5]}, "o": {"x": "y"}}


def test_a_table_begins_and_ends_where_it_was_told(spark: SparkSession, server: Server) -> None:
    topic = "SparkPlaces"
    server.send(topic, [b"early"] * 12)
    middle = int(datetime.now(UTC).timestamp() * 1000) + 2
    while datetime.now(UTC).timestamp() * 1000 <= middle:
        pass
    server.send(topic, [b"late"] * 8)

    async def commit() -> None:
        async with server.connect() as client:
            for queue in range(4):
                place = MessageQueue(topic, "broker-a", QueueId(queue))
                await client.admin.offsets.commit("spark-places", place, 4)

    asyncio.run(commit())
    late = [(queue, offset) for queue in range(4) for offset in (3, 4)]
    early = [(queue, offset) for queue in range(4) for offset in (0, 1, 2)]
    cases: list[tuple[dict[str, str], list[tuple[int, int]]]] = [
        ({}, sorted(early + late)),
        ({"startingTimestamp": str(middle)}, late),
        ({"endingTimestamp": str(middle)}, early),
        ({"startingOffsets": "group", "group": "spark-places"}, [(n, 4) for n in range(4)]),
        (
            {
                "startingOffsets": places(topic, q0=4, q1=-1, q2=-1, q3=3),
                "endingOffsets": places(topic, q0=5, q1=-1, q2=-1, q3=4),
            },
            [(0, 4), (3, 3)],
        ),
        ({"startingOffsets": "latest"}, []),
    ]
    for options, expected in cases:
        rows = frame(
            spark, server.name_server, topic=topic, columns="queueId,offset", **options
        ).collect()
        assert offsets_of(rows) == expected, options


def test_what_is_not_there_fails_the_table_unless_loss_is_allowed(
    spark: SparkSession, server: Server
) -> None:
    server.send("SparkLoss", [b"x"] * 4)
    beyond = {"endingOffsets": places("SparkLoss", q0=9, q1=1, q2=1, q3=1)}
    with pytest.raises(PySparkException, match=r"SparkLoss.* has lost \[1, 9\)"):
        frame(spark, server.name_server, topic="SparkLoss", **beyond).collect()
    allowed = frame(
        spark, server.name_server, topic="SparkLoss", failOnDataLoss="false", **beyond
    ).collect()
    assert len(allowed) == 4


def test_a_wrong_option_says_which_one_was_meant(spark: SparkSession, server: Server) -> None:
    with pytest.raises(PySparkException, match="was startingOffsets meant"):
        frame(spark, server.name_server, topic="SparkAll", startingOffset="earliest").collect()
