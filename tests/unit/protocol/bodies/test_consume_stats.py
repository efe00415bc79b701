from typing import Any, cast

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.consume_stats import (
    ConsumeProgress,
    ConsumeStats,
    TimeSpan,
    decode_consume_stats_list,
    decode_time_spans,
    encode_consume_stats,
    encode_consume_stats_list,
    encode_time_spans,
)
from aerobee.protocol.bodies.message_queue import queue_from
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse
from tests.captured import captured

QUEUE = MessageQueue("T", "b", QueueId(0))


def recorded(name: str) -> tuple[bytes, dict[str, Any]]:
    (answer,) = captured(name, "response")
    body = bytes(answer.body)
    return body, cast("dict[str, Any]", parse(body))


def stats_of(said: dict[str, Any]) -> ConsumeStats:
    queues = {
        queue_from(Members(dict(key), "a key")): ConsumeProgress(
            one["brokerOffset"], one["consumerOffset"], one["pullOffset"], one["lastTimestamp"]
        )
        for key, one in said["offsetTable"].items()
    }
    return ConsumeStats(queues, said["consumeTps"])


def test_a_group_is_shown_as_apache_does() -> None:
    body, said = recorded("GET_CONSUME_STATS")
    assert encode_consume_stats(stats_of(said)) == body


def test_all_groups_are_shown_as_apache_does() -> None:
    body, said = recorded("GET_BROKER_CONSUME_STATS")
    groups = [
        (group, [stats_of(one) for one in topics])
        for item in said["consumeStatsList"]
        for group, topics in item.items()
    ]
    assert encode_consume_stats_list(groups, said["brokerAddr"]) == body


def test_lag_and_what_is_in_flight_are_counted_over_everything() -> None:
    groups = [
        ("g", [ConsumeStats({QUEUE: ConsumeProgress(10, 4, 7, 0)})]),
        ("h", [ConsumeStats({QUEUE: ConsumeProgress(10, 9, 10, 0)})]),
    ]
    said = cast("dict[str, Any]", parse(encode_consume_stats_list(groups, "a")))
    assert (said["totalDiff"], said["totalInflightDiff"]) == (6 + 1, 3 + 1)


def test_times_are_shown_per_queue() -> None:
    assert encode_time_spans([TimeSpan(QUEUE, 1, 9, 5, 4)]) == (
        b'{"consumeTimeSpanSet":[{"consumeTimeStamp":5,"delayTime":4,"maxTimeStamp":9,'
        b'"messageQueue":{"brokerName":"b","queueId":0,"topic":"T"},"minTimeStamp":1}]}'
    )


def test_times_and_all_groups_are_read_again() -> None:
    spans = [TimeSpan(QUEUE, 1, 2, 3, 4)]
    assert decode_time_spans(encode_time_spans(spans)) == spans
    other, there = MessageQueue("U", "b", QueueId(0)), MessageQueue("U", "c", QueueId(0))
    progress = ConsumeProgress(10, 4, 7, 5)
    stats = ConsumeStats({QUEUE: progress, other: progress, there: progress}, 1.5)
    assert decode_consume_stats_list(encode_consume_stats_list([("g", [stats])], "a")) == {
        "g": [stats]
    }
