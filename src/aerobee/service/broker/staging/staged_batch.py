"""A staged batch: one record of the staging topic, whose body is the batch.

    REAL_TOPIC, REAL_QID    the queue of its messages
    __STAGED                round:writer

The topic has no consumers: a batch is found by its log offset, which its writer was told.
"""

from typing import NamedTuple

from aerobee.errors import ProtocolError
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.names import STAGED_TOPIC
from aerobee.model.properties import REAL_QUEUE_ID, REAL_TOPIC
from aerobee.protocol.message.stored_message import decode_record
from aerobee.service.broker.log_access.real_topic import find_real_place
from aerobee.storage.store import Store

STAGED = "__STAGED"
_NOWHERE = Host("0.0.0.0", 0)


class StagedBatch(NamedTuple):
    write_id: str
    round_id: int
    topic: str
    queue_id: int
    body: bytes


def staged_message(batch: StagedBatch, wall_ms: int) -> StoredMessage:
    """The record of a batch, without offsets yet."""
    return StoredMessage(
        topic=STAGED_TOPIC,
        queue_id=QueueId(0),
        queue_offset=QueueOffset(0),
        log_offset=LogOffset(0),
        body=batch.body,
        properties={
            REAL_TOPIC: batch.topic,
            REAL_QUEUE_ID: str(batch.queue_id),
            STAGED: f"{batch.round_id}:{batch.write_id}",
        },
        born_timestamp=wall_ms,
        born_host=_NOWHERE,
        store_timestamp=0,
        store_host=_NOWHERE,
    )


def staged_at(store: Store, log_offset: int) -> StagedBatch | None:
    """The batch at a log offset; None: there is none."""
    record = store.record_at(log_offset)
    if record is None:
        return None
    try:
        message = decode_record(bytes(record))
    except ProtocolError:
        return None
    round_text, _, write_id = message.properties.get(STAGED, "").partition(":")
    place = find_real_place(message.properties)
    if message.topic != STAGED_TOPIC or place is None or not round_text.isdecimal():
        return None
    return StagedBatch(write_id, int(round_text), place.topic, place.queue_id, message.body)
