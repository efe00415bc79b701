"""The delivery of one delayed message: its record once more, where the message wanted to go.

    from                                    to
    SCHEDULE_TOPIC_XXXX, queue level−1      topic REAL_TOPIC, queue REAL_QID
    body, flags, born time and host, reconsume times, properties text: the same
    store timestamp, offsets, checksums: its own; prepared transaction: 0

The properties stay as they are, DELAY, REAL_TOPIC and REAL_QID among them: consumers of Apache's
broker see them, too. Nothing is decoded that is only passed on.
"""

from aerobee.ports.clock import Now
from aerobee.protocol.message_draft import MessageDraft
from aerobee.protocol.record import WHOLE, Record
from aerobee.protocol.stored_message import copy_to_draft, without_crc
from aerobee.service.broker.intake import Intake
from aerobee.service.broker.real_place import real_place

_NOTHING = memoryview(b"")


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
        draft.topic, draft.queue_id = real_place(text)
        copy_to_draft(draft, record, view, text)
        self._intake.put_draft(draft, now)

    def let_go(self) -> None:
        """Refer to nothing that was read: a file of the log stays as long as somebody does."""
        self._draft.set_body(_NOTHING)
