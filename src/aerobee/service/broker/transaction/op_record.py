"""Op records: encodes and decodes the queue offsets of half messages that are over.

    RMQ_SYS_TRANS_OP_HALF_TOPIC, queue 0, tag `d`
    body   12,15,9,      queue offsets of halves in decimal, a comma after each

One record has the halves that ended since the last tick. Older brokers wrote one offset per record,
without a comma.
"""

from collections.abc import Iterable, Sequence

from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.names import TRANSACTION_OP_TOPIC
from aerobee.model.properties import TAGS, WAIT
from aerobee.ports.clock import Now

OVER_TAG = "d"
BODY_BYTES_MAX = 4096  # RocketMQ's transactionOpMsgMaxSize
_OFFSET_DIGITS_MAX = 18
_OFFSETS_MAX = BODY_BYTES_MAX // 2  # of one digit and a comma each


def op_message(offsets: Iterable[int], host: Host, now: Now) -> StoredMessage:
    """The record that names these halves as over. `host` is the broker's own address."""
    return StoredMessage(
        topic=TRANSACTION_OP_TOPIC,
        queue_id=QueueId(0),
        queue_offset=QueueOffset(0),
        log_offset=LogOffset(0),
        body="".join(f"{offset}," for offset in offsets).encode(),
        properties={WAIT: "true", TAGS: OVER_TAG},
        born_timestamp=now.wall_ms,
        born_host=host,
        store_timestamp=0,
        store_host=host,
    )


def count_that_fits(offsets: Sequence[int]) -> int:
    """The number of leading offsets that fit in one record, if all were as long as the longest; at
    least 1."""
    first = offsets[:_OFFSETS_MAX]
    width = len(str(max(first))) + 1
    return min(len(first), max(1, BODY_BYTES_MAX // width))


def offsets_over(record: StoredMessage) -> list[int]:
    """The halves that an op record names; [] if it has another tag."""
    if record.tag != OVER_TAG:
        return []
    return [
        int(part)
        for part in record.body.split(b",")
        if part.isdigit() and len(part) <= _OFFSET_DIGITS_MAX
    ]
