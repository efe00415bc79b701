import logging
from dataclasses import replace

import pytest

from aerobee.errors import DiskFull, MessageIllegal
from aerobee.ports.disk_worker import Lane
from aerobee.service.broker.timer.acceptance import TimerDisabled
from aerobee.service.broker.timer.timers import COUNT_A_TICK, LOOK_MS_MAX
from aerobee.storage.config import FlushMode
from tests.delay_kit import message
from tests.timer_kit import (
    LOG_PATH,
    PRECISION_MS,
    STORAGE,
    STORAGE_SYNC,
    TICK_MS,
    TIMER_TOPIC,
    TOLD,
    WHEEL_PATH,
    TimerKit,
    message_with,
)

ROOMY = replace(STORAGE, log_file_bytes=8 << 20, queue_file_units=50_000)


@pytest.mark.parametrize("mode", FlushMode)
@pytest.mark.parametrize("delay_ms", [1, 400, 1_000, 2_345, 19_000])
def test_a_message_comes_after_its_time_and_at_most_a_tick_late(
    mode: FlushMode, delay_ms: int
) -> None:
    kit = TimerKit(storage=replace(STORAGE, flush_mode=mode))
    kit.run(260)
    at_ms = kit.clock.now().wall_ms + delay_ms
    stored = kit.send(b"hi", delay_ms)
    assert (stored.topic, stored.out_ms % PRECISION_MS) == (TIMER_TOPIC, 0)
    kit.run(delay_ms + 2 * PRECISION_MS)
    (found,) = kit.messages()
    late_ms = found.store_timestamp - at_ms
    assert 0 <= late_ms <= PRECISION_MS + 2 * TICK_MS


def test_messages_come_by_their_times_and_of_one_tick_in_order() -> None:
    kit = TimerKit()
    at_ms = kit.clock.now().wall_ms
    for number in range(40):
        kit.send_at(b"%d" % number, at_ms + 9_500 - 1_000 * (number % 4))
        kit.tick(3)
    kit.run(12_000)
    numbers = [int(body) for body in kit.bodies()]
    assert numbers == [number for turn in (3, 2, 1, 0) for number in range(turn, 40, 4)]


def test_a_message_for_a_tick_that_is_almost_over_is_not_forgotten() -> None:
    kit = TimerKit(storage=STORAGE_SYNC)
    kit.run_to_tick(ahead_ms=1)
    kit.send(b"hi", 1)
    # It is seen only after the tick was over: the disk had to be waited for.
    kit.tick(5)
    kit.run(200)
    assert kit.bodies() == [b"hi"]


def test_a_tick_waits_for_what_was_stored_before_it_was_over() -> None:
    kit = TimerKit(storage=STORAGE_SYNC)
    kit.run_to_tick(ahead_ms=500)
    at_ms = kit.clock.now().wall_ms + 400
    kit.send_at(b"hi", at_ms)
    kit.run(300)
    kit.take_back(b"hi", at_ms)
    for _ in range(20):  # the disk does not sync what takes it back
        kit.tick()
    assert kit.clock.now().wall_ms > at_ms + 200
    assert kit.bodies() == []
    kit.run(2_000)
    assert kit.bodies() == []
    assert kit.timers.behind_ms(kit.clock.now()) == 0


def test_what_waits_for_longer_than_the_window_is_put_back_on_its_way() -> None:
    kit = TimerKit()
    at_ms = kit.clock.now().wall_ms + 75_300
    kit.send_at(b"far", at_ms)
    kit.run(75_000, 100)
    assert kit.bodies() == []
    copies = kit.messages(TIMER_TOPIC)
    assert [copy.properties.get("TIMER_ROLL_TIMES") for copy in copies] == [None, "1", "2", "3"]
    assert {copy.properties["TIMER_OUT_MS"] for copy in copies} == {
        str(at_ms - at_ms % PRECISION_MS)
    }
    kit.run(1_500, 100)
    (found,) = kit.messages()
    assert at_ms <= found.store_timestamp <= at_ms + 1_200


