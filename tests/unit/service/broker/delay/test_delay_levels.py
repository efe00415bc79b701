import logging
from dataclasses import replace

import pytest

from aerobee.errors import DiskFull
from aerobee.ports.disk_worker import Lane
from aerobee.service.broker.delay.delay_levels import (
    BYTES_A_TICK,
    COUNT_A_TICK,
    LOOK_MS_MAX,
    SAVE_INTERVAL_MS,
)
from aerobee.storage.config import FlushMode
from aerobee.storage.index.consume_queue import FILLER_SIZE
from tests.delay_kit import CONFIG, CONFIG_SYNC, LEVELS_MS, OFFSETS_PATH, TICK_MS, DelayKit, message
from tests.store_kit import draft, properties

BIG = replace(CONFIG, log_file_bytes=8 << 20, queue_file_units=2000)


def saved_offsets(kit: DelayKit) -> dict[int, int]:
    return dict(DelayKit(kit.disk.kill(), kit.config, kit.clock).offsets.saved)


@pytest.mark.parametrize("mode", FlushMode)
def test_a_message_is_delivered_at_the_first_tick_after_its_delay(mode: FlushMode) -> None:
    kit = DelayKit(config=replace(CONFIG, flush_mode=mode))
    kit.send(b"hi", 1)
    sent_ms = kit.clock.now().wall_ms
    kit.run(LEVELS_MS[0] - TICK_MS)
    assert kit.bodies() == []
    kit.run(4 * TICK_MS)  # the copy has to reach the disk before it is seen
    (found,) = kit.messages()
    assert found.body == b"hi"
    assert found.properties == {"DELAY": "1", "REAL_TOPIC": "Orders", "REAL_QID": "0"}
    assert sent_ms + LEVELS_MS[0] <= found.store_timestamp <= sent_ms + LEVELS_MS[0] + 2 * TICK_MS


def test_levels_do_not_wait_for_each_other() -> None:
    kit = DelayKit()
    kit.send(b"slow", 2)
    kit.send(b"quick", 1)
    kit.run(LEVELS_MS[1] + 10)
    assert kit.bodies() == [b"quick", b"slow"]


def test_a_level_above_the_last_is_the_last() -> None:
    kit = DelayKit()
    kit.send(b"hi", 99)
    assert kit.levels.progress() == {3: (0, 0)}
    kit.run(10)
    assert kit.levels.progress() == {3: (0, 1)}


def test_order_within_a_level_is_kept() -> None:
    kit = DelayKit()
    for number in range(50):
        kit.send(b"%d" % number, 1)
        kit.tick(3)
    kit.run(1200)
    assert kit.bodies() == [b"%d" % number for number in range(50)]


# Stops.


def test_nothing_is_delivered_twice_over_a_clean_stop() -> None:
    kit = DelayKit()
    kit.send(b"first", 1)
    kit.send(b"second", 2)
    kit.run(1100)
    kit = kit.stopped()
    kit.run(5000)
    assert kit.bodies() == [b"first", b"second"]
    assert kit.stopped().levels.progress() == {1: (1, 1), 2: (1, 1)}


def test_what_became_due_while_nobody_ran_is_delivered_at_the_start() -> None:
    kit = DelayKit()
    kit.send(b"hi", 1)
    kit.run(10)
    kit.levels.stop(kit.clock.now())
    kit.store.close()
    kit.clock.advance(LEVELS_MS[0])
    kit = DelayKit(kit.disk, kit.config, kit.clock)
    kit.tick()
    assert kit.bodies() == [b"hi"]


def test_after_a_stop_is_begun_nothing_is_delivered() -> None:
    kit = DelayKit()
    kit.send(b"hi", 1)
    kit.run(10)
    kit.levels.stop(kit.clock.now())
    kit.run(1100)
    assert kit.bodies() == []


def test_a_kill_delivers_again_at_most_what_was_delivered_since_the_last_save() -> None:
    kit = DelayKit()
    kit.send(b"old", 1)
    kit.run(1_000 + 2 * SAVE_INTERVAL_MS)
    kit.send(b"new", 1)
    kit.run(1_100)
    kit = kit.killed()
    kit.run(100)
    assert kit.bodies() == [b"old", b"new", b"new"] or kit.bodies() == [b"old", b"new"]
    assert kit.bodies().count(b"old") == 1


