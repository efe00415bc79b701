"""ReviveWriter writes checkpoints and acknowledgements as timed messages of the revive topic.

    record        tag    due
    checkpoint    ck     1 s before its messages become visible again
    ack           ack    when they do
    acks          bAck   when they do

Records go through the timer, so that a checkpoint and its acknowledgements are in the revive queue
when they are needed. The checkpoint of a pop has in POP_TO the offset at which the next pop begins,
for `offset_catch_up`.
"""

from aerobee.errors import LocalProtocolError
from aerobee.model.flags import BORN_HOST_V6
from aerobee.model.properties import TAGS, TIMER_DELIVER_MS, UNIQUE_KEY
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.revive_records import (
    AckRecord,
    Checkpoint,
    encode_ack,
    encode_checkpoint,
)
from aerobee.protocol.message.message_draft import PROPERTIES_BYTES_MAX, MessageDraft
from aerobee.service.broker.log_access.message_writer import MessageWriter, StoredAt

CHECKPOINT_TAG = "ck"
ACK_TAG = "ack"
BATCH_ACK_TAG = "bAck"
POPPED_TO = "POP_TO"
CHECKPOINT_AHEAD_MS = 1_000
TEXT_BYTES_MAX = PROPERTIES_BYTES_MAX - 1024
"""Leaves room for the properties that the timer adds, and for the record's checksum."""


class ReviveWriter:
    """Builds the properties text itself: there is a record for every pop and for every read of
    acknowledgements, and the general path of a message into the log takes ten times as long."""

    def __init__(self, writer: MessageWriter, topic: str, store_host: bytes) -> None:
        self._writer = writer
        self._topic = topic.encode()
        self._draft = MessageDraft()
        self._draft.born_host = store_host
        self._draft.sys_flag = BORN_HOST_V6 if len(store_host) > 8 else 0
        # Records, since the start: of all kinds, and of acknowledgements.
        self.stored = 0
        self.ack_writer = 0

    def put_checkpoint(
        self, checkpoint: Checkpoint, revive_queue: int, now: Now, popped_to: int | None = None
    ) -> StoredAt:
        """Write a checkpoint. StorageError: it is refused, and the messages must not be handed
        out."""
        topic, group, queue_id, start_offset, pop_time, broker_name = checkpoint.key
        deliver_ms = checkpoint.revive_time - CHECKPOINT_AHEAD_MS
        text = (
            f"{TAGS}\x01{CHECKPOINT_TAG}\x02{TIMER_DELIVER_MS}\x01{deliver_ms}\x02{UNIQUE_KEY}\x01"
            f"{topic}@{queue_id}@{start_offset}@{group}@{pop_time}@{broker_name}@ck\x02"
        )
        body = encode_checkpoint(checkpoint)
        if popped_to is None:
            return self._put(body, text, 3, revive_queue, deliver_ms, now)
        text += f"{POPPED_TO}\x01{popped_to}\x02"
        return self._put(body, text, 4, revive_queue, deliver_ms, now)

    def put_ack(self, ack: AckRecord, revive_queue: int, revive_time: int, now: Now) -> StoredAt:
        """Acknowledge messages of one checkpoint."""
        topic, group, queue_id, _, pop_time, broker_name = ack.key
        is_single = len(ack.offsets) == 1
        tag, offset = (ACK_TAG, ack.offsets[0]) if is_single else (BATCH_ACK_TAG, -1)
        text = (
            f"{TAGS}\x01{tag}\x02{TIMER_DELIVER_MS}\x01{revive_time}\x02{UNIQUE_KEY}\x01"
            f"{topic}@{queue_id}@{offset}@{group}@{pop_time}@{broker_name}@ack\x02"
        )
        stored = self._put(encode_ack(ack), text, 3, revive_queue, revive_time, now)
        self.ack_writer += 1
        return stored

    def _put(
        self, body: bytes, text: str, count: int, revive_queue: int, deliver_ms: int, now: Now
    ) -> StoredAt:
        """`count` is the number of properties in the text."""
        if text.count("\x01") != count or text.count("\x02") != count:
            raise LocalProtocolError("a name holds one of the separators 0x01, 0x02")
        try:
            encoded = text.encode()
        except UnicodeEncodeError as error:
            raise LocalProtocolError(f"a name that is no Unicode text: {error.reason}") from None
        if len(encoded) > TEXT_BYTES_MAX:
            raise LocalProtocolError(f"{len(encoded)} bytes of properties do not fit")
        draft = self._draft
        draft.topic, draft.queue_id = self._topic, revive_queue
        draft.born_timestamp = now.wall_ms
        draft.set_body(memoryview(body))
        stored = self._writer.put_at(draft, encoded, deliver_ms, now)
        self.stored += 1
        return stored
