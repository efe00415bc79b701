"""Statistics of a topic's queues ⇄ JSON: first offset, next offset, last store time; queues as
keys.

    {"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:
                    {"lastUpdateTimestamp":1700000000000,"maxOffset":7,"minOffset":0}},
     "topicPutTps":0.0}
"""

from collections.abc import Mapping
from typing import NamedTuple

from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.bodies.message_queue import by_queue, parse_queues, queue_prefix
from aerobee.protocol.text.json_members import Members


class QueueStats(NamedTuple):
    min_offset: int
    max_offset: int
    stored_ms: int
    """Wall time at which its last message was stored; 0: there is none."""


class TopicStats(NamedTuple):
    queues: Mapping[MessageQueue, QueueStats]
    sends_a_second: float
    logical: Mapping[MessageQueue, QueueStats] = {}
    """Of a static topic: its logical queues, which `queues` are parts of."""


def encode_topic_stats(queues: Mapping[MessageQueue, QueueStats], sends_a_second: float) -> bytes:
    rows: list[str] = []
    for queue, (start, end, stored_ms) in queues.items():
        before, after = queue_prefix(queue.topic, queue.broker_name)
        rows.append(
            f'{before}{queue.queue_id}{after}{{"lastUpdateTimestamp":{stored_ms},'
            f'"maxOffset":{end},"minOffset":{start}}}'
        )
    return f'{{"offsetTable":{{{",".join(rows)}}},"topicPutTps":{sends_a_second!r}}}'.encode()


def decode_topic_stats(body: bytes) -> TopicStats:
    members = Members(parse_queues(body), "the topic's stats")
    queues = {}
    for queue, value in by_queue(members.object("offsetTable")).items():
        one = Members(value, f"the stats of {queue}")
        queues[queue] = QueueStats(
            one.int64("minOffset"), one.int64("maxOffset"), one.int64("lastUpdateTimestamp", 0)
        )
    return TopicStats(queues, members.real("topicPutTps", 0.0))