def test_an_offset_is_not_saved_before_its_delivery_is_on_the_disk() -> None:
    kit = DelayKit(config=replace(CONFIG, flush_interval_ms=60_000, flush_lag_ms_max=90_000))
    kit.send(b"hi", 1)
    kit.store.sync()
    for _ in range(0, 2 * SAVE_INTERVAL_MS, TICK_MS):
        kit.tick()
        kit.worker.run_all()
    assert kit.bodies() == [b"hi"]
    assert kit.store.flushed_offset < kit.store.end_offset
    assert saved_offsets(kit).get(1, 0) == 0
    kit.store.sync()
    kit.run(2 * SAVE_INTERVAL_MS)
    assert saved_offsets(kit) == {1: 1}


def test_a_power_cut_takes_a_delivery_back_and_it_is_made_again() -> None:
    kit = DelayKit(config=replace(CONFIG, flush_interval_ms=60_000, flush_lag_ms_max=90_000))
    kit.send(b"hi", 1)
    kit.store.sync()
    for _ in range(0, 2 * SAVE_INTERVAL_MS, TICK_MS):
        kit.tick()
        kit.worker.run_all([Lane.BACKGROUND])
    assert kit.bodies() == [b"hi"]
    kit = DelayKit(kit.disk.power_cut(), kit.config, kit.clock)
    assert kit.bodies() == []
    kit.run(LEVELS_MS[0])
    assert kit.bodies() == [b"hi"]


def test_offsets_are_saved_every_few_seconds_and_only_if_they_changed() -> None:
    kit = DelayKit()
    kit.send(b"hi", 1)
    kit.run(1_000 + 3 * SAVE_INTERVAL_MS)
    assert saved_offsets(kit) == {1: 1}
    content = kit.disk.read(OFFSETS_PATH)
    kit.run(3 * SAVE_INTERVAL_MS)
    assert kit.disk.read(OFFSETS_PATH) == content


def test_a_stop_on_a_disk_that_failed_saves_what_is_safe() -> None:
    kit = DelayKit(config=CONFIG_SYNC)
    kit.send(b"safe", 1)
    kit.send(b"lost", 1)
    kit.run(980)
    kit.disk.faults.fail_sync("*commitlog*")
    kit.run(200)
    assert kit.store.failure is not None
    kit.levels.stop(kit.clock.now())
    assert kit.offsets.saved.get(1, 0) == 0


# Offsets that cannot be right.


def with_offsets(text: str) -> DelayKit:
    """One message that waits, and a file that says this."""
    kit = DelayKit()
    kit.send(b"hi", 1)
    kit.run(10)
    kit.levels.stop(kit.clock.now())
    kit.store.close()
    kit.disk.replace(OFFSETS_PATH, b'{"offsetTable":{%s}}' % text.encode())
    return DelayKit(kit.disk, kit.config, kit.clock)


def test_an_offset_beyond_the_queue_becomes_its_end() -> None:
    kit = with_offsets("1:5,2:7")
    assert kit.levels.progress() == {1: (1, 1)}
    kit.send(b"next", 1)
    kit.send(b"other", 2)
    kit.run(5_100)
    assert kit.bodies() == [b"next", b"other"]


def test_an_offset_below_the_queue_becomes_its_beginning_and_that_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit = with_offsets("1:0")
    queue = kit.store.queue(b"SCHEDULE_TOPIC_XXXX", 0)
    assert queue is not None
    kit.send(b"next", 1)
    kit.run(10)
    queue.hide_before(1)
    with caplog.at_level(logging.ERROR):
        kit.run(1_100)
    assert kit.bodies() == [b"next"]
    assert "1 messages of delay level 1 were removed" in caplog.text


def test_levels_that_are_no_longer_configured_are_delivered_all_the_same() -> None:
    kit = DelayKit()
    kit.send(b"hi", 3)
    kit.run(10)
    kit.levels.stop(kit.clock.now())
    kit.store.close()
    fewer = replace(CONFIG, delay_levels_ms=LEVELS_MS[:2])
    kit = DelayKit(kit.disk, fewer, kit.clock)
    kit.run(LEVELS_MS[1] + 100)
    assert kit.bodies() == [b"hi"]


# What cannot be delivered.


