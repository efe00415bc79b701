"""Progress of groups, as administrators are told: JSON with queues as keys, as Java reads it.

{"consumeTps":0.0,"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:
 {"brokerOffset":10,"consumerOffset":7,"lastTimestamp":1700000000123,"pullOffset":10}}}
{"brokerAddr":"a","consumeStatsList":[{"group":[…]}],"totalDiff":3,"totalInflightDiff":3}
{"consumeTimeSpanSet":[{"consumeTimeStamp":…,"delayTime":…,"maxTimeStamp":…,"messageQueue":…,
 "minTimeStamp":…}]}
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.bodies.message_queue import (
    by_queue,
    parse_queues,
    queue_from,
    queue_json,
    queue_prefix,
)
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, parse, quoted, write_compact


class ConsumeProgress(NamedTuple):
    """The progress of a group in one queue."""

    broker_offset: int
    consumer_offset: int
    pull_offset: int
    last_timestamp: int
    """When the last message was stored that the group has consumed; 0: it has none."""

    @property
    def lag(self) -> int:
        # Of a static topic's queue that the group has no offset in, -1.
        return self.broker_offset - max(0, self.consumer_offset)

    @property
    def in_flight(self) -> int:
        """Pulled, and not known to be consumed."""
        return self.pull_offset - max(0, self.consumer_offset)


class ConsumeStats(NamedTuple):
    """The progress of a group in the queues of one or several topics."""

    queues: Mapping[MessageQueue, ConsumeProgress]
    tps: float = 0.0
    """Messages a second that it gets of them."""


class TimeSpan(NamedTuple):
    """The store times of the first and last message of a queue, and of the last one consumed."""

    queue: MessageQueue
    min_timestamp: int
    max_timestamp: int
    consume_timestamp: int
    delay_ms: int


def encode_consume_stats(stats: ConsumeStats) -> bytes:
    return _stats_text(stats).encode()


def decode_consume_stats(body: bytes) -> ConsumeStats:
    return _stats_from(Members(parse_queues(body), "the consume stats"))


def encode_consume_stats_list(
    groups: Iterable[tuple[str, Iterable[ConsumeStats]]], broker_address: str
) -> bytes:
    """All groups, each with its topics."""
    listed: list[str] = []
    lag = in_flight = 0
    for group, topics in groups:
        entries: list[str] = []
        for stats in topics:
            entries.append(_stats_text(stats))
            for progress in stats.queues.values():
                lag += progress.lag
                in_flight += progress.in_flight
        listed.append(f"{{{quoted(group)}:[{','.join(entries)}]}}")
    return (
        f'{{"brokerAddr":{quoted(broker_address)},"consumeStatsList":[{",".join(listed)}],'
        f'"totalDiff":{lag},"totalInflightDiff":{in_flight}}}'
    ).encode()


def decode_consume_stats_list(body: bytes) -> dict[str, list[ConsumeStats]]:
    """By group, its topics."""
    found: dict[str, list[ConsumeStats]] = {}
    for item in Members(parse_queues(body), "the list").array("consumeStatsList"):
        members = Members(item, "an item of consumeStatsList")
        for group in members.names():
            found[group] = [
                _stats_from(Members(one, f"a topic of {group[:100]}"))
                for one in members.array(group)
            ]
    return found


def encode_time_spans(spans: Iterable[TimeSpan]) -> bytes:
    return write_compact(
        {
            "consumeTimeSpanSet": [
                {
                    "consumeTimeStamp": span.consume_timestamp,
                    "delayTime": span.delay_ms,
                    "maxTimeStamp": span.max_timestamp,
                    "messageQueue": queue_json(span.queue),
                    "minTimeStamp": span.min_timestamp,
                }
                for span in spans
            ]
        }
    )


def decode_time_spans(body: bytes) -> list[TimeSpan]:
    rows = Members(parse(body), "the answer").array("consumeTimeSpanSet")
    return [_span_from(Members(row, "an item of consumeTimeSpanSet")) for row in rows]


def _span_from(row: Members) -> TimeSpan:
    return TimeSpan(
        queue_from(row.object("messageQueue")),
        row.int64("minTimeStamp", 0),
        row.int64("maxTimeStamp", 0),
        row.int64("consumeTimeStamp", 0),
        row.int64("delayTime", 0),
    )


def _stats_from(members: Members) -> ConsumeStats:
    queues = {
        queue: _progress_from(value)
        for queue, value in by_queue(members.object("offsetTable")).items()
    }
    return ConsumeStats(queues, members.real("consumeTps", 0.0))


def _progress_from(value: Parsed) -> ConsumeProgress:
    one = Members(value, "the progress in a queue")
    return ConsumeProgress(
        one.int64("brokerOffset", 0),
        one.int64("consumerOffset", 0),
        one.int64("pullOffset", 0),  # clients before 5.0 know none
        one.int64("lastTimestamp", 0),
    )


def _stats_text(stats: ConsumeStats) -> str:
    rows: list[str] = []
    topic = broker = before = after = ""
    for queue, (end, consumed, pulled, stored_ms) in stats.queues.items():
        if queue.topic != topic or queue.broker_name != broker or not before:
            topic, broker = queue.topic, queue.broker_name
            before, after = queue_prefix(topic, broker)
        rows.append(
            f'{before}{queue.queue_id}{after}{{"brokerOffset":{end},"consumerOffset":{consumed},'
            f'"lastTimestamp":{stored_ms},"pullOffset":{pulled}}}'
        )
    return f'{{"consumeTps":{stats.tps!r},"offsetTable":{{{",".join(rows)}}}}}'
