import logging

import pytest

from aerobee.ports.disk_worker import Lane
from aerobee.storage.timer.timer_checkpoint import TimerCheck, decode_check
from tests.timer_kit import CHECK_PATH, STORAGE_SYNC, WHEEL_PATH, TimerKit


def saved(kit: TimerKit) -> TimerCheck:
    found = decode_check(kit.disk.files()[CHECK_PATH])
    assert found is not None
    return found[0]


def test_what_waits_is_saved_within_a_second_or_two() -> None:
    kit = TimerKit()
    kit.send(b"hi", 10_000)
    kit.run(3_000)
    check = saved(kit)
    assert (check.queue_offset, check.master_queue_offset, check.log_end) == (1, 1, 52)
    assert check.read_ms % 1_000 == 0
    assert (check.counter, kit.timers.saved) == (1, check)


def test_time_that_passes_without_timers_is_not_written_down() -> None:
    kit = TimerKit()
    kit.run(5_000)
    assert CHECK_PATH not in kit.disk.files()
    assert WHEEL_PATH not in kit.disk.files()
    kit.send(b"hi", 2_000)
    kit.run(6_000)
    counter = saved(kit).counter
    kit.run(10_000)
    assert saved(kit).counter == counter


def test_the_wheel_does_not_forget_a_delivery_before_it_is_on_the_disk() -> None:
    kit = TimerKit()
    kit.send(b"hi", 1_500)
    kit.run(1_200)
    for _ in range(100):  # everything but the log's own syncs
        kit.worker.run_all([Lane.BACKGROUND])
        kit.tick()
    assert kit.bodies() == [b"hi"]
    kit = kit.on(kit.disk.power_cut())
    kit.run(3_000)
    assert kit.bodies() == [b"hi"], "its copy was lost"


def test_the_checkpoint_does_not_run_ahead_of_the_wheel() -> None:
    kit = TimerKit()
    kit.send(b"hi", 30_000)
    order = []
    for _ in range(150):
        before = len(kit.disk.faults.calls)
        kit.worker.run_all()
        kit.tick()
        order += [
            call.path.rpartition("/")[2]
            for call in kit.disk.faults.calls[before:]
            if call.name in ("sync", "replace.rename") and "timer" in call.path
        ]
    assert order[:3] == ["0" * 20, "timerwheel", "timercheck"]


def test_a_failed_sync_ends_the_saving_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit = TimerKit()
    kit.disk.faults.fail_sync("*/timerlog/*")
    kit.send(b"hi", 5_000)
    with caplog.at_level(logging.ERROR):
        kit.run(8_000)
    assert "not saved any more" in caplog.text
    assert kit.bodies() == [b"hi"]
    assert CHECK_PATH not in kit.disk.files()
    assert sorted(set(kit.stopped().bodies())) == [b"hi"]


def test_without_room_saving_waits(caplog: pytest.LogCaptureFixture) -> None:
    kit = TimerKit()
    kit.send(b"hi", 30_000)
    kit.run(200)
    disk = kit.disk
    room, disk.capacity_bytes = disk.capacity_bytes, disk.used_bytes()
    kit.run(3_000)
    assert CHECK_PATH not in disk.files()
    assert 1 < caplog.text.count("cannot be saved now") < 5, "now and then, not in every tick"
    disk.capacity_bytes = room
    kit.run(3_000)
    assert saved(kit).queue_offset == 1


def test_a_stop_saves_everything_at_once() -> None:
    kit = TimerKit(storage=STORAGE_SYNC)
    kit.send(b"hi", 30_000)
    kit.run(100)
    assert CHECK_PATH not in kit.disk.files()
    kit.stop()
    assert saved(kit).queue_offset == 1