def test_a_message_that_says_no_place_is_passed_over_and_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit = DelayKit()
    kit.kit.append(draft(b"SCHEDULE_TOPIC_XXXX", 0, b"lost", properties(DELAY="1")))
    kit.send(b"next", 1)
    with caplog.at_level(logging.ERROR):
        kit.run(1_100)
    assert kit.bodies() == [b"next"]
    assert "level 1, queue offset 0" in caplog.text
    assert kit.stopped().levels.progress() == {1: (2, 2)}


def test_what_the_store_refuses_waits_and_is_delivered_in_order_later() -> None:
    kit = DelayKit()
    for number in range(3):
        kit.send(b"%d" % number, 1)
    kit.run(990)
    for _ in range(100):
        kit.clock.advance(TICK_MS)
        kit.store.step(kit.clock.now())
        kit.store.appender.refusal = DiskFull("no room")
        kit.levels.on_tick(kit.clock.now())
    assert kit.levels.delivered == 0
    kit.run(200)
    assert kit.bodies() == [b"0", b"1", b"2"]


def test_what_cannot_be_read_because_the_disk_failed_is_not_passed_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit = DelayKit()
    damaged = kit.send(b"damaged", 1)
    kit = kit.stopped()
    file = kit.store._parts.log.sequence.find(damaged.log_offset)
    assert file is not None
    file.view[damaged.log_offset + 60] ^= 1
    kit.send(b"not on the disk", 1)
    kit.disk.faults.fail_sync("*commitlog*")
    with caplog.at_level(logging.ERROR):
        kit.run(2_000)
    assert kit.store.failure is not None
    assert kit.levels.progress() == {1: (0, 2)}
    assert "lost" not in caplog.text


def test_behind_a_gap_nothing_is_delivered_before_its_time() -> None:
    kit = DelayKit()
    kit.send(b"gone", 1)
    kit.send(b"due", 1)
    kit.run(500)
    kit.send(b"not due", 1)
    queue = kit.store.queue(b"SCHEDULE_TOPIC_XXXX", 0)
    assert queue is not None
    file = queue.find(0)
    assert file is not None
    file.view[0:20] = bytes(8) + FILLER_SIZE.to_bytes(4, "big") + bytes(8)
    kit.run(300)
    assert kit.levels.progress() == {1: (1, 3)}
    assert kit.bodies() == []
    kit.run(300)
    assert kit.bodies() == [b"due"]
    kit.run(500)
    assert kit.bodies() == [b"due", b"not due"]


def test_a_disk_that_failed_ends_delivery_and_skips_nothing() -> None:
    kit = DelayKit(config=CONFIG_SYNC)
    kit.send(b"hi", 1)
    kit.run(980)
    kit.kit.append(draft(b"Orders", 1))
    kit.disk.faults.fail_sync("*commitlog*")
    kit.run(500)
    assert kit.store.failure is not None
    assert kit.levels.progress() == {1: (0, 1)}


# Work.


def test_a_tick_delivers_a_bounded_number_of_messages() -> None:
    kit = DelayKit(config=BIG)
    for number in range(COUNT_A_TICK + 10):
        kit.send(b"%d" % number, 1)
    kit.run(990)
    assert kit.tick(50) == COUNT_A_TICK
    assert kit.levels.rest_ms(kit.clock.now()) < 0, "there is more, and it should not wait"
    assert kit.tick() == 10
    assert kit.levels.rest_ms(kit.clock.now()) >= 0


