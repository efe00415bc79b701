"""Unit tests of how far groups are, for those who watch them."""

from typing import Any, cast

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.text.json_text import parse
from tests.captured import captured
from tests.consumer_kit import ConsumerKit

Progress = dict[tuple[str, int], dict[str, int]]


def progress(said: dict[str, Any]) -> Progress:
    found = {}
    for key, value in said["offsetTable"].items():
        queue = dict(key)
        assert queue["brokerName"] == "broker-a"
        found[queue["topic"], queue["queueId"]] = value
    return found


def stats(kit: ConsumerKit, **fields: str) -> Progress:
    answer = kit.ask(208, {"consumerGroup": "g", **fields})
    assert answer.code == 0
    return progress(cast("dict[str, Any]", parse(bytes(answer.body))))


def kit_with_two_topics() -> ConsumerKit:
    """Five messages in Orders, two in Bills; the group has consumed 3 and 2 of them."""
    kit = ConsumerKit()
    kit.make_topic(TopicConfig("Bills", 1, 1, is_order=True))
    kit.store_messages(5)
    kit.store_messages(2, "Bills")
    kit.offsets.commit("g", "Orders", 0, 3, max_offset=5)
    kit.offsets.commit("g", "Bills", 0, 2, max_offset=2)
    kit.offsets.commit("g", "Gone", 0, 0, max_offset=0)
    return kit


def test_every_queue_of_every_topic_is_shown_with_its_lag() -> None:
    kit = kit_with_two_topics()
    now_ms = kit.clock.now().wall_ms
    kit.offsets.note_pulled("g", "Orders", 0, 4)
    assert stats(kit) == {
        ("Bills", 0): {
            "brokerOffset": 2,
            "consumerOffset": 2,
            "lastTimestamp": now_ms,
            "pullOffset": 2,
        },
        ("Orders", 0): {
            "brokerOffset": 5,
            "consumerOffset": 3,
            "lastTimestamp": now_ms - 4,
            "pullOffset": 4,
        },
        ("Orders", 1): {
            "brokerOffset": 0,
            "consumerOffset": 0,
            "lastTimestamp": 0,
            "pullOffset": 0,
        },
    }


def test_topics_are_shown_by_name() -> None:
    kit = kit_with_two_topics()
    assert set(stats(kit, topic="Bills")) == {("Bills", 0)}
    assert set(stats(kit, topicList="Bills;None;Orders")) == {
        ("Bills", 0),
        ("Orders", 0),
        ("Orders", 1),
    }
    assert stats(kit, topic="None") == {}
    assert stats(kit, consumerGroup="h") == {}


def test_what_an_online_group_does_not_subscribe_to_is_left_out() -> None:
    kit = kit_with_two_topics()
    kit.beat("a", subscriptions=(make_subscription("Bills"),))
    assert set(stats(kit)) == {("Bills", 0)}
    assert stats(kit, topic="Orders") == {}
    assert set(stats(kit, topicList="Orders")) == {("Orders", 0), ("Orders", 1)}


def test_all_groups_are_shown_together() -> None:
    kit = kit_with_two_topics()
    kit.groups.ensure("g", kit.clock.now())
    said = cast("dict[str, Any]", parse(bytes(kit.ask(317, {"isOrder": "false"}).body)))
    groups = {group: topics for item in said["consumeStatsList"] for group, topics in item.items()}
    assert [set(progress(one)) for one in groups["g"]] == [
        {("Bills", 0)},
        {("Orders", 0), ("Orders", 1)},
    ]
    assert groups["TOOLS_CONSUMER"] == []
    assert (said["totalDiff"], said["brokerAddr"]) == (2, "127.0.0.1:10911")
    ordered = cast("dict[str, Any]", parse(bytes(kit.ask(317, {"isOrder": "true"}).body)))
    assert ordered["totalDiff"] == 0


def test_the_times_of_a_group_are_shown_per_queue() -> None:
    kit = kit_with_two_topics()
    now_ms = kit.clock.now().wall_ms
    said = cast(
        "dict[str, Any]", parse(bytes(kit.ask(303, {"topic": "Orders", "group": "g"}).body))
    )
    first, second = said["consumeTimeSpanSet"]
    assert first == {
        "consumeTimeStamp": now_ms - 4,
        "delayTime": 3,
        "maxTimeStamp": now_ms - 2,
        "messageQueue": {"brokerName": "broker-a", "queueId": 0, "topic": "Orders"},
        "minTimeStamp": now_ms - 6,
    }
    assert (second["minTimeStamp"], second["maxTimeStamp"], second["delayTime"]) == (-1, -1, 0)
    kit.offsets.commit("g", "Orders", 0, 5, max_offset=5)
    said = cast(
        "dict[str, Any]", parse(bytes(kit.ask(303, {"topic": "Orders", "group": "g"}).body))
    )
    assert said["consumeTimeSpanSet"][0]["delayTime"] == 0
    assert kit.ask(303, {"topic": "None", "group": "g"}).code == 17


def test_captured_questions_are_taken() -> None:
    for name in ("GET_CONSUME_STATS", "GET_BROKER_CONSUME_STATS"):
        for command in captured(name, "request"):
            assert ConsumerKit().ask(command.code, command.ext_fields).code == 0


def test_what_a_group_gets_is_shown_per_second() -> None:
    kit = kit_with_two_topics()
    kit.groups.ensure("g", kit.clock.now())
    for topic, count in (("Orders", 100), ("Bills", 20)):
        kit.statistics.flow_of("g", topic).add(count, 1)
    kit.clock.advance(10_000)
    said = cast("dict[str, Any]", parse(bytes(kit.ask(208, {"consumerGroup": "g"}).body)))
    assert said["consumeTps"] == pytest.approx(12.0, rel=0.05)
    every = cast("dict[str, Any]", parse(bytes(kit.ask(317, {"isOrder": "false"}).body)))
    groups = {group: topics for item in every["consumeStatsList"] for group, topics in item.items()}
    assert [one["consumeTps"] for one in groups["g"]] == pytest.approx([2.0, 10.0], rel=0.05)
