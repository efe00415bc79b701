"""The delivery of one message whose time has come: its record once more, where it wanted to go.

    from                               to
    rmq_sys_wheel_timer, queue 0       topic REAL_TOPIC, queue REAL_QID
                                       a rolled one: rmq_sys_wheel_timer, queue 0 again
    body, flags, born time and host, reconsume times: the same
    properties text: the same, with TIMER_ENQUEUE_MS and TIMER_DEQUEUE_MS; rolled: TIMER_ROLL_TIMES,
                     and another TIMER_OUT_MS if it is due later than was thought

The rest of the text stays as it is: consumers of Apache's broker see it, too, and TIMER_OUT_MS is
what says that the message has waited.
"""

from aerobee.model.names import TIMER_TOPIC
from aerobee.model.properties import (
    NAME_END,
    PROPERTIES_BYTES_MAX,
    PROPERTY_END,
    REAL_TOPIC,
    TIMER_DELAY_MS,
    TIMER_DELAY_SECONDS,
    TIMER_DELETE_UNIQUE_KEY,
    TIMER_DEQUEUE_MS,
    TIMER_ENQUEUE_MS,
    TIMER_OUT_MS,
    TIMER_ROLL_TIMES,
    UNIQUE_KEY,
    find_property,
)
from aerobee.ports.clock import Now
from aerobee.protocol.message_draft import MessageDraft
from aerobee.protocol.record import CRC_PROPERTY_BYTES, WHOLE, Record
from aerobee.protocol.stored_message import copy_to_draft, without_crc
from aerobee.service.broker.intake import Intake
from aerobee.service.broker.real_place import real_place
from aerobee.storage.timer.timer_log import ROLL, TimerUnit

_REAL_TOPIC = REAL_TOPIC.encode()
_UNIQUE_KEY = UNIQUE_KEY.encode()
_DELETE_KEY = TIMER_DELETE_UNIQUE_KEY.encode()
_DELAY_NAMES = (TIMER_DELAY_SECONDS.encode(), TIMER_DELAY_MS.encode())
_OUT_MS = TIMER_OUT_MS.encode()
_ROLL_TIMES = TIMER_ROLL_TIMES.encode()
_ENQUEUE_MS = TIMER_ENQUEUE_MS.encode()
_DEQUEUE_MS = TIMER_DEQUEUE_MS.encode()
_TIMER_TOPIC = TIMER_TOPIC.encode()
_NOTHING = memoryview(b"")
_ROOM_BYTES = PROPERTIES_BYTES_MAX - CRC_PROPERTY_BYTES


class TimerDelivery:
    """Puts messages where they belong, one after another: `read`, then `put`."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._record = Record()
        self._draft = MessageDraft()
        self._view = _NOTHING
        self._text = b""

    def read(self, view: memoryview) -> None:
        """Look at a whole record."""
        found = self._record.read_from(view, 0)
        assert found == WHOLE, found
        self._view = view
        start = self._record.properties_start
        self._text = without_crc(bytes(view[start : start + self._record.properties_size]))

    def key(self) -> bytes:
        """What takes the message back."""
        topic = find_property(self._text, _REAL_TOPIC) or b""
        return topic + b"+" + (find_property(self._text, _UNIQUE_KEY) or b"")

    def delete_key(self) -> bytes:
        """Which message this one takes back."""
        return find_property(self._text, _DELETE_KEY) or b""

    @property
    def queue_offset(self) -> int:
        """In the timer's queue."""
        return self._record.queue_offset

    @property
    def stored_ms(self) -> int:
        return self._record.store_timestamp

    def out_ms(self) -> int:
        out = find_property(self._text, _OUT_MS)
        assert out is not None, "it got a unit"
        return int(out)

    def is_delayed(self) -> bool:
        """Whether it was to wait for so long, not for a time of day."""
        return any(find_property(self._text, name) is not None for name in _DELAY_NAMES)

    def put(self, unit: TimerUnit, now: Now) -> None:
        """Store the message of the record just read. Undeliverable, or why it is not stored."""
        if unit.magic & ROLL:
            self.put_back(unit, self.out_ms(), now)
        else:
            topic, queue_id = real_place(self._text)
            self._put(topic, queue_id, _stamped(self._text, unit.enqueue_ms, now.wall_ms), now)

    def put_back(self, unit: TimerUnit, out_ms: int, now: Now) -> None:
        """Have it wait on, for this tick."""
        text = self._rolled_text()
        if out_ms != self.out_ms():
            text = _without(text, _OUT_MS) + b"%b\x01%d\x02" % (_OUT_MS, out_ms)
        self._put(_TIMER_TOPIC, 0, _stamped(text, unit.enqueue_ms, now.wall_ms), now)

    def _put(self, topic: bytes, queue_id: int, text: bytes, now: Now) -> None:
        record, draft, view = self._record, self._draft, self._view
        draft.topic, draft.queue_id = topic, queue_id
        copy_to_draft(draft, record, view, text)
        self._intake.put_draft(draft, now)

    def let_go(self) -> None:
        """Refer to nothing that was read: a file of the log stays as long as somebody does."""
        self._view = _NOTHING
        self._draft.set_body(_NOTHING)

    def _rolled_text(self) -> bytes:
        times = find_property(self._text, _ROLL_TIMES) or b"0"
        count = int(times) if times.isdigit() and len(times) < 10 else 0
        text = _without(_without(_without(self._text, _ROLL_TIMES), _ENQUEUE_MS), _DEQUEUE_MS)
        return text + b"%b\x01%d\x02" % (_ROLL_TIMES, count + 1)


def _stamped(text: bytes, enqueue_ms: int, dequeue_ms: int) -> bytes:
    """With the times of the timer, where there is room for them."""
    if text and not text.endswith(PROPERTY_END):
        text += PROPERTY_END
    more = b"%b\x01%d\x02%b\x01%d\x02" % (_DEQUEUE_MS, dequeue_ms, _ENQUEUE_MS, enqueue_ms)
    return text + more if len(text) + len(more) <= _ROOM_BYTES else text


def _without(text: bytes, name: bytes) -> bytes:
    """Without the property of this name."""
    mark = name + NAME_END
    if mark not in text:
        return text if not text or text.endswith(PROPERTY_END) else text + PROPERTY_END
    pieces = [piece for piece in text.split(PROPERTY_END) if piece and not piece.startswith(mark)]
    return b"".join(piece + PROPERTY_END for piece in pieces)
