import logging
from dataclasses import replace

import pytest

from aerobee.service.broker.timer.enqueue import Done
from aerobee.service.broker.timer.timer_files import open_timer_files
from aerobee.storage.timer.timer_checkpoint import Seal, copied_check, decode_check, encode_check
from tests.timer_kit import CHECK_PATH, LOG_PATH, TOLD, WHEEL_PATH, WINDOW_MS, TimerKit

LAYOUT = Seal(1_000, WINDOW_MS, 64)
FILE_BYTES = TOLD.timer_log_file_bytes


def stopped_with(count: int) -> TimerKit:
    """A timer with messages that wait, stopped."""
    kit = TimerKit()
    for number in range(count):
        kit.send(b"%d" % number, 5_000 + 1_000 * number)
    kit.run(1_500)
    return kit.stopped()


def opened(kit: TimerKit, layout: Seal = LAYOUT) -> tuple[int, Done, bool]:
    """Where it would go on, what counts as done, and whether the wheel was believed."""
    files = open_timer_files(kit.store, kit.disk, layout, FILE_BYTES)
    return files.queue_offset, files.done, files.read_ms is not None


def test_what_was_saved_is_gone_on_with() -> None:
    kit = stopped_with(3)
    assert opened(kit) == (3, Done(), True)


def test_a_new_store_begins_with_nothing() -> None:
    assert opened(TimerKit()) == (0, Done(), False)


@pytest.mark.parametrize(
    "layout",
    [
        Seal(2_000, WINDOW_MS, 64),
        Seal(1_000, WINDOW_MS + 1_000, 64),
        Seal(1_000, WINDOW_MS, 128),
    ],
)
def test_files_of_another_layout_are_built_again(layout: Seal) -> None:
    kit = stopped_with(3)
    offset, done, is_believed = opened(kit, layout)
    assert (offset, done.queue_offset, is_believed) == (0, 3, False)
    assert WHEEL_PATH not in kit.disk.files()
    found = decode_check(kit.disk.files()[CHECK_PATH])
    assert found is not None
    assert found[1] is None, "half of them must not be believed"


def remove_wheel(kit: TimerKit) -> None:
    kit.disk.remove(WHEEL_PATH)


def cut_wheel(kit: TimerKit) -> None:
    kit.disk.replace(WHEEL_PATH, bytes(100))


def remove_log(kit: TimerKit) -> None:
    for name in kit.disk.list_directory(LOG_PATH):
        kit.disk.remove(f"{LOG_PATH}/{name}")


def remove_check(kit: TimerKit) -> None:
    kit.disk.remove(CHECK_PATH)


def empty_check(kit: TimerKit) -> None:
    kit.disk.replace(CHECK_PATH, b"?")


def unseal(kit: TimerKit) -> None:
    found = decode_check(kit.disk.files()[CHECK_PATH])
    assert found is not None
    kit.disk.replace(CHECK_PATH, encode_check(found[0], None))


def run_ahead(kit: TimerKit) -> None:
    found = decode_check(kit.disk.files()[CHECK_PATH])
    assert found is not None
    check = found[0]._replace(queue_offset=1_000)
    kit.disk.replace(CHECK_PATH, encode_check(check, LAYOUT))


DAMAGES = (remove_wheel, cut_wheel, remove_log, remove_check, empty_check, unseal, run_ahead)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_whatever_is_missing_everything_is_delivered_and_in_time(
    damage: object, caplog: pytest.LogCaptureFixture
) -> None:
    assert callable(damage)
    kit = TimerKit()
    at_ms = kit.clock.now().wall_ms
    for number in range(8):
        kit.send_at(b"%d" % number, at_ms + 2_500 + 1_000 * number)
    kit.run(4_600)
    assert kit.bodies() == [b"0", b"1"]
    kit.stop()
    damage(kit)
    with caplog.at_level(logging.WARNING):
        kit = TimerKit(kit.disk, kit.store.config, kit.told, kit.clock)
    assert "built again" in caplog.text
    kit.run(300)
    if damage in (remove_check, empty_check):
        assert kit.bodies() == [b"0", b"1", b"0", b"1"], "nobody knows that they were delivered"
    else:
        assert kit.bodies() == [b"0", b"1"]
    while kit.clock.now().wall_ms < at_ms + 15_000:
        kit.run(100)
        for found in kit.messages()[2:]:
            assert found.store_timestamp >= at_ms + 2_500 + 1_000 * int(found.body)
    assert set(kit.bodies()) == {b"%d" % number for number in range(8)}
    kit = kit.stopped()
    assert opened(kit) == (8, Done(), True)


def test_a_start_with_other_settings_delivers_all_the_same() -> None:
    kit = TimerKit()
    kit.send(b"hi", 15_000)
    kit.run(1_000)
    kit = kit.stopped(replace(TOLD, timer_precision_ms=500, timer_window_slots=10))
    kit.run(13_000)
    assert kit.bodies() == []
    kit.run(2_000)
    assert kit.bodies() == [b"hi"]


def test_a_former_slave_builds_its_files_again_and_knows_what_its_master_delivered() -> None:
    kit = stopped_with(3)
    found = decode_check(kit.disk.read(CHECK_PATH))
    assert found is not None
    kit.disk.replace(CHECK_PATH, encode_check(copied_check(found[0], queue_end=2), None))
    assert opened(kit) == (0, Done(2, found[0].read_ms), False)