def test_what_is_far_away_can_be_taken_back() -> None:
    kit = TimerKit()
    at_ms = kit.clock.now().wall_ms + 65_300
    stored = kit.send_at(b"far", at_ms)
    kit.run(15_000, 100)
    kit.take_back(b"far", stored.out_ms + 1)
    kit.run(60_000, 100)
    assert kit.bodies() == []


# Refusals.


def test_a_time_too_far_ahead_is_refused() -> None:
    with pytest.raises(MessageIllegal):
        TimerKit().send(b"hi", 100_001)


def test_a_tick_is_full_at_the_configured_count() -> None:
    kit = TimerKit(told=replace(TOLD, timer_slot_count_max=3))
    at_ms = kit.clock.now().wall_ms + 5_000
    for _ in range(3):
        kit.send_at(b"hi", at_ms)
        kit.run(300)
    with pytest.raises(Exception, match="flow control"):
        kit.send_at(b"hi", at_ms)
    kit.send_at(b"hi", at_ms + 1_000)


def test_a_timer_that_is_off_delivers_nothing_until_it_is_on_again() -> None:
    kit = TimerKit()
    kit.send(b"hi", 2_000)
    kit.run(500)
    kit = kit.stopped(replace(TOLD, keeps_timers=False))
    assert not kit.timers.is_enabled
    with pytest.raises(TimerDisabled):
        kit.send(b"no", 2_000)
    kit.run(5_000)
    assert kit.bodies() == []
    kit = kit.stopped(TOLD)
    kit.run(100)
    assert kit.bodies() == [b"hi"]


def test_what_the_store_refuses_waits_and_is_delivered_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit = TimerKit()
    for number in range(5):
        kit.send(b"%d" % number, 2_000)
    kit.run(1_000)
    kit.run_to_tick()
    kit.run_to_tick()
    kit.store.step(kit.clock.now())
    kit.store.appender.refusal = DiskFull("no room today")
    with caplog.at_level(logging.WARNING):
        for _ in range(40):
            now = kit.clock.advance(TICK_MS)
            kit.timers.on_tick(now)
    assert caplog.text.count("no room today") == 1
    assert kit.bodies() == []
    assert kit.timers.behind_ms(kit.clock.now()) > 0
    kit.run(1_000)
    assert kit.bodies() == [b"%d" % number for number in range(5)]


def test_without_room_for_the_timer_log_messages_wait(caplog: pytest.LogCaptureFixture) -> None:
    kit = TimerKit()
    kit.send(b"hi", 2_000)
    kit.store.step(kit.clock.now())
    room, kit.disk.capacity_bytes = kit.disk.capacity_bytes, 0
    with caplog.at_level(logging.WARNING):
        for _ in range(10):
            kit.timers.on_tick(kit.clock.advance(TICK_MS))
    assert "no room for a file of the timer" in caplog.text
    kit.disk.capacity_bytes = room
    kit.run(4_000)
    assert kit.bodies() == [b"hi"]


# Stops.


@pytest.mark.parametrize("mode", FlushMode)
def test_nothing_is_delivered_twice_over_a_clean_stop(mode: FlushMode) -> None:
    kit = TimerKit(storage=replace(STORAGE, flush_mode=mode))
    for number in range(12):
        kit.send(b"%d" % number, 500 + 1_000 * number)
    for _ in range(8):
        kit.run(1_700)
        kit = kit.stopped()
    assert kit.bodies() == [b"%d" % number for number in range(12)]


def test_a_slot_half_delivered_is_gone_on_with_after_a_clean_stop() -> None:
    kit = TimerKit(storage=ROOMY)
    count = COUNT_A_TICK + 100
    for number in range(count):
        kit.send(b"%d" % number, 2_000)
    kit.run(1_900)
    kit.run_to_tick()
    kit.run_to_tick()
    assert kit.tick() > 0
    assert 0 < len(kit.bodies()) < count
    kit = kit.stopped()
    kit.run(200)
    assert kit.bodies() == [b"%d" % number for number in range(count)]


