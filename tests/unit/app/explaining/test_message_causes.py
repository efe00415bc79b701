"""Decisions that no broker is needed for; each cause on a real one is in `test_gathering`."""

from dataclasses import replace

import pytest

from aerobee.app.explaining.facts import GroupFacts, MessageFacts, QueueFacts
from aerobee.app.explaining.findings import Cause
from aerobee.app.explaining.message_causes import explain_message
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, MessageQueue, QueueId, QueueOffset
from aerobee.model.names import SCHEDULE_TOPIC, dead_letter_topic, retry_topic
from aerobee.model.subscription import MessageModel
from aerobee.protocol.bodies.subscription import make_subscription

NOW_MS = 1_700_000_000_000
HOST = Host("10.0.0.1", 1)
LEVELS = (1000, 5000, 10_000)


def copy(topic: str, stored_ms: int = NOW_MS, times: int = 0, offset: int = 7, **properties: str):  # type: ignore[no-untyped-def]
    return "broker-a", StoredMessage(
        topic,
        QueueId(0),
        QueueOffset(offset),
        LogOffset(0),
        b"",
        properties,
        1,
        HOST,
        stored_ms,
        HOST,
        reconsume_times=times,
    )


def facts(*copies: tuple[str, StoredMessage]) -> MessageFacts:
    return MessageFacts("ID", "T", copies=copies, delay_levels_ms=LEVELS)


def group(at: int, **said: object) -> GroupFacts:
    plain = GroupFacts(
        "g",
        NOW_MS,
        model=MessageModel.CLUSTERING,
        members=("c",),
        subscriptions={"T": make_subscription("T", "*", 1)},
        queues={
            MessageQueue("T", "broker-a", QueueId(0)): QueueFacts(0, 10, at, owner="c"),
            MessageQueue(retry_topic("g"), "broker-a", QueueId(0)): QueueFacts(
                0, 10, at, owner="c"
            ),
        },
    )
    return replace(plain, **said)  # type: ignore[arg-type]


def test_a_message_that_never_came_is_expired_only_if_its_id_is_older_than_the_log() -> None:
    for born_ms, oldest_ms, cause in (
        (NOW_MS - 1, NOW_MS, Cause.EXPIRED),
        (NOW_MS, NOW_MS, Cause.NOT_FOUND),
        (0, NOW_MS, Cause.NOT_FOUND),
        (NOW_MS - 1, 0, Cause.NOT_FOUND),
    ):
        missing = replace(facts(), born_ms=born_ms, oldest_ms=oldest_ms)
        assert [one.cause for one in explain_message(missing, [])] == [cause]


@pytest.mark.parametrize(("level", "said"), [("2", "22:13:25 UTC"), ("9", "22:13:20 UTC")])
def test_a_delay_level_says_when_it_is_due(level: str, said: str) -> None:
    waiting = copy(SCHEDULE_TOPIC, REAL_TOPIC="T", DELAY=level)
    (one,) = explain_message(facts(waiting), [])
    assert one.cause is Cause.DELAYED
    assert one.text.endswith(said)


def test_a_dead_letter_outweighs_the_retries_before_it() -> None:
    retried = copy(retry_topic("g"), times=2)
    dead = copy(dead_letter_topic("g"), times=3)
    (one,) = explain_message(facts(copy("T"), retried, dead), [group(9)])
    assert one.cause is Cause.DEAD_LETTER
    assert "after 3 retries" in one.text


def test_of_several_retries_the_last_counts() -> None:
    back = copy(SCHEDULE_TOPIC, times=2, REAL_TOPIC=retry_topic("g"), DELAY="3")
    came = copy(retry_topic("g"), times=1, offset=3)
    (one,) = explain_message(facts(copy("T"), came, back), [group(9)])
    assert one.cause is Cause.IN_RETRY
    assert (
        one.text == "it failed 2 times and comes again at 2023-11-14 22:13:30 UTC, at delay level 3"
    )
    (one,) = explain_message(facts(copy("T"), came), [group(2)])
    assert one.text.startswith("it failed 1 times and is due")
    (one,) = explain_message(facts(copy("T"), came), [group(9)])
    assert one.cause is Cause.CONSUMED


def test_who_is_past_a_message_but_disagreed_on_it_may_have_missed_it() -> None:
    said = {"T": {"TAG: a": ("c",), "TAG: b": ("d",)}}
    (one,) = explain_message(facts(copy("T")), [group(9, mismatches=said)])
    assert one.cause is Cause.MISMATCH


def test_each_group_has_a_finding_of_its_own() -> None:
    found = explain_message(facts(copy("T")), [group(9), group(2, group="h")])
    assert [(one.group, one.cause) for one in found] == [
        ("g", Cause.CONSUMED),
        ("h", Cause.NOT_REACHED),
    ]
    assert found[1].text == "5 messages of T@broker-a:0 come before it"
