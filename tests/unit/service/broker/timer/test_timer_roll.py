from dataclasses import replace

from aerobee.model.message import StoredMessage
from aerobee.ports.clock import Now
from aerobee.protocol.message.stored_message import encode_record
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.timer.clock_shifts import ClockShifts
from aerobee.service.broker.timer.tick_scale import TickScale
from aerobee.service.broker.timer.timer_roll import TimerRoll, stamp
from tests.store_kit import SMALL, StoreKit, read_all
from tests.timer_kit import TIMER_TOPIC, message_with

BEGIN = Now(1_700_000_000_000, 0)
NOW = Now(1_700_000_009_123, 9_123)
ENQUEUE_MS = 1_700_000_000_000
WAITING = {
    "TAGS": "A",
    "UNIQ_KEY": "id",
    "TIMER_DELIVER_MS": "1700000008500",
    "TIMER_OUT_MS": "1700000008000",
    "REAL_TOPIC": "Orders",
    "REAL_QID": "3",
}


class Rig:
    def __init__(self) -> None:
        self.kit = StoreKit(config=replace(SMALL, log_file_bytes=1 << 17))
        self.shifts = ClockShifts(BEGIN, 0)
        intake = MessageWriter(self.kit.store, SafeAnswers(self.kit.store, lambda: 5_000), 18)
        self.putting_back = TimerRoll(intake, self.shifts, TickScale(1_000, 20_000))

    def take(self, waiting: StoredMessage, *, is_rolled: bool, now: Now = NOW) -> bool:
        record = memoryview(encode_record(waiting, with_crc=True))
        return self.putting_back.take(record, is_rolled, ENQUEUE_MS, now)

    def back(self) -> list[StoredMessage]:
        self.kit.store.dispatch()
        assert {queue.topic for queue in self.kit.store.queues()} <= {TIMER_TOPIC.encode()}
        return read_all(self.kit.store, TIMER_TOPIC.encode(), 0)


def waiting(**properties: str) -> StoredMessage:
    return message_with({**WAITING, **properties}, b"hi", TIMER_TOPIC)


def delayed() -> StoredMessage:
    return replace(waiting(TIMER_DELAY_MS="8500"), store_timestamp=BEGIN.wall_ms)


def test_a_rolled_message_goes_back_to_the_timer_and_is_counted() -> None:
    rig = Rig()
    assert rig.take(waiting(), is_rolled=True)
    (found,) = rig.back()
    assert found.properties == {
        **WAITING,
        "TIMER_ROLL_TIMES": "1",
        "TIMER_DEQUEUE_MS": "1700000009123",
        "TIMER_ENQUEUE_MS": "1700000000000",
    }
    assert rig.take(found, is_rolled=True)
    again = rig.back()[1]
    assert again.properties == {**found.properties, "TIMER_ROLL_TIMES": "2"}
    assert again.store_size == found.store_size, "nothing is there twice"


def test_what_is_due_is_left_alone() -> None:
    rig = Rig()
    assert not rig.take(waiting(), is_rolled=False)
    assert not rig.take(delayed(), is_rolled=False)
    assert rig.back() == []


def test_a_delay_that_a_clock_cut_short_waits_on() -> None:
    rig = Rig()
    rig.shifts.watch(Now(BEGIN.wall_ms + 5_000, 0), 1)  # set forward, with the message stored
    assert rig.take(delayed(), is_rolled=False)
    (found,) = rig.back()
    assert found.properties["TIMER_OUT_MS"] == "1700000013000"


def test_a_time_of_day_is_the_clocks_to_decide() -> None:
    rig = Rig()
    rig.shifts.watch(Now(BEGIN.wall_ms + 5_000, 0), 1)
    assert not rig.take(waiting(), is_rolled=False)


def test_a_delay_that_is_over_all_the_same_is_left_alone() -> None:
    rig = Rig()
    rig.shifts.watch(Now(BEGIN.wall_ms + 5_000, 0), 1)
    later = Now(BEGIN.wall_ms + 14_000, 9_000)
    assert not rig.take(delayed(), is_rolled=False, now=later)
    assert rig.take(delayed(), is_rolled=True, now=later), "it was not yet at its place"


def test_times_are_not_added_where_there_is_no_room() -> None:
    rig = Rig()
    assert rig.take(waiting(big="x" * 32_590), is_rolled=True)
    assert rig.take(waiting(big="x" * 32_000), is_rolled=True)
    full, roomy = rig.back()
    assert "TIMER_DEQUEUE_MS" not in full.properties
    assert "TIMER_DEQUEUE_MS" in roomy.properties


def test_a_stamp_is_two_properties() -> None:
    assert stamp(5, 7) == b"TIMER_DEQUEUE_MS\x017\x02TIMER_ENQUEUE_MS\x015\x02"
