import logging

import pytest

from aerobee.errors import StoreBusy
from aerobee.ports.clock import Now
from aerobee.service.broker.timer.clock_shifts import ClockShifts
from aerobee.service.broker.timer.slot_delivery import SlotDelivery
from aerobee.service.broker.timer.slot_walk import SlotWalk, TimerDamaged
from aerobee.service.broker.timer.tick_scale import TickScale
from aerobee.service.broker.timer.timer_roll import TimerRoll
from aerobee.sim.disk import SimDisk
from aerobee.storage.timer.timer_log import DEFAULT, DELETE, ROLL, TimerLog
from aerobee.storage.timer.timer_wheel import Slot
from tests.timer_kit import TIMER_TOPIC, TimerKit, message_with

OUT_MS = 1_700_000_005_000
NOW = Now(1_700_000_006_789, 6_789)
EVERYTHING = 1 << 40


class Rig:
    """Messages in the timer's queue, units for them, and one slot."""

    def __init__(self) -> None:
        self.kit = TimerKit()
        self.log = TimerLog(SimDisk(), "timerlog", 10 * 52 + 20)
        intake = self.kit.intake
        self.shifts = ClockShifts(Now(OUT_MS, 0), 0)
        back = TimerRoll(intake, self.shifts, TickScale(1_000, 20_000))
        self.delivery = SlotDelivery(self.kit.store, self.log, intake.redelivery, back, self.shifts)
        self.last = -1
        self.positions: list[int] = []

    def add(self, body: bytes, magic: int = DEFAULT, **properties: str) -> int:
        """A message and its unit; its log offset."""
        said = {"UNIQ_KEY": body.decode(), "TIMER_OUT_MS": str(OUT_MS), **properties}
        said = {"REAL_TOPIC": "Orders", "REAL_QID": "0", **said}
        stored = self.kit.intake.put_as_is(message_with(said, body, TIMER_TOPIC), NOW)
        self.kit.store.dispatch()
        self.add_unit(stored.log_offset, stored.end_offset - stored.log_offset, magic)
        return stored.log_offset

    def add_unit(self, log_offset: int, size: int, magic: int = DEFAULT) -> None:
        self.last = self.log.append(self.last, magic, OUT_MS - 3_000, 3_000, log_offset, size, 0)
        self.positions.append(self.last)

    def walk(self) -> SlotWalk:
        walk = SlotWalk(self.log, Slot(OUT_MS, 0, self.last, 1))
        walk.step(1_000)
        assert walk.is_over
        return walk

    def deliver(
        self, walk: SlotWalk, count: int = 100, size: int = EVERYTHING, now: Now = NOW
    ) -> None:
        self.delivery.deliver(walk, min(count, walk.left), size, now)
        self.delivery.let_go()
        self.kit.store.dispatch()

    def bodies(self) -> list[bytes]:
        return self.kit.bodies()


def test_messages_are_delivered_in_order_with_the_times_of_the_timer() -> None:
    rig = Rig()
    for number in range(25):
        rig.add(b"%d" % number)
    walk = rig.walk()
    rig.deliver(walk, 10)
    assert walk.left == 15
    rig.deliver(walk)
    assert rig.bodies() == [b"%d" % number for number in range(25)]
    last = rig.kit.messages()[-1]
    assert last.properties["TIMER_ENQUEUE_MS"] == str(OUT_MS - 3_000)
    assert last.properties["TIMER_DEQUEUE_MS"] == str(NOW.wall_ms)
    assert rig.delivery.delivered == 25


def test_the_time_of_delivery_is_that_of_the_round() -> None:
    rig = Rig()
    rig.add(b"a")
    rig.add(b"b")
    walk = rig.walk()
    rig.deliver(walk, 1)
    rig.deliver(walk, now=Now(NOW.wall_ms + 5, 0))
    stamps = [int(one.properties["TIMER_DEQUEUE_MS"]) for one in rig.kit.messages()]
    assert stamps == [NOW.wall_ms, NOW.wall_ms + 5]


def test_many_bytes_end_a_round() -> None:
    rig = Rig()
    for number in range(5):
        rig.add(b"%d" % number)
    walk = rig.walk()
    rig.deliver(walk, size=500)
    assert 0 < walk.left < 4
    assert rig.delivery.bytes_done >= 500


