import logging
from dataclasses import replace

import pytest

from aerobee.service.broker.timer.dequeue import BATCH, UNITS_A_STEP
from aerobee.service.broker.timer.timers import COUNT_A_TICK
from tests.timer_kit import STORAGE, TOLD, TimerKit, message_with

ROOMY = replace(STORAGE, log_file_bytes=8 << 20, queue_file_units=50_000)
FEW_FILES = replace(TOLD, timer_log_file_bytes=1 << 20)


def due(count: int) -> TimerKit:
    """So many messages, whose time has come, none delivered yet."""
    kit = TimerKit(storage=ROOMY, told=FEW_FILES)
    at_ms = kit.clock.now().wall_ms + 5_000
    for number in range(count):
        kit.send_at(b"%d" % number, at_ms)
    kit.run(4_900)
    kit.run_to_tick()
    return kit


def test_a_slot_of_more_than_a_tick_can_do_is_delivered_in_parts_and_in_order() -> None:
    count = 3 * COUNT_A_TICK + 17
    kit = due(count)
    parts = []
    while len(kit.bodies()) < count:
        parts.append(kit.tick())
        assert len(parts) < 20
    assert max(parts) <= COUNT_A_TICK
    assert kit.bodies() == [b"%d" % number for number in range(count)]
    kit.run(3_000)
    assert len(kit.bodies()) == count


def test_a_chain_longer_than_a_step_is_walked_in_steps() -> None:
    kit = due(UNITS_A_STEP + 100)
    assert 0 < kit.tick() < COUNT_A_TICK - (UNITS_A_STEP >> 4), "the walk counts, too"
    assert kit.tick() == COUNT_A_TICK


def test_records_that_are_not_in_memory_are_brought_there_by_the_disk() -> None:
    kit = due(2 * BATCH)
    kit = kit.stopped()  # what an earlier process wrote may not be in memory
    kit.disk.faults.make_cold("*/commitlog/*")
    kit.tick()
    assert kit.bodies() == []
    assert kit.worker.pending() > 0
    kit.run(500)
    assert len(kit.bodies()) == 2 * BATCH


def test_a_damaged_record_is_reported_and_does_not_hold_up_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit = due(3)
    (_, second, _) = kit.messages("rmq_sys_wheel_timer")
    view = kit.disk.open(f"{kit.store.root}/commitlog/{0:020d}").view
    view[second.log_offset + 88] ^= 1  # its body
    with caplog.at_level(logging.ERROR):
        kit.run(100)
    assert kit.bodies() == [b"0", b"2"]
    assert "passed over" in caplog.text


def test_what_does_not_say_where_it_belongs_is_reported_and_passed_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit = TimerKit()
    kit.send(b"lost", 3_000, "SCHEDULE_TOPIC_XXXX")
    kit.send(b"kept", 3_000)
    kit.run(5_000)
    assert kit.bodies() == [b"kept"]
    assert "cannot be delivered" in caplog.text


def test_a_message_that_is_taken_back_is_not_delivered_and_its_neighbours_are() -> None:
    kit = TimerKit()
    at_ms = kit.clock.now().wall_ms + 5_500
    for body in (b"a", b"b", b"c"):
        kit.send_at(body, at_ms)
    kit.take_back(b"b", at_ms)
    kit.take_back(b"c", at_ms + 3_000)  # another tick: not that one
    kit.run(10_000)
    assert kit.bodies() == [b"a", b"c"]


def test_messages_are_taken_back_by_more_than_one_batch_of_units() -> None:
    kit = TimerKit(storage=ROOMY, told=FEW_FILES)
    at_ms = kit.clock.now().wall_ms + 5_500
    count = BATCH + 50
    for number in range(count):
        kit.send_at(b"%d" % number, at_ms)
        kit.take_back(b"%d" % number, at_ms)
    kit.send_at(b"kept", at_ms)
    kit.run(8_000)
    assert kit.bodies() == [b"kept"]


def test_taking_back_before_the_message_comes_works_too() -> None:
    kit = TimerKit()
    at_ms = kit.clock.now().wall_ms + 5_500
    kit.take_back(b"a", at_ms)
    kit.send_at(b"a", at_ms)
    kit.send_at(b"a", at_ms, "Refunds")
    kit.run(8_000)
    assert kit.bodies() == []
    assert kit.bodies("Refunds") == [b"a"]


def test_what_comes_late_for_a_slot_that_is_being_delivered_is_delivered_too() -> None:
    count = COUNT_A_TICK + 50
    kit = due(count)
    out_ms = kit.messages("rmq_sys_wheel_timer")[0].properties["TIMER_OUT_MS"]
    kit.tick()
    assert 0 < len(kit.bodies()) < count
    late = {"TIMER_OUT_MS": out_ms, "REAL_TOPIC": "Orders", "REAL_QID": "0"}
    kit.intake.put_as_is(message_with(late, b"late", "rmq_sys_wheel_timer"), kit.clock.now())
    kit.run(200)
    assert kit.bodies() == [*(b"%d" % number for number in range(count)), b"late"]


def test_messages_that_the_log_has_no_more_are_counted_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = replace(FEW_FILES, timer_wheel_slots=400, timer_window_slots=200)
    short = replace(ROOMY, log_file_bytes=4096, retention_ms=1_000, delete_interval_ms=1)
    kit = TimerKit(storage=short, told=told)
    for number in range(5):
        kit.send(b"%d" % number, 99_000)
    for _ in range(40):
        kit.intake.put_as_is(message_with({}, b"x" * 300, "Other"), kit.clock.now())
        kit.run(2_000, 200)
    assert kit.store.min_offset > 2_000
    with caplog.at_level(logging.ERROR):
        kit.run(22_000, 200)
    assert kit.bodies() == []
    assert caplog.text.count("removed before they were delivered") == 1
    assert "5 messages" in caplog.text
