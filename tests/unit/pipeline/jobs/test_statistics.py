import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.body_fields import CAPTURED, JSON
from aerobee.pipeline.jobs.statistics import messages_of, transform
from tests.job_kit import at, body, change, messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def rows(statistics: "DataFrame", *names: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[name] for name in names) for row in statistics.collect())


def test_messages_are_counted_per_window_and_tag(spark: "SparkSession") -> None:
    sent = messages(
        spark,
        {"tags": "new", "key": b"a", "value": b"123", "timestamp": at(0)},
        {"tags": "new", "key": b"a", "value": b"45", "timestamp": at(59.999)},
        {"tags": "paid", "key": b"b", "value": b"6", "timestamp": at(59)},
        {"tags": "new", "key": b"c", "timestamp": at(60)},
    )
    found = transform(sent, window="1 minute", by=["tags"])
    names = ("window_start", "window_end", "tags", "messages", "bytes", "keys")
    assert tuple(found.columns) == names
    naive = [at(seconds).replace(tzinfo=None) for seconds in (0, 60, 120)]
    assert rows(found, *names) == [
        (naive[0], naive[1], "new", 2, 5, 1),
        (naive[0], naive[1], "paid", 1, 1, 1),
        (naive[1], naive[2], "new", 1, 0, 1),
    ]


def test_fields_of_a_body_group_and_add_up_exactly(spark: "SparkSession") -> None:
    sent = messages(
        spark,
        {"value": body(city="Rome", amount="0.10")},
        {"value": body(city="Rome", amount=0.2)},
        {"value": body(city="Oslo", amount="a lot")},
        {"value": b"no JSON"},
        {"value": body(city="Oslo")},
    )
    found = transform(sent, window="1 hour", form=JSON, by=["city"], sums=["amount"])
    assert rows(found, "messages", "city", "sum_amount", "unreadable") == [
        (1, None, None, 1),
        (2, "Oslo", None, 0),
        (2, "Rome", Decimal("0.300000"), 0),
    ]


def test_a_captured_row_is_what_it_is_after_the_change_or_was_before(
    spark: "SparkSession",
) -> None:
    sent = messages(
        spark,
        {"value": change("c", {"id": 1, "city": "Rome", "amount": "2.50"})},
        {"value": change("u", {"id": 1, "city": "Oslo", "amount": "3.50"})},
        {"value": change("d", {"id": 1, "city": "Oslo", "amount": "3.50"})},
        {"value": change("c", {"id": 1}, table="customers")},
    )
    found = transform(sent, window="1 hour", form=CAPTURED, by=["table", "city"], sums=["amount"])
    assert rows(found, "table", "messages", "sum_amount") == [
        ("customers", 1, None),
        ("orders", 1, Decimal("2.5")),
        ("orders", 2, Decimal("7")),
    ]
    new = transform(sent, window="1 hour", form=CAPTURED, by=["op"], ops=["c", "r"])
    assert rows(new, "op", "messages") == [("c", 2)]


def test_windows_may_overlap_and_go_by_a_time_in_the_body(spark: "SparkSession") -> None:
    sent = messages(
        spark,
        {"value": body(at=int(at(70).timestamp() * 1000))},
        {"value": body(at="2026-11-15T12:00:10Z")},
    )
    found = transform(sent, window="1 minute", slide="30 seconds", form=JSON, time="at")
    starts = [(row[0].minute, row[0].second) for row in rows(found, "window_start")]
    assert starts == [(59, 30), (0, 0), (0, 30), (1, 0)]


def test_distinct_keys_are_exact_if_that_is_wanted(spark: "SparkSession") -> None:
    sent = messages(spark, *({"key": b"%d" % (number % 500)} for number in range(1000)))
    (exact,) = rows(transform(sent, window="1 hour", is_exact=True), "keys")
    (near,) = rows(transform(sent, window="1 hour"), "keys")
    assert exact == (500,)
    assert 400 < near[0] < 600


def test_sums_of_bodies_that_are_not_read_are_refused(spark: "SparkSession") -> None:
    with pytest.raises(Misuse, match="form=json"):
        transform(messages(spark, {}), window="1 hour", sums=["amount"])


def test_a_result_is_a_message_whose_key_is_its_window_and_group(spark: "SparkSession") -> None:
    sent = messages(spark, {"tags": "new", "timestamp": at(75)}, {"timestamp": at(75)})
    found = messages_of(transform(sent, window="1 minute", by=["tags"]), ["tags"])
    first, second = sorted(found.collect(), key=lambda row: row["key"])
    assert (first["key"], second["key"]) == ("2026-11-15T12:01:00|", "2026-11-15T12:01:00|new")
    told = json.loads(second["value"])
    assert told["window_start"] == "2026-11-15T12:01:00.000Z"
    assert (told["tags"], told["messages"]) == ("new", 1)
