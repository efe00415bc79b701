import struct

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.storage.timer.timer_log import UNIT_BYTES, TimerLog, TimerUnit

FOLDER = "store/timerlog"
FILE_BYTES = 5 * UNIT_BYTES + 20  # five units and a blank
FIRST = f"{FOLDER}/{0:020d}"
SECOND = f"{FOLDER}/{FILE_BYTES:020d}"


def opened(disk: SimDisk, end: int = 0) -> TimerLog:
    log = TimerLog(disk, FOLDER, FILE_BYTES)
    assert log.load(end)
    return log


def unit(number: int, previous: int = -1, magic: int = 1) -> TimerUnit:
    return TimerUnit(previous, magic, 1_700_000_000_000, 3_000, 1_000 * number, 200, -7)


def filled(disk: SimDisk, count: int) -> tuple[TimerLog, list[int]]:
    log = opened(disk)
    return log, [log.append(*unit(number)) for number in range(count)]


def test_a_unit_is_what_rocketmq_writes() -> None:
    disk = SimDisk()
    log = opened(disk)
    assert log.append(*unit(4, previous=-1, magic=5)) == 0
    fields = struct.unpack(">iqiqiqiiq", disk.files()[FIRST][:UNIT_BYTES])
    assert fields == (52, -1, 5, 1_700_000_000_000, 3_000, 4_000, 200, -7, 0)
    assert log.unit(0) == unit(4, -1, 5)
    assert unit(4).time_ms == 1_700_000_003_000


def test_a_file_ends_with_a_blank_where_no_unit_fits() -> None:
    disk = SimDisk()
    log, positions = filled(disk, 7)
    assert positions == [0, 52, 104, 156, 208, 280, 332]
    blank = disk.files()[FIRST][260:276]
    assert struct.unpack(">iqi", blank) == (20, 0, struct.unpack(">i", b"\xcb\xd4\x31\x94")[0])
    assert [log.unit(position) for position in positions] == [unit(number) for number in range(7)]
    assert sorted(disk.files()) == [FIRST, SECOND]


@pytest.mark.parametrize("position", [-1, 26, 260, 270, 384, 1_000])
def test_where_there_is_no_unit_none_is_found(position: int) -> None:
    log, _ = filled(SimDisk(), 7)
    assert log.unit(position) is None


@pytest.mark.parametrize("magic", [0, 2, 8, -875286124])
def test_a_unit_of_unknown_magic_is_none(magic: int) -> None:
    log = opened(SimDisk())
    log.append(*unit(0, magic=magic))
    assert log.unit(0) is None


def test_a_log_is_written_again_from_where_it_was_saved() -> None:
    disk = SimDisk()
    log, _ = filled(disk, 7)
    again = opened(disk.kill(), 104)
    assert again.next_position() == 104
    assert again.append(*unit(20)) == 104
    again.pass_over()
    assert again.end == 208
    assert [again.unit(at) for at in (52, 104, 156)] == [unit(1), unit(20), unit(3)]
    again.pass_over()
    assert again.next_position() == 280
    again.pass_over()
    assert again.append(*unit(21)) == 332
    assert log.end == 384


def test_too_few_files_do_not_load() -> None:
    disk = SimDisk()
    filled(disk, 7)
    assert not TimerLog(disk, FOLDER, FILE_BYTES).load(2 * FILE_BYTES + 52)
    assert not TimerLog(disk, "store/other", FILE_BYTES).load(52)
    assert TimerLog(disk, "store/other", FILE_BYTES).load(0)
    disk.remove(FIRST)
    assert not TimerLog(disk, FOLDER, FILE_BYTES).load(104)
    assert TimerLog(disk, FOLDER, FILE_BYTES).load(332)


def test_what_was_synced_survives_a_power_cut_names_and_all() -> None:
    disk = SimDisk()
    disk.make_directory("store")
    log, positions = filled(disk, 6)
    log.sync(log.take_unsynced())
    log.append(*unit(6))
    after = opened(disk.power_cut(), 332)
    assert [after.unit(at) for at in positions] == [unit(number) for number in range(6)]
    assert after.unit(332) is None


def test_only_files_with_something_new_are_synced() -> None:
    disk = SimDisk()
    log, _ = filled(disk, 3)
    assert [file.disk_file.path for file in log.take_unsynced().files] == [FIRST]
    assert log.take_unsynced() == ([], False)
    log.append(*unit(3))
    assert [file.disk_file.path for file in log.take_unsynced().files] == [FIRST]
    log.append(*unit(4))
    log.append(*unit(5))
    unsynced = log.take_unsynced()
    assert [file.disk_file.path for file in unsynced.files] == [FIRST, SECOND]
    assert unsynced.has_new_names
    log.append(*unit(6))
    assert [file.disk_file.path for file in log.take_unsynced().files] == [SECOND]


def test_what_stands_behind_the_end_is_cut_off() -> None:
    disk = SimDisk()
    filled(disk, 7)
    log = opened(disk, 104)
    log.cut()
    assert list(disk.files()) == [FIRST]
    assert not any(disk.files()[FIRST][104:])
    assert log.unit(52) == unit(1)


def test_the_oldest_file_goes_when_its_last_record_has_gone() -> None:
    log, _ = filled(SimDisk(), 7)
    assert log.take_first(4_000) is None
    taken = log.take_first(4_001)
    assert taken is not None
    assert taken.disk_file.path == FIRST
    assert log.first_position == FILE_BYTES
    assert log.unit(0) is None
    assert log.unit(280) == unit(5)
    assert log.take_first(1 << 40) is None, "it is written to"


def test_a_reset_log_begins_at_0_without_files() -> None:
    disk = SimDisk()
    log, _ = filled(disk, 7)
    log.reset()
    assert not disk.files()
    assert log.append(*unit(9)) == 0


def test_without_room_nothing_is_appended() -> None:
    disk = SimDisk()
    log, _ = filled(disk, 5)
    disk.capacity_bytes = disk.used_bytes()
    with pytest.raises(OSError, match="full"):
        log.append(*unit(5))
    assert log.end == 260
    disk.capacity_bytes = 1 << 20
    assert log.append(*unit(5)) == 280
