from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from aerobee.pipeline.jobs.upsert import contents_of, found_columns, of_table, transform
from tests.job_kit import body, change, messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


def columns(ddl: str) -> "StructType":
    from pyspark.sql.types import StructType

    found = StructType.fromDDL(ddl)
    assert isinstance(found, StructType)
    return found


def test_the_last_change_of_a_key_wins(spark: "SparkSession") -> None:
    schema = columns("id bigint, city string")
    sent = messages(
        spark,
        {"offset": 9, "value": change("u", {"id": 1, "city": "Oslo"})},
        {"offset": 3, "value": change("c", {"id": 1, "city": "Rome"})},
        {"offset": 10, "value": change("d", {"id": 2, "city": "Bern"})},
        {"offset": 4, "value": change("r", {"id": 2, "city": "Bern"})},
        {"offset": 5, "value": change("d", {"id": 3, "city": "Kyiv"})},
        {"offset": 6, "value": change("c", {"id": 3, "city": None})},
    )
    found = sorted(map(tuple, transform(sent, schema, ["id"]).collect()))
    assert found == [(1, "Oslo", "", False), (2, "Bern", "", True), (3, None, "", False)]


def test_a_sequence_goes_before_the_place_in_a_queue(spark: "SparkSession") -> None:
    sent = messages(
        spark,
        {"offset": 9, "value": change("u", {"id": 1, "n": 1}, seq="0001-5")},
        {"offset": 3, "queueId": 1, "value": change("u", {"id": 1, "n": 2}, seq="0001-7")},
    )
    (found,) = transform(sent, columns("id bigint, n int"), ["id"]).collect()
    assert tuple(found) == (1, 2, "0001-7", False)


def test_a_key_of_two_columns_is_one_key(spark: "SparkSession") -> None:
    schema = columns("a int, b int, c int")
    rows = [{"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 4}, {"a": 1, "b": 2, "c": 5}]
    sent = messages(spark, *({"value": change("c", row)} for row in rows))
    found = sorted(map(tuple, transform(sent, schema, ["a", "b"]).collect()))
    assert found == [(1, 2, 5, "", False), (1, 3, 4, "", False)]


def test_text_takes_the_types_of_the_table(spark: "SparkSession") -> None:
    schema = columns(
        "id bigint, total decimal(20,4), at timestamp, raw binary, doc string, big decimal(20,0)"
    )
    row = {
        "id": 7,
        "total": "1234567890123456.7891",
        "at": "2026-11-15T12:00:00.123456Z",
        "raw": "AAEC",
        "doc": {"a": [1, 2]},
        "big": 18446744073709551615,
    }
    (found,) = transform(messages(spark, {"value": change("c", row)}), schema, ["id"]).collect()
    assert found["total"] == Decimal("1234567890123456.7891")
    assert found["at"] == datetime(2026, 11, 15, 12, 0, 0, 123456)
    assert bytes(found["raw"]) == b"\x00\x01\x02"
    assert found["doc"] == '{"a":[1,2]}'
    assert found["big"] == 2**64 - 1


def test_a_value_that_its_type_cannot_hold_is_an_error(spark: "SparkSession") -> None:
    from pyspark.errors import PySparkException

    schema = columns("id bigint, n int")
    sent = messages(spark, {"value": change("c", {"id": 1, "n": "many"})})
    with pytest.raises(PySparkException, match="CAST_INVALID_INPUT"):
        transform(sent, schema, ["id"]).collect()


def test_only_the_changes_of_one_table_count(spark: "SparkSession") -> None:
    sent = messages(
        spark,
        {"value": change("c", {"id": 1})},
        {"value": change("c", {"id": 2}, table="customers")},
        {"value": body(op="heartbeat")},
        {"value": b""},
    )
    assert of_table(sent, "").count() == 2
    assert of_table(sent, "orders").count() == 1
    assert of_table(sent, "shop.customers").count() == 1
    assert of_table(sent, "zoo.customers").count() == 0


def test_a_look_over_a_batch_says_what_it_is_about(spark: "SparkSession") -> None:
    said = {"name": "shop", "schema": "v2"}
    sent = messages(
        spark,
        {"value": change("c", {"id": 1}, key={"id": 1, "line": 2}, **said, seq="3")},
        {"value": change("t", {}, seq="4")},
        {"value": change("d", {"id": 1}, key={"id": 1, "line": 2}, name="shop", schema="v1")},
    )
    found = contents_of(sent)
    assert found.tables == ("shop.orders",)
    assert (found.captures, found.versions) == (("shop",), ("v1", "v2"))
    assert (found.keys, found.emptied, found.changes) == (("id", "line"), "4", 2)
    nothing = contents_of(sent.limit(0))
    assert nothing == ((), (), (), (), None, 0)


def test_columns_are_found_in_the_changes(spark: "SparkSession") -> None:
    sent = messages(
        spark,
        {"value": change("c", {"id": 1, "price": 1.25, "city": "Rome", "nothing": None})},
        {"value": change("d", {"id": 2, "price": 12, "is_new": True})},
    )
    found = found_columns(sent)
    assert found.simpleString() == ("struct<city:string,id:bigint,is_new:boolean,price:double>")