def test_what_became_due_while_nobody_ran_is_delivered_at_the_start() -> None:
    kit = TimerKit()
    for number in range(5):
        kit.send(b"%d" % number, 2_000 + 1_000 * number)
    kit.run(300)
    kit = kit.stopped()
    kit.clock.advance(10 * 86_400_000)  # many turns of the wheel
    kit.run(100)
    assert kit.bodies() == [b"%d" % number for number in range(5)]
    kit.send(b"new", 1_500)
    kit.run(3_000)
    assert kit.bodies()[5:] == [b"new"]


def test_a_killed_process_loses_nothing_and_repeats_at_most_what_it_had_not_saved() -> None:
    kit = TimerKit()
    for number in range(10):
        kit.send(b"%d" % number, 500 + 1_000 * number)
    for _ in range(4):
        kit.run(2_900)
        kit = kit.killed()
    kit.run(5_000)
    bodies = kit.bodies()
    assert set(bodies) == {b"%d" % number for number in range(10)}
    assert len(bodies) <= 10 + 4 * 3


def test_a_message_taken_back_stays_so_over_a_kill() -> None:
    kit = TimerKit()
    stored = kit.send(b"hi", 5_000)
    kit.run(2_500)
    kit.take_back(b"hi", stored.out_ms + 1)
    kit = kit.killed()
    kit.clock.advance(60_000)
    kit.run(1_000)
    assert kit.bodies() == []


def test_damage_found_on_the_way_has_wheel_and_log_built_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit = TimerKit()
    for number in range(8):
        kit.send(b"%d" % number, 2_500 + 1_000 * number)
    kit.run(4_600)
    assert kit.bodies() == [b"0", b"1"]
    for name in kit.disk.list_directory(LOG_PATH):
        view = kit.disk.open(f"{LOG_PATH}/{name}").view
        view[:] = bytes(len(view))
    with caplog.at_level(logging.ERROR):
        kit.run(8_000)
    assert "built again" in caplog.text
    assert kit.bodies() == [b"%d" % number for number in range(8)]
    kit = kit.stopped()
    kit.run(3_000)
    assert len(kit.bodies()) == 8


# The clock.


def test_a_clock_set_forward_makes_due_what_it_has_passed() -> None:
    kit = TimerKit()
    kit.send(b"soon", 10_000)
    kit.send(b"late", 60_000)
    kit.run(1_000)
    kit.clock.jump_wall(30_000)
    kit.run(100)
    assert kit.bodies() == [b"soon"]
    kit.run(28_500)
    assert kit.bodies() == [b"soon"]
    kit.run(2_000)
    assert kit.bodies() == [b"soon", b"late"]


@pytest.mark.parametrize("back_ms", [1_500, 30_000, 86_400_000 * 400])
def test_a_clock_set_back_makes_nothing_early_and_what_is_new_comes_by_the_new_time(
    back_ms: int,
) -> None:
    kit = TimerKit()
    kit.send(b"first", 1_500)
    kit.run(3_000)
    at_ms = kit.clock.now().wall_ms + 5_000
    kit.send_at(b"old", at_ms)
    kit.run(100)
    kit.clock.jump_wall(-back_ms)
    kit.send(b"new", 2_000)
    kit.run(1_900)
    assert kit.bodies() == [b"first"]
    kit.run(1_200)
    assert kit.bodies() == [b"first", b"new"], "and nothing again"
    kit.clock.jump_wall(back_ms)
    kit.run(5_000)
    assert kit.bodies() == [b"first", b"new", b"old"]


def test_a_clock_set_back_in_the_middle_of_a_slot_stops_it() -> None:
    kit = TimerKit(storage=ROOMY)
    count = COUNT_A_TICK + 100
    for number in range(count):
        kit.send(b"%d" % number, 2_000)
    kit.run(1_900)
    kit.run_to_tick()
    kit.run_to_tick()
    kit.tick()
    delivered = kit.timers.delivered
    assert 0 < delivered < count
    kit.clock.jump_wall(-10_000)
    kit.run(5_000)
    assert kit.timers.delivered == delivered
    kit.run(6_000)
    assert kit.bodies() == [b"%d" % number for number in range(count)]


