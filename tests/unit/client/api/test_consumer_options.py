from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from aerobee.client.api.consumer_options import Topics, consumer_options, start_rule
from aerobee.client.core.consume.start_rule import Start, StartRule
from aerobee.errors import Misuse
from aerobee.model.subscription import BY_SQL


def test_topics_are_one_or_many_or_each_with_its_filter() -> None:
    assert consumer_options("T", group="g").topics == {"T": "*"}
    assert consumer_options(["T", "U"], group="g", tags="a").topics == {"T": "a", "U": "a"}
    assert consumer_options({"T": "a", "U": "b"}, group="g").topics == {"T": "a", "U": "b"}
    options = consumer_options("T", group="g", sql="x > 1")
    assert (options.topics, options.expression_type) == ({"T": "x > 1"}, BY_SQL)


def test_durations_and_limits_are_what_was_said() -> None:
    options = consumer_options(
        "T", group="g", grace=timedelta(minutes=1), poll=2, queue_messages_max=7, queue_span_max=9
    )
    assert (options.grace, options.poll_seconds) == (60.0, 2.0)
    assert (options.flow.count_max, options.flow.span_max) == (7, 9)


def test_a_start_is_an_end_or_a_moment() -> None:
    assert start_rule("earliest").start is Start.EARLIEST
    assert start_rule("latest").start is Start.LATEST
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    assert start_rule(moment) == StartRule(Start.MOMENT, 1_704_067_200_000)
    with pytest.raises(Misuse, match="earliest"):
        start_rule("soon")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("topics", "options"),
    [
        ([], {}),
        ("bad/name", {}),
        ("T", {"group": "bad/group"}),
        ("T", {"tags": "a", "sql": "x > 1"}),
        ({"T": "a"}, {"tags": "b"}),
        ("T", {"order": "some"}),
        ("T", {"concurrency": 0}),
        ("T", {"order": "key", "model": "broadcasting"}),
        ("T", {"mode": "pop", "order": "queue"}),
        ("T", {"mode": "pop", "invisible": 1}),
        ("T", {"queue_bytes_max": 0}),
    ],
)
def test_what_does_not_fit_together_is_refused(topics: Topics, options: dict[str, Any]) -> None:
    with pytest.raises(Misuse):
        consumer_options(topics, **{"group": "g", **options})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"group": "g", "strat": "earliest"}, "did you mean start="),
        ({}, "a consumer has no group"),
        ({"group": 7}, "a group's name is text, not 7"),
        ({"group": "g", "tags": ["a", "b"]}, "a || b"),
    ],
)
def test_what_a_type_checker_would_have_said_is_said(options: dict[str, Any], said: str) -> None:
    with pytest.raises(Misuse) as caught:
        consumer_options("T", **options)
    assert said in str(caught.value)
