"""TimerRoll puts messages whose slot is due before their time back into the timer's queue.

    from                               to
    rmq_sys_wheel_timer, queue 0       rmq_sys_wheel_timer, queue 0

    body, flags, born time and host, reconsume times: the same
    properties text: the same, with TIMER_ROLL_TIMES, TIMER_ENQUEUE_MS and TIMER_DEQUEUE_MS, and
                     another TIMER_OUT_MS if its delivery is later than computed before

Two kinds: messages that wait longer than the window (their unit has the flag ROLL), and delays that
a clock which was set forward would cut short (`clock_shifts`). Called from the core's thread only.
"""

from aerobee.model.names import TIMER_TOPIC
from aerobee.model.properties import (
    NAME_END,
    PROPERTIES_BYTES_MAX,
    PROPERTY_END,
    TIMER_DEQUEUE_MS,
    TIMER_ENQUEUE_MS,
    TIMER_OUT_MS,
    TIMER_ROLL_TIMES,
    find_property,
)
from aerobee.ports.clock import Now
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import CRC_PROPERTY_BYTES, WHOLE, Record
from aerobee.protocol.message.stored_message import copy_to_draft
from aerobee.protocol.message.waiting_properties import WaitingProperties
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.timer.clock_shifts import ClockShifts
from aerobee.service.broker.timer.tick_scale import TickScale

_OUT_MS = TIMER_OUT_MS.encode()
_ROLL_TIMES = TIMER_ROLL_TIMES.encode()
_ENQUEUE_MS = TIMER_ENQUEUE_MS.encode()
_DEQUEUE_MS = TIMER_DEQUEUE_MS.encode()
_TIMER_TOPIC = TIMER_TOPIC.encode()
_NOTHING = memoryview(b"")
_ROOM_BYTES = PROPERTIES_BYTES_MAX - CRC_PROPERTY_BYTES


class TimerRoll:
    def __init__(self, writer: MessageWriter, shifts: ClockShifts, scale: TickScale) -> None:
        self._writer = writer
        self._shifts = shifts
        self._scale = scale
        self._record = Record()
        self._text = WaitingProperties()
        self._draft = MessageDraft()

    def take(self, view: memoryview, is_rolled: bool, enqueue_ms: int, now: Now) -> bool:
        """Put the message of a whole record back into the queue, if it has to wait on.
        StorageError: the store takes nothing now."""
        record = self._record
        found = record.read_from(view, 0)
        assert found == WHOLE, found
        start = record.properties_start
        self._text.read_from(view[start : start + record.properties_size])
        text = bytes(view[start : start + self._text.size])
        own_ms = self._text.out_ms
        assert own_ms >= 0, "it got a unit"
        out_ms = self._later_ms(own_ms)
        is_over = out_ms + self._scale.precision_ms <= now.wall_ms
        if not is_rolled and (out_ms == own_ms or is_over):
            return False
        text = rolled(text)
        if out_ms != own_ms:
            text = _without(text, _OUT_MS) + b"%b\x01%d\x02" % (_OUT_MS, out_ms)
        draft = self._draft
        draft.topic, draft.queue_id = _TIMER_TOPIC, 0
        try:
            copy_to_draft(draft, record, view, _stamped(text, enqueue_ms, now.wall_ms))
            self._writer.put_draft(draft, now)
        finally:
            draft.set_body(_NOTHING)
        return True

    def _later_ms(self, out_ms: int) -> int:
        """The tick of the message, after steps of the clock."""
        if not self._shifts.has_steps or not self._text.is_delayed:
            return out_ms
        shift_ms = self._shifts.since(self._record.queue_offset, self._record.store_timestamp)
        return self._scale.ceiling(out_ms + shift_ms) if shift_ms > 0 else out_ms


def stamp(enqueue_ms: int, dequeue_ms: int) -> bytes:
    """TIMER_DEQUEUE_MS and TIMER_ENQUEUE_MS as properties text."""
    return b"%b\x01%d\x02%b\x01%d\x02" % (_DEQUEUE_MS, dequeue_ms, _ENQUEUE_MS, enqueue_ms)


def rolled(text: bytes) -> bytes:
    """The properties text of a message that is put back once more."""
    times = find_property(text, _ROLL_TIMES) or b"0"
    count = int(times) if times.isdigit() and len(times) < 10 else 0
    text = _without(_without(_without(text, _ROLL_TIMES), _ENQUEUE_MS), _DEQUEUE_MS)
    return text + b"%b\x01%d\x02" % (_ROLL_TIMES, count + 1)


def _stamped(text: bytes, enqueue_ms: int, dequeue_ms: int) -> bytes:
    more = stamp(enqueue_ms, dequeue_ms)
    return text + more if len(text) + len(more) <= _ROOM_BYTES else text


def _without(text: bytes, name: bytes) -> bytes:
    """Without the property of this name."""
    mark = name + NAME_END
    if mark not in text:
        return text if not text or text.endswith(PROPERTY_END) else text + PROPERTY_END
    pieces = [piece for piece in text.split(PROPERTY_END) if piece and not piece.startswith(mark)]
    return b"".join(piece + PROPERTY_END for piece in pieces)
