from typing import TYPE_CHECKING

import pytest

from aerobee.pipeline.jobs.body_fields import (
    CAPTURED,
    JSON,
    PLAIN,
    field,
    is_unreadable,
    time_of,
    with_body,
)
from tests.job_kit import at, body, change, messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("form", "value", "name", "expected"),
    [
        (PLAIN, b"x", "topic", "orders"),
        (PLAIN, b"x", "key", "k"),
        (JSON, body(city="Rome"), "city", "Rome"),
        (JSON, body(address={"city": "Rome"}), "address.city", "Rome"),
        (JSON, body(city="Rome"), "street", None),
        (JSON, b"nothing of JSON", "city", None),
        (JSON, body(topic="another"), "topic", "orders"),
        (CAPTURED, change("c", {"city": "Rome"}), "city", "Rome"),
        (CAPTURED, change("d", {"city": "Rome"}), "city", "Rome"),
        (CAPTURED, change("c", {"city": "Rome"}), "table", "orders"),
        (CAPTURED, change("c", {"city": "Rome"}), "database", "shop"),
        (CAPTURED, change("u", {"op": "mine"}), "op", "u"),
    ],
)
def test_a_field_is_found_where_its_form_has_it(
    spark: "SparkSession", form: str, value: bytes, name: str, expected: str | None
) -> None:
    rows = with_body(messages(spark, {"key": b"k", "value": value}), form)
    assert [row[0] for row in rows.select(field(name, form)).collect()] == [expected]


def test_what_is_no_object_of_json_is_told_apart(spark: "SparkSession") -> None:
    values = [b"{}", b'{"a":1}', b"", b"[1]", b'{"a":', b"\xff\xfe", None]
    rows = with_body(messages(spark, *({"value": value} for value in values)), JSON)
    found = [row[0] for row in rows.select(is_unreadable()).collect()]
    assert found == [False, False, True, True, True, True, False]


def test_a_time_is_a_number_or_a_text(spark: "SparkSession") -> None:
    moments = [int(at(5).timestamp() * 1000), "2026-11-15 12:00:05", "2026-11-15T13:00:05+01:00"]
    rows = messages(spark, *({"value": body(at=moment)} for moment in [*moments, "noon", None]))
    found = with_body(rows, JSON).select(time_of("at", JSON)).collect()
    assert [row[0] for row in found] == [at(5).replace(tzinfo=None)] * 3 + [None, None]
