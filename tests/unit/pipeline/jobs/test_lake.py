from datetime import date
from typing import TYPE_CHECKING

from aerobee.pipeline.jobs.lake import transform
from tests.job_kit import at, messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_message_is_kept_under_the_day_on_which_it_was_stored(spark: "SparkSession") -> None:
    sent = messages(spark, {"value": b"\xff", "timestamp": at(43199)}, {"timestamp": at(43200)})
    found = transform(sent).collect()
    assert [row["date"] for row in found] == [date(2026, 11, 15), date(2026, 11, 16)]
    assert bytes(found[0]["value"]) == b"\xff"


def test_text_is_text_if_that_is_wanted(spark: "SparkSession") -> None:
    (row,) = transform(messages(spark, {"key": b"k", "value": b"v"}), is_text=True).collect()
    assert (row["key"], row["value"]) == ("k", "v")
