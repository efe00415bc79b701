from typing import TYPE_CHECKING

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.job import chosen_of
from aerobee.pipeline.jobs.replay import JOB, identity_of, milliseconds, transform
from tests.job_kit import messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("1763208000000", 1763208000000),
        ("2025-11-15T12:00", 1763208000000),
        ("2025-11-15 13:00+01:00", 1763208000000),
        ("2025-11-15", 1763164800000),
    ],
)
def test_a_time_is_utc_unless_it_says_otherwise(text: str, expected: int | None) -> None:
    assert milliseconds(text) == expected


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(Misuse, match="'yesterday' is no time"):
        milliseconds("yesterday")


def test_rows_are_in_the_order_of_their_queues(spark: "SparkSession") -> None:
    sent = messages(
        spark,
        {"offset": 1, "value": b"b", "key": b"k", "tags": "t"},
        {"offset": 0, "value": b"c", "queueId": 1},
        {"offset": 0, "value": b"a"},
    ).coalesce(1)
    found = transform(sent).collect()
    assert [bytes(row["value"]) for row in found] == [b"a", b"b", b"c"]
    assert (bytes(found[1]["key"]), found[1]["tags"]) == (b"k", "t")
    assert [row["orderingKey"] for row in found] == ["broker-a-0", "broker-a-0", "broker-a-1"]


def test_the_same_messages_have_the_same_id_and_others_another() -> None:
    ranges = [("broker-a", 0, 0, 9, 10)]
    assert identity_of("a", "b", ranges) == identity_of("a", "b", ranges)
    assert identity_of("a", "b", ranges) != identity_of("a", "c", ranges)
    assert len(identity_of("a" * 1000)) < 100


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"to-topic": "a"}, "not replayed into itself"),
        ({"to-topic": "b", "until": "3000-01-01"}, "in the future"),
        ({"to-topic": "b", "since": "2026-01-02", "until": "2026-01-01"}, "not before until"),
    ],
)
def test_a_range_that_cannot_be_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(Misuse, match=said):
        chosen_of(JOB, {"name-server": "x", "topic": "a", **options})
