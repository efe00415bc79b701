"""How far groups are, as administrators are told: JSON with queues as keys, as Java reads it.

{"consumeTps":0.0,"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:
 {"brokerOffset":10,"consumerOffset":7,"lastTimestamp":1700000000123,"pullOffset":10}}}
{"brokerAddr":"a","consumeStatsList":[{"group":[…]}],"totalDiff":3,"totalInflightDiff":3}
{"consumeTimeSpanSet":[{"consumeTimeStamp":…,"delayTime":…,"maxTimeStamp":…,"messageQueue":…,
 "minTimeStamp":…}]}
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.bodies.message_queue import queue_json, queue_key
from aerobee.protocol.json_text import ObjectKey, Value, write_compact


class Progress(NamedTuple):
    """A group in one queue."""

    broker_offset: int
    consumer_offset: int
    pull_offset: int
    last_timestamp: int
    """When the last message was stored that the group has consumed; 0: it has none."""

    @property
    def lag(self) -> int:
        return self.broker_offset - self.consumer_offset

    @property
    def in_flight(self) -> int:
        """Pulled, and not known to be consumed."""
        return self.pull_offset - self.consumer_offset


class ConsumeStats(NamedTuple):
    """A group in the queues of a topic, or of several."""

    queues: Mapping[MessageQueue, Progress]
    tps: float = 0.0
    """Messages a second that it gets of them."""


class TimeSpan(NamedTuple):
    """The times of the messages in one queue, and where a group is among them."""

    queue: MessageQueue
    min_timestamp: int
    max_timestamp: int
    consume_timestamp: int
    delay_ms: int


def encode_consume_stats(stats: ConsumeStats) -> bytes:
    return write_compact(_stats_json(stats))


def encode_consume_stats_list(
    groups: Iterable[tuple[str, Iterable[ConsumeStats]]], broker_address: str
) -> bytes:
    """All groups, each with its topics."""
    listed: list[Value] = []
    lag = in_flight = 0
    for group, topics in groups:
        entries: list[Value] = []
        for stats in topics:
            entries.append(_stats_json(stats))
            lag += sum(progress.lag for progress in stats.queues.values())
            in_flight += sum(progress.in_flight for progress in stats.queues.values())
        listed.append({group: entries})
    return write_compact(
        {
            "brokerAddr": broker_address,
            "consumeStatsList": listed,
            "totalDiff": lag,
            "totalInflightDiff": in_flight,
        }
    )


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


def _stats_json(stats: ConsumeStats) -> dict[str, Value]:
    table: dict[ObjectKey, Value] = {
        queue_key(queue): {
            "brokerOffset": progress.broker_offset,
            "consumerOffset": progress.consumer_offset,
            "lastTimestamp": progress.last_timestamp,
            "pullOffset": progress.pull_offset,
        }
        for queue, progress in stats.queues.items()
    }
    return {"consumeTps": stats.tps, "offsetTable": table}
