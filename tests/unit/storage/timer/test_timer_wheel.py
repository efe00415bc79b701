import errno
import struct

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.storage.timer.timer_wheel import SLOT_BYTES, SLOT_COUNT, Slot, TimerWheel

PATH = "store/timerwheel"
SLOTS = 300  # more than two pages
NOW = 1_700_000_000_000


def opened(disk: SimDisk, slots: int = SLOTS) -> TimerWheel:
    disk.make_directory("store")
    wheel = TimerWheel(disk, PATH, slots, 1_000)
    wheel.load()
    return wheel


def save(wheel: TimerWheel) -> None:
    wheel.freeze()
    assert wheel.write_some(1_000)
    wheel.sync()


def slot(time_ms: int, first: int = 0, last: int = 52, count: int = 2) -> Slot:
    return Slot(time_ms, first, last, count)


def test_a_wheel_is_as_large_as_rocketmqs() -> None:
    assert SLOT_COUNT * SLOT_BYTES == 38_707_200


def test_a_slot_is_found_by_its_time_alone() -> None:
    wheel = opened(SimDisk())
    wheel.put(slot(NOW))
    assert wheel.find(NOW) == slot(NOW)
    assert wheel.find(NOW + 1_000) is None
    assert wheel.find(NOW + wheel.turn_ms) is None
    assert wheel.at_place_of(NOW) == wheel.at_place_of(NOW + wheel.turn_ms) == slot(NOW)
    assert wheel.at_place_of(NOW + 1_000) is None
    wheel.clear(NOW)
    assert wheel.find(NOW) is None
    assert wheel.at_place_of(NOW + wheel.turn_ms) is None


def test_a_slot_on_the_disk_is_where_and_what_rocketmq_writes() -> None:
    disk = SimDisk()
    wheel = opened(disk)
    wheel.put(Slot(NOW, 104, 520, 7))
    save(wheel)
    content = disk.files()[PATH]
    assert len(content) == SLOTS * SLOT_BYTES
    number = NOW // 1_000 % SLOTS
    place = content[number * SLOT_BYTES :][:SLOT_BYTES]
    assert struct.unpack(">qqqii", place) == (NOW // 1_000, 104, 520, 7, 0)
    assert content.count(0) > len(content) - SLOT_BYTES
    wheel.clear(NOW)
    save(wheel)
    assert not any(disk.files()[PATH])


def test_nothing_is_in_the_file_before_it_is_written_and_nothing_that_came_after_the_freeze() -> (
    None
):
    disk = SimDisk()
    wheel = opened(disk)
    wheel.put(slot(NOW))
    assert wheel.is_changed
    wheel.freeze()
    assert not wheel.is_changed
    wheel.put(slot(NOW, last=999))
    wheel.put(slot(NOW + 1_000))
    assert PATH not in disk.files()
    assert wheel.find(NOW) == slot(NOW, last=999)
    assert wheel.write_some(10)
    assert opened(disk.kill()).find(NOW) == slot(NOW)
    assert opened(disk.kill()).find(NOW + 1_000) is None
    assert wheel.find(NOW) == slot(NOW, last=999)
    save(wheel)
    assert opened(disk.power_cut()).find(NOW) == slot(NOW, last=999)


def test_what_is_set_aside_is_written_in_pieces_and_found_all_the_while() -> None:
    disk = SimDisk()
    wheel = opened(disk)
    times = [NOW + 1_000 * number for number in range(10)]
    for time_ms in times:
        wheel.put(slot(time_ms))
    wheel.freeze()
    assert not wheel.write_some(4)
    assert [wheel.find(time_ms) for time_ms in times] == [slot(time_ms) for time_ms in times]
    assert not wheel.write_some(4)
    assert wheel.write_some(4)
    assert [opened(disk.kill()).find(time_ms) for time_ms in times] == [
        slot(time_ms) for time_ms in times
    ]


def test_without_room_on_the_disk_a_slot_waits_and_is_written_later() -> None:
    disk = SimDisk()
    wheel = opened(disk)
    wheel.put(slot(NOW))
    wheel.freeze()
    disk.capacity_bytes = 0
    with pytest.raises(OSError, match="full") as caught:
        wheel.write_some(10)
    assert caught.value.errno == errno.ENOSPC
    assert wheel.find(NOW) == slot(NOW)
    disk.capacity_bytes = 1 << 20
    assert wheel.write_some(10)
    assert opened(disk.kill()).find(NOW) == slot(NOW)


def test_a_file_of_another_size_is_not_believed() -> None:
    disk = SimDisk()
    wheel = opened(disk)
    wheel.put(slot(NOW))
    save(wheel)
    assert TimerWheel(disk, PATH, SLOTS, 1_000).load()
    assert not TimerWheel(disk, PATH, SLOTS + 1, 1_000).load()
    assert not TimerWheel(disk, "store/other", SLOTS, 1_000).load()


def test_a_reset_wheel_is_empty_and_has_no_file_even_after_a_power_cut() -> None:
    disk = SimDisk()
    wheel = opened(disk)
    wheel.put(slot(NOW))
    save(wheel)
    wheel.put(slot(NOW + 1_000))
    wheel.reset()
    assert wheel.find(NOW) is None
    assert wheel.find(NOW + 1_000) is None
    wheel.put(slot(NOW + 2_000))
    save(wheel)
    after = opened(disk.power_cut())
    assert after.find(NOW) is None
    assert after.find(NOW + 2_000) == slot(NOW + 2_000)


@pytest.mark.parametrize("is_saved", [False, True])
def test_the_next_time_is_the_earliest_of_a_range(is_saved: bool) -> None:
    wheel = opened(SimDisk())
    for ahead in (0, 7, 140, 290):
        wheel.put(slot(NOW + 1_000 * ahead))
    if is_saved:
        save(wheel)

    def ahead_of(start: int, end: int) -> int:
        return (wheel.next_time(NOW + 1_000 * start, NOW + 1_000 * end) - NOW) // 1_000

    assert ahead_of(0, 10) == 0
    assert ahead_of(1, 10) == 7
    assert ahead_of(8, 140) == 140
    assert ahead_of(8, 141) == 140
    assert ahead_of(141, 300) == 290
    assert ahead_of(291, 295) == 295
    assert ahead_of(-50, 1) == 0
    assert ahead_of(5, 5) == 5
    # Over more than a turn.
    assert ahead_of(-1_000_000, 1_000_000) == 0
    assert ahead_of(1, 1_000_000) == 7
    assert ahead_of(291, 1_000_000) == 1_000_000
