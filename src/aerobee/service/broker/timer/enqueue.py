"""From the timer's queue into log and wheel, message by message, in the order of the queue.

Where a message goes depends on its record alone. So after a stop the part of the queue that was not
yet saved is gone through once more, from the saved queue offset, with units written at the saved
end of the log: they come out as before. A slot that was saved a little later than the rest (its
chain ends at or behind the place of the next unit) has that unit already, where it stands.

When wheel and log are built again from the whole queue, what was delivered before must be told from
what waits: `Done` says it.

Called from the core's thread only.
"""

import logging
from typing import NamedTuple

from aerobee.model.names import TIMER_TOPIC
from aerobee.model.properties import (
    REAL_TOPIC,
    TIMER_DELETE_UNIQUE_KEY,
    TIMER_OUT_MS,
    find_property,
)
from aerobee.protocol.java_hash import tag_code
from aerobee.protocol.record import WHOLE, Record
from aerobee.service.broker.delay.schedule_reader import ScheduleReader
from aerobee.service.broker.timer.slot_walk import TimerDamaged
from aerobee.service.broker.timer.timer_scale import TimerScale
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_log import DEFAULT, DELETE, ROLL, TimerLog, TimerUnit
from aerobee.storage.timer.timer_wheel import Slot, TimerWheel

_log = logging.getLogger(__name__)

ROLL_DOUBT_MS = 300_000
"""RocketMQ chooses the slot of a message that it rolls by its own clock, a little later: of those
in the last minutes before its read time it is not known whether they were rolled."""

_TOPIC = TIMER_TOPIC.encode()
_OUT_MS = TIMER_OUT_MS.encode()
_REAL_TOPIC = REAL_TOPIC.encode()
_DELETE_KEY = TIMER_DELETE_UNIQUE_KEY.encode()
_TAKES_BACK = DELETE | ROLL  # when the first is there and the second is not
_DIGITS_MAX = 15
_TOPICS_MAX = 10_000
_NEVER_MS = 1 << 62
_DELAYED_MS_MAX = 2**31 - 1


class Done(NamedTuple):
    """What lies before this queue offset and belongs to a tick before this one was delivered."""

    queue_offset: int = 0
    before_ms: int = 0


class Enqueue:
    def __init__(
        self,
        store: Store,
        reader: ScheduleReader,
        wheel: TimerWheel,
        log: TimerLog,
        scale: TimerScale,
    ) -> None:
        self._store = store
        self._reader = reader
        self._wheel = wheel
        self._timer_log = log
        self._scale = scale
        self._record = Record()
        self._hashes: dict[bytes, int] = {}
        self._done = Done()
        # The first message that is not in log and wheel.
        self.offset = 0
        # The earliest tick that was given something since `take_lowest_ms`.
        self._lowest_ms = _NEVER_MS
        # The next message's place in the wheel belongs to another time that has yet to come.
        self.is_blocked = False

    def start_at(self, offset: int, done: Done) -> None:
        self.offset = offset
        self._done = done

    @property
    def is_rebuilding(self) -> bool:
        """Whether some of what was saved once is not in log and wheel again."""
        return self.offset < self._done.queue_offset

    def queue(self) -> ConsumeQueue | None:
        return self._store.queue(_TOPIC, 0)

    def take_lowest_ms(self) -> int:
        lowest_ms, self._lowest_ms = self._lowest_ms, _NEVER_MS
        return lowest_ms

    def run(self, read_ms: int, over_ms: int, count_max: int, bytes_max: int) -> int:
        """Take in what is next; how many messages. From `read_ms` on slots may have something to
        deliver, those before `over_ms` are due. OSError: the log has no room now. TimerDamaged:
        log and wheel do not fit together."""
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
        for view in found.records:
            outcome = self._record.read_from(view, 0)
            assert outcome == WHOLE, outcome
            if not self._take(view, read_ms, over_ms):
                self.is_blocked = True
                return self.offset - begun_at
            self.offset = self._record.queue_offset + 1
        self.offset = max(self.offset, found.next_offset)
        return self.offset - begun_at

    def _take(self, view: memoryview, read_ms: int, over_ms: int) -> bool:
        """One record; False: not yet."""
        record = self._record
        start = record.properties_start
        text = bytes(view[start : start + record.properties_size])
        out = find_property(text, _OUT_MS)
        topic = find_property(text, _REAL_TOPIC)
        if out is None or topic is None or not out.isdigit() or len(out) > _DIGITS_MAX:
            _log.error(
                "a message of the timer says no time or no topic, and is passed over: "
                "queue offset %d",
                record.queue_offset,
            )
            return True
        written_ms = self._scale.floor(record.store_timestamp)
        slot_ms, is_rolled = self._scale.place(int(out), written_ms)
        if record.queue_offset < self._done.queue_offset:
            doubt_ms = ROLL_DOUBT_MS if is_rolled else 0
            if slot_ms < self._done.before_ms - doubt_ms:
                return True
        slot = self._wheel.at_place_of(slot_ms)
        while slot is not None and slot.time_ms != slot_ms:
            other_ms = slot.time_ms
            if other_ms < min(read_ms, self._lowest_ms):
                slot = None  # done with
            elif slot_ms > other_ms < over_ms:
                return False
            else:
                # Somebody set the clock by turns, and what waits there may wait for long.
                slot_ms += self._scale.precision_ms
                slot = self._wheel.at_place_of(slot_ms)
        magic = DEFAULT | ROLL if is_rolled else DEFAULT
        if _DELETE_KEY in text and find_property(text, _DELETE_KEY) is not None:
            magic |= DELETE
        if abs(slot_ms - written_ms) > _DELAYED_MS_MAX:
            written_ms = slot_ms  # the clock was set by weeks
        unit = TimerUnit(
            slot.last if slot is not None else -1,
            magic,
            written_ms,
            slot_ms - written_ms,
            record.log_offset,
            record.size,
            self._hash_of(topic),
        )
        self._add(slot_ms, slot, unit)
        if slot_ms < self._lowest_ms:
            self._lowest_ms = slot_ms
        return True

    def _add(self, slot_ms: int, slot: Slot | None, unit: TimerUnit) -> None:
        """To the chain of a slot, or as the first of it."""
        wheel, log = self._wheel, self._timer_log
        weight = -1 if unit.magic & _TAKES_BACK == DELETE else 1
        if slot is None:
            position = log.append(unit)
            wheel.put(Slot(slot_ms, position, position, weight))
        elif slot.last < log.next_position():
            position = log.append(unit)
            wheel.put(Slot(slot_ms, slot.first, position, slot.waiting + weight))
        else:
            there = log.unit(log.next_position())
            if there is None or there.log_offset != unit.log_offset:
                raise TimerDamaged(f"the timer log has another unit at {log.next_position()}")
            log.pass_over()

    def _hash_of(self, topic: bytes) -> int:
        found = self._hashes.get(topic)
        if found is None:
            if len(self._hashes) >= _TOPICS_MAX:
                self._hashes.clear()
            found = self._hashes[topic] = tag_code(topic)
        return found

    def _correct(self, queue: ConsumeQueue) -> None:
        """Keep inside the queue."""
        if self.offset < queue.min_offset:
            if not self.is_rebuilding:
                _log.error(
                    "%d messages of the timer were removed before they were looked at",
                    queue.min_offset - self.offset,
                )
            self.offset = queue.min_offset
        elif self.offset > queue.max_offset:
            self.offset = queue.max_offset