def test_what_was_taken_back_is_passed_over_unless_it_is_rolled() -> None:
    rig = Rig()
    rig.add(b"a")
    rig.add(b"b")
    rig.add(b"a", DEFAULT | ROLL)
    rig.add(b"back", DEFAULT | DELETE, TIMER_DEL_UNIQKEY="Orders+a")
    walk = rig.walk()
    (position,) = walk.deletes
    rig.delivery.learn(position)
    assert rig.delivery.taken_back == {b"Orders+a"}
    rig.deliver(walk)
    assert rig.bodies() == [b"b"]
    assert rig.kit.bodies(TIMER_TOPIC)[-1] == b"a", "it waits on"
    rig.delivery.begin()
    assert rig.delivery.taken_back == set()


def test_a_delay_waits_on_after_the_clock_was_set_and_a_time_of_day_does_not() -> None:
    rig = Rig()
    rig.add(b"delay", TIMER_DELAY_MS="5")
    rig.add(b"time")
    rig.shifts.watch(Now(OUT_MS, 0), 2)
    rig.shifts.watch(Now(OUT_MS + 60_000, 0), 2)
    rig.deliver(rig.walk())
    assert rig.bodies() == [b"time"]
    assert rig.kit.bodies(TIMER_TOPIC)[-1] == b"delay"


def test_a_record_that_is_gone_is_counted_and_one_that_is_damaged_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()
    damaged = rig.add(b"a")
    rig.add(b"b")
    rig.add_unit(1 << 40, 100)
    rig.add_unit(damaged + 1, 100)  # no record begins there
    view = rig.kit.disk.open(f"{rig.kit.store.root}/commitlog/{0:020d}").view
    view[damaged + 88] ^= 1
    with caplog.at_level(logging.ERROR):
        rig.deliver(rig.walk())
    assert rig.bodies() == [b"b"]
    assert rig.delivery.gone == 2
    (said,) = caplog.messages
    assert f"log offset {damaged}" in said


def test_what_the_store_refuses_is_left_with_everything_behind_it() -> None:
    rig = Rig()
    for number in range(3):
        rig.add(b"%d" % number)
    walk = rig.walk()
    rig.deliver(walk, 1)
    rig.kit.store.appender.refusal = StoreBusy("not now")
    with pytest.raises(StoreBusy):
        rig.deliver(walk)
    assert walk.left == 2
    rig.kit.store.appender.refusal = None
    rig.deliver(walk)
    assert rig.bodies() == [b"0", b"1", b"2"]


def test_a_unit_that_is_gone_is_damage() -> None:
    rig = Rig()
    rig.add(b"a")
    walk = rig.walk()
    rig.log.reset()
    with pytest.raises(TimerDamaged):
        rig.deliver(walk)


def test_only_what_is_not_in_memory_is_asked_of_the_disk() -> None:
    rig = Rig()
    for number in range(3):
        rig.add(b"%d" % number)
    assert rig.delivery.cold_parts(rig.positions) == []
    assert rig.delivery.cold_parts([]) == []
    rig.kit.stop()
    again = Rig()
    again.kit = rig.kit.on(rig.kit.disk)  # another process: nothing is known to be in memory
    intake = again.kit.intake
    back = TimerRoll(intake, rig.shifts, TickScale(1_000, 20_000))
    delivery = SlotDelivery(again.kit.store, rig.log, intake.redelivery, back, rig.shifts)
    assert delivery.cold_parts(rig.positions) == []
    rig.kit.disk.faults.make_cold("*/commitlog/*")
    assert len(delivery.cold_parts(rig.positions)) == 3


def test_a_message_whose_topic_was_deleted_since_is_neither_stored_nor_does_it_wait_on() -> None:
    rig = Rig()
    for body, magic in ((b"due", DEFAULT), (b"rolled", DEFAULT | ROLL)):
        rig.add(body, magic, TIMER_OUT_MS=str(OUT_MS + 60_000))
    rig.add(b"other", REAL_TOPIC="Other")
    rig.kit.store.delete_topic(b"Orders")
    rig.kit.kit.settle()
    rig.add(b"new")
    queue = rig.kit.store.queue(TIMER_TOPIC.encode(), 0)
    assert queue is not None
    waiting = queue.next_offset
    walk = rig.walk()
    rig.deliver(walk)
    assert walk.left == 0
    assert (rig.bodies(), rig.kit.bodies("Other")) == ([b"new"], [b"other"])
    assert (queue.next_offset, rig.delivery.delivered) == (waiting, 2)
