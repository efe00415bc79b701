"""Writing checkpoints and acknowledgements: messages of the revive topic, each for a time.

    record        tag    due
    checkpoint    ck     1 s before its messages become visible again
    ack           ack    when they do
    acks          bAck   when they do

Records go through the timer, so that what belongs together meets in the revive queue when it is
needed. The checkpoint of a pop says in POP_TO where the next pop begins, for `catch_up`.
"""

from aerobee.model.flags import BORN_HOST_V6
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_id import address_text
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.properties import TAGS, TIMER_DELIVER_MS, UNIQUE_KEY
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.revive_records import (
    AckRecord,
    Checkpoint,
    encode_ack,
    encode_checkpoint,
)
from aerobee.service.broker.intake import Intake, Stored

CHECKPOINT_TAG = "ck"
ACK_TAG = "ack"
BATCH_ACK_TAG = "bAck"
POPPED_TO = "POP_TO"
CHECKPOINT_AHEAD_MS = 1_000


class ReviveLog:
    def __init__(self, intake: Intake, topic: str, store_host: bytes) -> None:
        self._intake = intake
        self._topic = topic
        self._host = broker_host(store_host)
        self._sys_flag = BORN_HOST_V6 if len(store_host) > 8 else 0

    def put_checkpoint(
        self, checkpoint: Checkpoint, revive_queue: int, now: Now, popped_to: int | None = None
    ) -> Stored:
        """A StorageError says why it is refused: then nobody may have the messages."""
        topic, group, queue_id, start_offset, pop_time, broker_name = checkpoint.key
        properties = {
            TAGS: CHECKPOINT_TAG,
            TIMER_DELIVER_MS: str(checkpoint.revive_time - CHECKPOINT_AHEAD_MS),
            UNIQUE_KEY: (f"{topic}@{queue_id}@{start_offset}@{group}@{pop_time}@{broker_name}@ck"),
        }
        if popped_to is not None:
            properties[POPPED_TO] = str(popped_to)
        return self._put(encode_checkpoint(checkpoint), properties, revive_queue, now)

    def put_ack(self, ack: AckRecord, revive_queue: int, revive_time: int, now: Now) -> Stored:
        """Acknowledge messages of one checkpoint."""
        topic, group, queue_id, _, pop_time, broker_name = ack.key
        is_single = len(ack.offsets) == 1
        offset = ack.offsets[0] if is_single else -1
        properties = {
            TAGS: ACK_TAG if is_single else BATCH_ACK_TAG,
            TIMER_DELIVER_MS: str(revive_time),
            UNIQUE_KEY: f"{topic}@{queue_id}@{offset}@{group}@{pop_time}@{broker_name}@ack",
        }
        return self._put(encode_ack(ack), properties, revive_queue, now)

    def _put(self, body: bytes, properties: dict[str, str], revive_queue: int, now: Now) -> Stored:
        return self._intake.put(
            StoredMessage(
                topic=self._topic,
                queue_id=QueueId(revive_queue),
                queue_offset=QueueOffset(0),
                log_offset=LogOffset(0),
                body=body,
                properties=properties,
                born_timestamp=now.wall_ms,
                born_host=self._host,
                store_timestamp=0,
                store_host=self._host,
                sys_flag=self._sys_flag,
            ),
            now,
        )


def broker_host(store_host: bytes) -> Host:
    """A broker's own address, as its records hold it."""
    return Host(address_text(store_host[:-4]), int.from_bytes(store_host[-4:], "big"))
