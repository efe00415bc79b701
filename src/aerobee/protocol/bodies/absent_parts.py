"""Answers about parts that Aerobee's broker does not have: no cold-data limits, no lite topics.

{"runtimeTable":{},"configTable":{}}
{"cqTableSize":9,"currentLmqNum":0,…,"storeType":"default","topicMeta":{}}
"""

from aerobee.protocol.text.json_text import write_compact


def encode_no_cold_limits() -> bytes:
    """The answer that limits no group. RocketMQ's thresholds are left out: there are none."""
    return write_compact({"runtimeTable": {}, "configTable": {}})


def encode_no_light_topics(topics: int, offsets: int) -> bytes:
    """The answer without lite topics. `topics` have queues, `offsets` are those of groups."""
    return write_compact(
        {
            "cqTableSize": topics,
            "currentLmqNum": 0,
            "eventMapSize": 0,
            "groupMeta": {},
            "liteSubscriptionCount": 0,
            "maxLmqNum": 0,
            "offsetTableSize": offsets,
            "orderInfoCount": 0,
            "storeType": "default",
            "topicMeta": {},
        }
    )
