import logging

import pytest

from aerobee.service.broker.log_access.due_reader import DueReader
from aerobee.service.broker.timer.enqueue import ROLL_DOUBT_MS, Done, Enqueue
from aerobee.service.broker.timer.slot_walk import TimerDamaged
from aerobee.service.broker.timer.tick_scale import TickScale
from aerobee.sim.disk import SimDisk
from aerobee.storage.timer.timer_log import TimerLog, TimerUnit
from aerobee.storage.timer.timer_wheel import Slot, TimerWheel
from tests.store_kit import SMALL, StoreKit, draft, properties

TOPIC = b"rmq_sys_wheel_timer"
SCALE = TickScale(1_000, 20_000)
NOW = 1_700_000_000_000
SLOTS = 64


class Rig:
    """The timer's queue, filled by hand."""

    def __init__(self) -> None:
        self.kit = StoreKit(config=SMALL)
        self.begin()

    def begin(self, done: Done | None = None) -> None:
        self.disk = SimDisk()
        self.wheel = TimerWheel(self.disk, "timerwheel", SLOTS, 1_000)
        self.log = TimerLog(self.disk, "timerlog", 5 * 52 + 20)
        reader = DueReader(self.kit.store, self.kit.worker)
        self.enqueue = Enqueue(self.kit.store, reader, self.wheel, self.log, SCALE)
        self.enqueue.start_at(0, done or Done())

    def put(self, out_ms: int, **more: str) -> int:
        text = properties(TIMER_OUT_MS=str(out_ms), REAL_TOPIC="Orders", REAL_QID="0", **more)
        return self.put_text(text)

    def put_text(self, text: bytes) -> int:
        log_offset = self.kit.append(draft(TOPIC, 0, b"hi", text))
        self.kit.store.dispatch()
        return log_offset

    def run(self, read_ms: int = NOW, count_max: int = 100) -> int:
        return self.enqueue.run(read_ms, NOW, count_max, 1 << 20)

    def chain(self, time_ms: int) -> list[TimerUnit]:
        """Of a slot, oldest first."""
        slot = self.wheel.find(time_ms)
        units: list[TimerUnit] = []
        position = slot.last if slot is not None else -1
        while position >= 0:
            unit = self.log.unit(position)
            assert unit is not None
            units.insert(0, unit)
            position = unit.previous
        return units


def test_a_message_gets_a_unit_in_the_slot_of_its_tick() -> None:
    rig = Rig()
    rig.kit.clock.advance(700)
    log_offset = rig.put(NOW + 5_000)
    assert rig.run() == 1
    assert rig.enqueue.offset == 1
    assert rig.wheel.find(NOW + 5_000) == Slot(NOW + 5_000, 0, 0, 1)
    (unit,) = rig.chain(NOW + 5_000)
    record = rig.kit.store.record_at(log_offset)
    assert record is not None
    topic_hash = -1_924_903_163  # "Orders".hashCode()
    assert unit == TimerUnit(-1, 1, NOW, 5_000, log_offset, len(record), topic_hash)
    assert rig.enqueue.take_lowest_ms() == NOW + 5_000
    assert rig.enqueue.take_lowest_ms() > NOW + 10**9


def test_messages_of_a_tick_are_chained_in_order_over_files() -> None:
    rig = Rig()
    offsets = [rig.put(NOW + 5_000 + 1_000 * (number % 2)) for number in range(20)]
    assert [rig.run(count_max=7) for _ in range(4)] == [7, 7, 6, 0]
    assert [unit.log_offset for unit in rig.chain(NOW + 5_000)] == offsets[::2]
    assert [unit.log_offset for unit in rig.chain(NOW + 6_000)] == offsets[1::2]
    slot = rig.wheel.find(NOW + 5_000)
    assert slot is not None
    assert slot.waiting == 10


def test_what_takes_back_and_what_is_rolled_is_marked() -> None:
    rig = Rig()
    rig.put(NOW + 5_000, TIMER_DEL_UNIQKEY="Orders+a")
    rig.put(NOW + 50_000)
    rig.put(NOW + 50_000, TIMER_DEL_UNIQKEY="Orders+a")
    rig.run()
    assert [unit.magic for unit in rig.chain(NOW + 5_000)] == [5]
    assert [unit.magic for unit in rig.chain(NOW + 20_000)] == [3, 7]
    slot = rig.wheel.find(NOW + 5_000)
    assert slot is not None
    assert slot.waiting == -1


