"""The delivery of one delayed message: its record once more, where the message wanted to go.

    from                                    to
    SCHEDULE_TOPIC_XXXX, queue level−1      topic REAL_TOPIC, queue REAL_QID
    body, flags, born time and host, reconsume times, properties text: the same
    store timestamp, offsets, checksums: its own; prepared transaction: 0

The properties stay as they are, DELAY, REAL_TOPIC and REAL_QID among them: consumers of Apache's
broker see them, too. Nothing is decoded that is only passed on.
"""

from aerobee.errors import AerobeeError
from aerobee.model.flags import BORN_HOST_V6
from aerobee.model.names import SCHEDULE_TOPIC, TRANSACTION_HALF_TOPIC
from aerobee.model.properties import REAL_QUEUE_ID, REAL_TOPIC, find_property
from aerobee.ports.clock import Now
from aerobee.protocol.message_draft import MessageDraft
from aerobee.protocol.record import WHOLE, Record
from aerobee.protocol.stored_message import without_crc
from aerobee.service.broker.intake import Intake

_REAL_TOPIC = REAL_TOPIC.encode()
_REAL_QUEUE_ID = REAL_QUEUE_ID.encode()
_BORN_HOST_AT = 48
# Delivered there it would be taken for half a transaction, or come back for ever.
_NO_PLACE = (TRANSACTION_HALF_TOPIC.encode(), SCHEDULE_TOPIC.encode())
_NOTHING = memoryview(b"")


class Undeliverable(AerobeeError):
    """The record does not say where its message belongs, or not so that it can go there."""


class Delivery:
    """Puts messages where they belong, one after another: `read`, then `put`."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._record = Record()
        self._draft = MessageDraft()

    def read(self, view: memoryview) -> int:
        """Look at a whole record; its offset in the schedule queue."""
        found = self._record.read_from(view, 0)
        assert found == WHOLE, found
        return self._record.queue_offset

    def put(self, view: memoryview, now: Now) -> None:
        """Store the message of the record just read. Undeliverable, or why it is not stored."""
        record, draft = self._record, self._draft
        start = record.properties_start
        text = without_crc(bytes(view[start : start + record.properties_size]))
        topic = find_property(text, _REAL_TOPIC)
        if topic is None or topic in _NO_PLACE:
            raise Undeliverable(f"its {REAL_TOPIC} is {topic!r:.300}")
        queue_text = find_property(text, _REAL_QUEUE_ID)
        if queue_text is None or not queue_text.isdigit() or len(queue_text) > 9:
            raise Undeliverable(f"its {REAL_QUEUE_ID} is {queue_text!r:.100}")
        draft.topic = topic
        draft.queue_id = int(queue_text)
        draft.flag = record.flag
        draft.sys_flag = record.sys_flag
        draft.born_timestamp = record.born_timestamp
        draft.born_host = bytes(
            view[_BORN_HOST_AT : _BORN_HOST_AT + (20 if record.sys_flag & BORN_HOST_V6 else 8)]
        )
        draft.reconsume_times = record.reconsume_times
        draft.set_body(view[record.body_start : record.body_start + record.body_size])
        draft.set_properties(text)
        self._intake.put_draft(draft, now)

    def let_go(self) -> None:
        """Refer to nothing that was read: a file of the log stays as long as somebody does."""
        self._draft.set_body(_NOTHING)