def test_a_clock_that_was_years_ahead_leaves_nothing_behind() -> None:
    kit = TimerKit()
    kit.clock.jump_wall(20 * 365 * 86_400_000)
    kit.send(b"ahead", 2_000)
    kit.run(4_000)
    kit.clock.jump_wall(-20 * 365 * 86_400_000)
    kit.run(500)
    kit.send(b"now", 2_000)
    kit.run(4_000)
    assert kit.bodies() == [b"ahead", b"now"]


@pytest.mark.parametrize("name", ["TIMER_DELAY_MS", "TIMER_DELAY_SEC"])
def test_a_clock_set_forward_does_not_cut_a_delay_short(name: str) -> None:
    kit = TimerKit()
    delay = "15000" if name == "TIMER_DELAY_MS" else "15"
    kit.intake.put(message_with({name: delay}, b"delayed"), kit.clock.now())
    kit.run(2_000)
    kit.clock.jump_wall(60_000)
    kit.intake.put(message_with({name: delay}, b"after"), kit.clock.now())
    kit.run(12_900)
    assert kit.bodies() == []
    kit.run(1_400)
    assert kit.bodies() == [b"delayed"]
    kit.run(2_000)
    assert kit.bodies() == [b"delayed", b"after"]


def test_a_long_delay_is_not_cut_short_on_its_way() -> None:
    kit = TimerKit()
    kit.intake.put(message(b"far", TIMER_DELAY_MS="50000"), kit.clock.now())
    kit.run(5_000, 100)
    kit.clock.jump_wall(30_000)
    kit.run(44_800, 100)
    assert kit.bodies() == []
    kit.run(1_500, 100)
    assert kit.bodies() == [b"far"]


# Work.


def test_a_tick_does_a_bounded_amount_of_work() -> None:
    kit = TimerKit(storage=ROOMY)
    for number in range(2_000):
        kit.send(b"%d" % number, 2_000)
    before = kit.timers.saved
    kit.tick()
    assert kit.timers.rest_ms(kit.clock.now()) < 0, "there is more, and it should not wait"
    assert kit.timers.taken_in == COUNT_A_TICK
    assert kit.timers.saved == before
    kit.run(100)
    assert kit.timers.rest_ms(kit.clock.now()) >= 0


def test_an_idle_timer_rests_until_the_next_tick_or_look() -> None:
    kit = TimerKit()
    kit.run_to_tick(ahead_ms=600)
    kit.run(100)
    assert 0 < kit.timers.rest_ms(kit.clock.now()) <= LOOK_MS_MAX
    kit.run_to_tick(ahead_ms=40)
    kit.tick(0)
    assert kit.timers.rest_ms(kit.clock.now()) <= 40


def test_how_far_it_is_behind_is_told() -> None:
    kit = TimerKit()
    kit.send(b"hi", 2_000)
    kit.run(1_000)
    assert kit.timers.behind_ms(kit.clock.now()) == 0
    kit = kit.stopped()
    kit.clock.advance(60_000)
    assert 55_000 < kit.timers.behind_ms(kit.clock.now()) < 65_000
    kit.run(100)
    assert kit.timers.behind_ms(kit.clock.now()) == 0


def test_files_of_the_timer_log_go_with_the_records_they_point_at() -> None:
    storage = replace(
        STORAGE, log_file_bytes=4096, retention_ms=60_000, delete_interval_ms=1, hot_bytes=0
    )
    kit = TimerKit(storage=storage)
    for _ in range(60):
        for _ in range(10):
            kit.send(b"x" * 100, 2_000)
        kit.run(4_000, 200)
    kit.run(120_000, 500)
    names = kit.disk.list_directory(LOG_PATH)
    assert len(kit.bodies()) + kit.store.min_offset > 0
    assert len(names) < 60
    assert int(names[0]) > 0
    kit.worker.run_all([Lane.BACKGROUND])
    kit.send(b"last", 2_000)
    kit.run(4_000)
    assert kit.bodies()[-1] == b"last"
    assert WHEEL_PATH in kit.disk.files()
    kit = kit.stopped()
    kit.send(b"after", 2_000)
    kit.run(4_000)
    assert kit.bodies()[-1] == b"after"
