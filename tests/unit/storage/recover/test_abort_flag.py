"""The abort flag: whose unclean stop it was, through kills and power cuts."""

import pytest

from aerobee.errors import StoreLocked
from aerobee.sim.disk import SimDisk
from aerobee.storage.recover.abort_flag import AbortFlag, LastStop, take_lock

ROOT = "store"


def new_flag(disk: SimDisk) -> AbortFlag:
    disk.make_directory(ROOT)
    return AbortFlag(disk, ROOT)


def test_without_the_file_the_last_stop_was_clean() -> None:
    assert new_flag(SimDisk()).last_stop() is LastStop.CLEAN


def test_a_flag_that_was_set_says_that_we_stopped_uncleanly() -> None:
    disk = SimDisk()
    new_flag(disk).set()
    assert AbortFlag(disk, ROOT).last_stop() is LastStop.OURS_UNCLEAN


@pytest.mark.parametrize("content", [b"", b"12345", b"aero", b"Aerobee", b" aerobee"])
def test_a_flag_with_anything_else_in_it_is_another_programs(content: bytes) -> None:
    disk = SimDisk()
    flag = new_flag(disk)
    disk.replace(f"{ROOT}/abort", content)
    assert flag.last_stop() is LastStop.OTHERS_UNCLEAN


def test_setting_it_over_anothers_flag_makes_it_ours() -> None:
    disk = SimDisk()
    flag = new_flag(disk)
    disk.replace(f"{ROOT}/abort", b"12345")
    flag.set()
    assert flag.last_stop() is LastStop.OURS_UNCLEAN


def test_a_cleared_flag_says_clean() -> None:
    disk = SimDisk()
    flag = new_flag(disk)
    flag.set()
    flag.clear()
    assert flag.last_stop() is LastStop.CLEAN


def test_once_set_it_survives_a_power_cut() -> None:
    disk = SimDisk()
    new_flag(disk).set()
    assert AbortFlag(disk.power_cut(), ROOT).last_stop() is LastStop.OURS_UNCLEAN


def test_once_cleared_it_does_not_come_back_in_a_power_cut() -> None:
    disk = SimDisk()
    flag = new_flag(disk)
    flag.set()
    flag.clear()
    assert AbortFlag(disk.power_cut(), ROOT).last_stop() is LastStop.CLEAN


def test_a_power_cut_while_it_is_set_leaves_the_old_flag_or_the_new() -> None:
    stops = set()
    for n in range(1, 5):
        disk = SimDisk()
        flag = new_flag(disk)
        disk.replace(f"{ROOT}/abort", b"12345")
        disk.faults.power_cut_at(n)
        with pytest.raises(BaseException, match="call"):
            flag.set()
        for after in disk.crash_states():
            stops.add(AbortFlag(after, ROOT).last_stop())
    assert stops == {LastStop.OTHERS_UNCLEAN, LastStop.OURS_UNCLEAN}


def test_a_store_is_locked_by_one_at_a_time() -> None:
    disk = SimDisk()
    lock = take_lock(disk, ROOT)
    with pytest.raises(StoreLocked, match="another process has the store store open"):
        take_lock(disk, ROOT)
    lock.release()
    take_lock(disk, ROOT)
