"""Enqueue puts messages from the timer's queue into timer log and wheel, in the order of the queue.

The slot of a message depends on its record alone. So after a stop the part of the queue that was
not saved is processed again, from the saved queue offset, with units written at the saved end of
the timer log: they come out as before. A slot that was saved later than the rest (its chain ends at
or behind the position of the next unit) has that unit already.

When wheel and log are built again from the whole queue, `Done` tells delivered messages from
waiting ones.

Called from the core's thread only.
"""

import logging
from typing import TYPE_CHECKING, NamedTuple

from aerobee.model.names import TIMER_TOPIC
from aerobee.protocol.message.record import Record
from aerobee.protocol.message.waiting_properties import WaitingProperties
from aerobee.service.broker.log_access.due_reader import DueReader
from aerobee.service.broker.timer.slot_walk import TimerDamaged
from aerobee.service.broker.timer.tick_scale import TickScale
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_log import TimerLog, UnitFields
from aerobee.storage.timer.timer_wheel import Slot, TimerWheel

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address
    from aerobee.protocol.primitives.java_hash import signed32, text_hash

_log = logging.getLogger(__name__)

ROLL_DOUBT_MS = 300_000
"""RocketMQ chooses the slot of a rolled message by its own clock, a little later: for those in the
last minutes before its read time it is not known whether they were rolled."""

_TOPIC = TIMER_TOPIC.encode()
_DOUBT_MS = ROLL_DOUBT_MS
_NEVER_MS = 1 << 62
_DELAYED_MS_MAX = 2**31 - 1


def is_compiled() -> bool:
    return cython.compiled


class Done(NamedTuple):
    """Messages before this queue offset whose tick is before `before_ms` were delivered."""

    queue_offset: int = 0
    before_ms: int = 0