def test_a_tick_delivers_a_bounded_number_of_bytes() -> None:
    kit = DelayKit(config=BIG)
    for _ in range(5):
        kit.send(bytes(BYTES_A_TICK // 2), 1)
    kit.run(990)
    assert kit.tick(50) <= 2
    kit.run(100)
    assert len(kit.bodies()) == 5


def test_a_level_with_much_to_do_does_not_hold_up_the_next() -> None:
    kit = DelayKit(config=BIG)
    kit.send(b"slow", 2)
    kit.run(LEVELS_MS[1] - LEVELS_MS[0])
    for number in range(3 * COUNT_A_TICK):
        kit.send(b"%d" % number, 1, "Flood")
    kit.run(LEVELS_MS[0] - 10)
    kit.tick(50)
    kit.tick()
    assert kit.bodies() == [b"slow"]
    assert len(kit.bodies("Flood")) < 3 * COUNT_A_TICK


def test_when_nothing_is_due_it_rests_until_something_is() -> None:
    kit = DelayKit()
    kit.run(10)
    assert kit.levels.rest_ms(kit.clock.now()) > LOOK_MS_MAX - 20
    kit.send(b"hi", 1)
    kit.run(LEVELS_MS[0] - 20)
    rest_ms = kit.levels.rest_ms(kit.clock.now())
    assert 0 < rest_ms <= 20
    kit.tick(rest_ms + 10)
    assert kit.bodies() == [b"hi"]


def test_a_short_level_is_delivered_in_time_too() -> None:
    kit = DelayKit(config=replace(CONFIG, delay_levels_ms=(60,)))
    kit.run(10)
    kit.send(b"hi", 1)
    kit.run(60 + 2 * TICK_MS)
    assert kit.bodies() == [b"hi"]


def test_messages_that_wait_are_not_looked_at() -> None:
    kit = DelayKit(config=BIG)
    for number in range(500):
        kit.send(b"%d" % number, 2)
    kit.run(100)
    calls = len(kit.disk.faults.calls)
    for _ in range(100):
        kit.levels.on_tick(kit.clock.advance(5))
    assert len(kit.disk.faults.calls) == calls
    assert kit.levels.delivered == 0


def test_a_message_that_is_no_longer_in_memory_is_fetched_first() -> None:
    kit = DelayKit()
    kit.send(b"hi", 1)
    kit = kit.stopped()
    kit.disk.faults.make_cold("*commitlog*")
    for _ in range(0, 1100, TICK_MS):
        kit.tick()
    assert kit.bodies() == []
    kit.worker.run_all()
    kit.tick()
    kit.tick()
    assert kit.levels.delivered == 1


# The clock.


@pytest.mark.parametrize("step_ms", [3_600_000, 5_000, -3_600_000, -500])
@pytest.mark.parametrize("mode", FlushMode)
def test_a_clock_that_is_set_makes_nothing_early_and_nothing_late(
    step_ms: int, mode: FlushMode
) -> None:
    kit = DelayKit(config=replace(CONFIG, flush_mode=mode))
    kit.send(b"before", 2)
    kit.run(1_000)
    kit.clock.jump_wall(step_ms)
    kit.send(b"between", 2)
    kit.run(1_000)
    kit.send(b"after", 2)
    kit.run(LEVELS_MS[1] - 2_000 - 10)
    assert kit.bodies() == []
    kit.run(10 + 300)
    assert kit.bodies() == [b"before"]
    kit.run(1_000 - 320)
    assert kit.bodies() == [b"before"]
    kit.run(320 + 300)
    assert kit.bodies() == [b"before", b"between"]
    kit.run(1_000 - 620)
    assert kit.bodies() == [b"before", b"between"]
    kit.run(620)
    assert kit.bodies() == [b"before", b"between", b"after"]


def test_a_message_that_is_on_its_way_to_the_disk_when_the_clock_is_set_is_not_early() -> None:
    kit = DelayKit(config=CONFIG_SYNC)
    kit.send(b"hi", 2)
    kit.clock.jump_wall(3_600_000)
    kit.run(LEVELS_MS[1] - 10)
    assert kit.bodies() == []
    kit.run(500)
    assert kit.bodies() == [b"hi"]


def test_two_readings_that_differ_a_little_are_no_set_clock() -> None:
    kit = DelayKit()
    kit.send(b"hi", 2)
    for _ in range(0, LEVELS_MS[1], 10):
        kit.clock.jump_wall(2)
        kit.run(5)
        kit.clock.jump_wall(-2)
        kit.run(5)
    kit.run(5)
    assert kit.bodies() == [b"hi"]


def test_a_message_put_as_it_is_into_its_topic_is_not_delayed_again() -> None:
    kit = DelayKit()
    kit.intake.put(message(b"hi", DELAY="1"), kit.clock.now())
    kit.run(3_000)
    assert kit.bodies() == [b"hi"]
    assert kit.levels.progress() == {1: (1, 1)}


def test_a_message_for_a_topic_that_is_deleted_does_not_come_to_the_next_of_its_name() -> None:
    kit = DelayKit()
    kit.send(b"old", 1)
    kit.send(b"other", 1, topic="Other")
    kit.store.delete_topic(b"Orders")
    kit.kit.settle()
    kit.send(b"new", 1)
    kit.run(3000)
    assert (kit.bodies(), kit.bodies("Other")) == ([b"new"], [b"other"])
    assert [message.queue_offset for message in kit.messages()] == [0]
