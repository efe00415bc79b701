from typing import TYPE_CHECKING, Any

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.captured_schema import (
    columns_of,
    scales_of,
    schema_topic,
    struct_of,
    with_known_types,
)
from tests.job_kit import change, messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


def struct(ddl: str) -> "StructType":
    from pyspark.sql.types import StructType

    found = StructType.fromDDL(ddl)
    assert isinstance(found, StructType)
    return found


def column(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, **more}


def test_every_kind_of_column_has_a_type() -> None:
    announced = [
        column("id", "integer"),
        column("big", "integer", unsigned=True),
        column("total", "decimal"),
        column("never", "decimal"),
        column("at", "datetime"),
        column("since", "timestamp"),
        column("day", "date"),
        column("ratio", "float"),
        column("raw", "binary"),
        column("size", "enum", labels=["s", "m"]),
    ]
    found = struct_of({one["name"]: one for one in announced}, {"total": 2, "never": None})
    assert found.simpleString() == (
        "struct<id:bigint,big:decimal(20,0),total:decimal(38,2),at:timestamp_ntz,since:timestamp,"
        "day:date,ratio:float,raw:binary,size:string>"
    )


def test_of_several_versions_the_last_word_on_a_column_counts() -> None:
    first = {"columns": [column("id", "integer"), column("n", "integer")]}
    second = {"columns": [column("id", "integer"), column("n", "text"), column("m", "date")]}
    found = columns_of([first, second])
    assert [(name, one["kind"]) for name, one in found.items()] == [
        ("id", "integer"),
        ("n", "text"),
        ("m", "date"),
    ]


def test_values_tell_the_digits_of_a_decimal(spark: "SparkSession") -> None:
    sent = messages(
        spark,
        {"value": change("c", {"total": "12.50", "count": "7", "the sum": None})},
        {"value": change("d", {"total": "0.00", "count": None, "the sum": None})},
    )
    assert scales_of(sent, ["total", "count", "the sum"]) == {
        "total": 2,
        "count": 0,
        "the sum": None,
    }
    assert scales_of(sent, []) == {}


def test_what_a_table_knows_stays_and_what_is_new_comes_last() -> None:
    known, found = struct("id string, total bigint"), struct("at string, id bigint")
    both = with_known_types(found, known)
    assert both.simpleString() == "struct<id:string,total:bigint,at:string>"
    assert with_known_types(found, None) == found


def test_digits_are_not_lost_in_silence() -> None:
    known = struct("total decimal(38,2)")
    assert with_known_types(struct("total decimal(38,1)"), known) == known
    with pytest.raises(Misuse, match="total has 4 digits behind the point now"):
        with_known_types(struct("total decimal(38,4)"), known)


def test_a_capture_has_a_topic_for_its_schemas() -> None:
    assert schema_topic("shop") == "aerobee-capture-shop-schemas"