class Enqueue:
    __slots__ = (
        "_done_before_ms",
        "_done_to",
        "_lowest_ms",
        "_reader",
        "_record",
        "_scale",
        "_store",
        "_text",
        "_timer_log",
        "_unit",
        "_wheel",
        "is_blocked",
        "offset",
    )

    def __init__(
        self,
        store: Store,
        reader: DueReader,
        wheel: TimerWheel,
        log: TimerLog,
        scale: TickScale,
    ) -> None:
        self._store = store
        self._reader = reader
        self._wheel = wheel
        self._timer_log = log
        self._scale = scale
        self._record = Record()
        self._text = WaitingProperties()
        self._unit = UnitFields()
        self._done_to = 0
        self._done_before_ms = 0
        # The queue offset of the first message that is not in log and wheel.
        self.offset = 0
        # The earliest tick that got a message since `take_lowest_ms`.
        self._lowest_ms = _NEVER_MS
        # The next message's slot in the wheel is taken by another time that is not delivered yet.
        self.is_blocked = False

    def start_at(self, offset: int, done: Done) -> None:
        self.offset = offset
        self._done_to = done.queue_offset
        self._done_before_ms = done.before_ms

    @property
    def is_rebuilding(self) -> bool:
        """Whether messages that were saved once are not in log and wheel again yet."""
        return self.offset < self._done_to

    def queue(self) -> ConsumeQueue | None:
        return self._store.queue(_TOPIC, 0)

    def take_lowest_ms(self) -> int:
        lowest_ms, self._lowest_ms = self._lowest_ms, _NEVER_MS
        return lowest_ms

    def run(self, read_ms: int, over_ms: int, count_max: int, bytes_max: int) -> int:
        """Process the next messages; returns their number. Slots from `read_ms` on may have
        messages to deliver, those before `over_ms` are due. OSError: the log has no room now.
        TimerDamaged: log and wheel contradict each other."""
        queue = self.queue()
        self.is_blocked = False
        if queue is None:
            return 0
        self._correct(queue)
        end = min(queue.max_offset, self.offset + count_max)
        if self.offset >= end:
            return 0
        found = self._reader.read(queue, self.offset, end, bytes_max)
        if found is None:
            return 0
        begun_at = self.offset
        for view in found.views:
            if not self._take_all(view, read_ms, over_ms):
                self.is_blocked = True
                return self.offset - begun_at
        self.offset = max(self.offset, found.next_offset)
        return self.offset - begun_at

    def _take_all(self, view: memoryview, read_ms: int, over_ms: int) -> bool:
        """Process complete records, one behind another; False: one has to wait."""
        record = self._record
        memory = address(view)
        position = 0
        end = len(view)
        while position < end:
            outcome = record.read(memory, position, end)
            assert outcome == 0, outcome
            self._text.read(memory, record.properties_start, record.properties_size)
            if not self._take(memory, read_ms, over_ms):
                return False
            self.offset = record.queue_offset + 1
            position += record.size
        return True

    def _take(self, memory: memoryview, read_ms: int, over_ms: int) -> bool:
        """Process the record just read; False: it has to wait for its slot."""
        record = self._record
        text = self._text
        if text.out_ms < 0 or text.topic_size == 0:
            _log.error(
                "a message of the timer says no time or no topic, and is passed over: "
                "queue offset %d",
                record.queue_offset,
            )
            return True
        written_ms = self._scale.floor(record.store_timestamp)
        slot_ms = self._scale.slot_ms(text.out_ms, written_ms)
        is_rolled = self._scale.is_beyond(text.out_ms, written_ms)
        if record.queue_offset < self._done_to:
            doubt_ms = _DOUBT_MS if is_rolled else 0
            if slot_ms < self._done_before_ms - doubt_ms:
                return True
        slot = self._wheel.at_place_of(slot_ms)
        while slot is not None and slot.time_ms != slot_ms:
            other_ms = slot.time_ms
            if other_ms < read_ms and other_ms < self._lowest_ms:
                slot = None  # delivered
            elif slot_ms > other_ms and other_ms < over_ms:
                return False
            else:
                # The clock was set back and forth: the messages there may wait for long.
                slot_ms += self._scale.precision_ms
                slot = self._wheel.at_place_of(slot_ms)
        magic = 3 if is_rolled else 1
        if text.delete_size > 0:
            magic |= 4
        if abs(slot_ms - written_ms) > _DELAYED_MS_MAX:
            written_ms = slot_ms  # the clock was set by weeks
        topic_hash = signed32(text_hash(memory, text.topic_start, text.topic_size, 0))
        self._add(slot_ms, slot, magic, written_ms, topic_hash)
        if slot_ms < self._lowest_ms:
            self._lowest_ms = slot_ms
        return True

    def _add(
        self, slot_ms: int, slot: Slot | None, magic: int, written_ms: int, topic_hash: int
    ) -> None:
        """Append a unit for the record just read to the chain of its slot."""
        log = self._timer_log
        record = self._record
        next_position = log.next_position()
        if slot is not None and slot.last >= next_position:
            if not log.look(next_position, self._unit) or (
                self._unit.log_offset != record.log_offset
            ):
                raise TimerDamaged(f"the timer log has another unit at {next_position}")
            log.pass_over()
            return
        position = log.append(
            -1 if slot is None else slot.last,
            magic,
            written_ms,
            slot_ms - written_ms,
            record.log_offset,
            record.size,
            topic_hash,
        )
        # A recall counts against the message that it recalls; a rolled one recalls none yet.
        weight = -1 if magic & 6 == 4 else 1
        if slot is None:
            self._wheel.put(Slot(slot_ms, position, position, weight))
        else:
            self._wheel.put(Slot(slot_ms, slot.first, position, slot.waiting + weight))

    def _correct(self, queue: ConsumeQueue) -> None:
        """Keep `offset` inside the queue."""
        if self.offset < queue.min_offset:
            if not self.is_rebuilding:
                _log.error(
                    "%d messages of the timer were removed before they were looked at",
                    queue.min_offset - self.offset,
                )
            self.offset = queue.min_offset
        elif self.offset > queue.max_offset:
            self.offset = queue.max_offset