@pytest.mark.parametrize(
    "text",
    [
        b"",
        properties(TIMER_OUT_MS="5"),
        properties(REAL_TOPIC="Orders"),
        properties(TIMER_OUT_MS="x", REAL_TOPIC="Orders"),
        properties(TIMER_OUT_MS="9" * 19, REAL_TOPIC="Orders"),
    ],
)
def test_what_says_no_time_or_topic_is_reported_and_passed_over(
    text: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig()
    rig.put_text(text)
    rig.put(NOW + 5_000)
    assert rig.run() == 2
    assert "passed over" in caplog.text
    assert rig.log.end == 52


def test_gone_through_again_units_come_out_as_before() -> None:
    first, second = Rig(), Rig()
    for rig in (first, second):
        for number in range(12):
            rig.put(NOW + 1_000 * (number % 5) + 3_000)
        rig.run(count_max=6)
    end = second.log.end
    second.run()
    # What was saved: log and queue offset of before, of the wheel some slots of after.
    later = [second.wheel.find(NOW + 1_000 * ahead) for ahead in (4, 6)]
    for slot in later:
        assert slot is not None
        first.wheel.put(slot)
    for position in range(end, second.log.end, 4):
        unit = second.log.unit(position)
        if unit is not None:
            first.log.append(*unit)
    first.log.end = end
    first.run()
    assert first.log.end == second.log.end
    for ahead in range(3, 8):
        time_ms = NOW + 1_000 * ahead
        assert first.wheel.find(time_ms) == second.wheel.find(time_ms)
        assert first.chain(time_ms) == second.chain(time_ms)


def test_a_slot_from_the_future_without_its_unit_is_damage() -> None:
    rig = Rig()
    rig.put(NOW + 5_000)
    rig.wheel.put(Slot(NOW + 5_000, 0, 520, 11))
    with pytest.raises(TimerDamaged):
        rig.run()
    assert rig.enqueue.offset == 0


def test_building_again_leaves_out_what_was_delivered() -> None:
    rig = Rig()
    rig.put(NOW + 2_000)
    rig.put(NOW + 8_000)
    rig.put(NOW + 3_000)  # not looked at before the stop
    rig.begin(Done(2, NOW + 5_000))
    assert rig.enqueue.is_rebuilding
    rig.run()
    assert not rig.enqueue.is_rebuilding
    assert [len(rig.chain(NOW + 1_000 * ahead)) for ahead in (2, 8, 3)] == [0, 1, 1]


def test_building_again_keeps_rolled_messages_that_may_not_have_been() -> None:
    rig = Rig()
    rig.put(NOW + 50_000)  # rolled at NOW + 20,000, or a little later
    rig.begin(Done(1, NOW + 20_000 + ROLL_DOUBT_MS))
    rig.run()
    assert len(rig.chain(NOW + 20_000)) == 1
    rig.begin(Done(1, NOW + 20_001 + ROLL_DOUBT_MS))
    rig.run()
    assert len(rig.chain(NOW + 20_000)) == 0


def test_a_place_that_an_older_time_still_has_is_waited_for() -> None:
    rig = Rig()
    turn_ms = 1_000 * SLOTS
    old_ms = NOW + 5_000 - turn_ms
    rig.wheel.put(Slot(old_ms, 0, 0, 1))
    rig.put(NOW + 5_000)
    assert rig.run(read_ms=old_ms) == 0
    assert rig.enqueue.is_blocked
    rig.wheel.clear(old_ms)
    assert rig.run(read_ms=old_ms) == 1
    assert not rig.enqueue.is_blocked


def test_a_place_that_was_given_out_a_moment_ago_is_not_given_out_again() -> None:
    rig = Rig()
    rig.put(NOW + 5_000 - 1_000 * SLOTS)
    rig.put(NOW + 5_000)
    assert rig.run() == 1
    assert rig.enqueue.is_blocked


@pytest.mark.parametrize("turns", [1, 7])
def test_a_place_that_a_later_time_has_is_left_to_it(turns: int) -> None:
    rig = Rig()
    rig.wheel.put(Slot(NOW + 5_000 + 1_000 * SLOTS * turns, 0, 0, 1))
    rig.put(NOW + 5_000)
    assert rig.run() == 1
    assert [unit.time_ms for unit in rig.chain(NOW + 6_000)] == [NOW + 6_000]


def test_a_time_weeks_from_the_store_time_fits_into_a_unit() -> None:
    rig = Rig()
    rig.put(NOW - 40 * 86_400_000)
    rig.run()
    (unit,) = rig.chain(NOW - 40 * 86_400_000)
    assert unit.delayed_ms == 0


def test_without_room_the_message_waits_and_is_taken_in_later() -> None:
    rig = Rig()
    rig.put(NOW + 5_000)
    rig.disk.capacity_bytes = 0
    with pytest.raises(OSError, match="full"):
        rig.run()
    rig.disk.capacity_bytes = 1 << 20
    assert rig.run() == 1


def test_a_queue_that_lost_its_beginning_is_gone_on_with(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()
    *_, third = (rig.put(NOW + 5_000) for _ in range(3))
    queue = rig.enqueue.queue()
    assert queue is not None
    queue.drop_below(third)
    with caplog.at_level(logging.ERROR):
        assert rig.run() == 1
    assert "2 messages of the timer were removed" in caplog.text
    rig.enqueue.start_at(99, Done())
    assert rig.run() == 0
    assert rig.enqueue.offset == 3
