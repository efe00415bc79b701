from typing import TYPE_CHECKING, Any

from aerobee.pipeline.jobs.audit import transform
from tests.job_kit import at, messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAY = 86400


def flaws(audited: "DataFrame") -> list[tuple[Any, ...]]:
    return [tuple(row)[2:] for row in audited.collect()]


def test_a_log_without_flaws_is_counted_per_topic_and_day(spark: "SparkSession") -> None:
    sent = messages(
        spark,
        {"offset": 5, "value": b"123"},
        {"offset": 6, "value": b"4"},
        {"offset": 0, "queueId": 1},
        {"offset": 0, "brokerName": "broker-b"},
        {"offset": 7, "timestamp": at(DAY), "value": b"5"},
        {"topic": "payments", "offset": 0},
    )
    found = transform(sent)
    assert found.columns == [
        "topic", "day", "queues", "messages", "bytes", "missing", "repeats", "backwards", "damaged",
    ]  # fmt: skip
    assert [(row["topic"], row["day"].day) for row in found.collect()] == [
        ("orders", 15), ("orders", 16), ("payments", 15),
    ]  # fmt: skip
    assert flaws(found) == [
        (3, 4, 4, 0, 0, 0, 0),
        (1, 1, 1, 0, 0, 0, 0),
        (1, 1, 0, 0, 0, 0, 0),
    ]


def test_what_is_missing_counts_where_it_was_noticed(spark: "SparkSession") -> None:
    sent = messages(
        spark,
        {"offset": 0},
        {"offset": 4, "timestamp": at(DAY)},
        {"offset": 0, "queueId": 1},
        {"offset": 2, "queueId": 1},
    )
    assert flaws(transform(sent)) == [(2, 3, 0, 1, 0, 0, 0), (1, 1, 0, 3, 0, 0, 0)]


def test_repeats_and_steps_back_are_flaws(spark: "SparkSession") -> None:
    sent = messages(
        spark,
        {"offset": 0, "timestamp": at(10)},
        {"offset": 1, "timestamp": at(9)},
        {"offset": 1, "timestamp": at(11)},
    )
    assert flaws(transform(sent)) == [(1, 3, 0, 0, 1, 1, 0)]


def test_a_log_goes_by_places_and_says_what_is_damaged(spark: "SparkSession") -> None:
    from pyspark.sql import functions as sf

    sent = messages(
        spark,
        {"offset": 0, "timestamp": at(10)},
        {"offset": 1, "timestamp": at(9)},
        {"offset": 3},
        {"offset": 2},
    )
    nothing = sf.lit(None).cast("long")
    places = sf.create_map(*map(sf.lit, (0, 100, 1, 200, 3, 300, 2, 400)))
    log = sent.withColumns(
        {"logOffset": places[sf.col("offset").cast("int")], "damagedBytes": nothing}
    )
    damage = log.limit(1).select(
        *(
            sf.lit(77 if name == "damagedBytes" else None).cast(kind).alias(name)
            for name, kind in log.dtypes
        )
    )
    found = transform(log.union(damage))
    assert [row["topic"] for row in found.collect()] == [None, "orders"]
    assert flaws(found) == [(0, 0, 0, 0, 0, 0, 77), (1, 4, 0, 0, 0, 1, 0)]
