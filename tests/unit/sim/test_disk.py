"""The pretended disk, beyond the contract in tests/unit/ports/test_disk.py."""

import errno

import pytest

from aerobee.ports.disk import DiskFile
from aerobee.sim.crash_choice import CrashChoice
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut

PATH = "s/log/0"


def _with_synced_file(size: int = 2048) -> tuple[SimDisk, DiskFile]:
    disk = SimDisk()
    file = disk.create(PATH, size)
    file.sync()
    disk.sync_directory("s/log")
    return disk, file


def test_a_power_cut_leaves_what_was_synced() -> None:
    disk, file = _with_synced_file()
    file.view[0:3] = b"old"
    file.sync()
    file.view[0:3] = b"new"
    assert disk.read(PATH)[:3] == b"new"
    assert disk.power_cut().read(PATH)[:3] == b"old"


def test_a_kill_leaves_everything_and_makes_nothing_durable() -> None:
    disk, file = _with_synced_file()
    file.view[0:3] = b"new"
    disk.create("s/log/1", 512)
    survivor = disk.kill()
    assert survivor.read(PATH)[:3] == b"new"
    assert survivor.list_directory("s/log") == ["0", "1"]
    after = survivor.power_cut()
    assert after.read(PATH)[:3] == bytes(3)
    assert after.list_directory("s/log") == ["0"]


def test_survivors_share_nothing_with_the_disk_they_came_from() -> None:
    disk, file = _with_synced_file()
    file.view[0:1] = b"a"
    survivors = [disk.kill(), disk.power_cut()]
    for survivor in survivors:
        other = survivor.open(PATH)
        other.view[0:1] = b"z"
        other.sync()
        survivor.remove(PATH)
    assert disk.read(PATH)[:1] == b"a"
    assert disk.power_cut().read(PATH)[:1] == b"\0"


def test_a_file_whose_name_was_not_synced_may_vanish_though_its_bytes_were() -> None:
    disk = SimDisk()
    disk.make_directory("s/log")
    disk.create(PATH, 512).sync()
    assert {tuple(state.list_directory("s/log")) for state in disk.crash_states()} == {(), ("0",)}
    disk.sync_directory("s/log")
    assert {tuple(state.list_directory("s/log")) for state in disk.crash_states()} == {("0",)}


def test_a_file_whose_bytes_were_not_synced_may_be_empty_or_short_under_its_name() -> None:
    disk = SimDisk()
    disk.create(PATH, 4096)
    disk.create("s/other", 512)
    disk.sync_directory("s/log")
    sizes = {state.size(PATH) for state in disk.crash_states()}
    assert sizes == {0, 2048, 4096}


def test_crash_states_hold_every_prefix_and_every_single_drop_of_the_writes() -> None:
    disk, file = _with_synced_file()
    for sector in range(4):
        file.view[sector * 512] = sector + 1
        disk.observe()
    found = {bytes(state.read(PATH)[0:2048:512]) for state in disk.crash_states(random_count=0)}
    prefixes = {bytes([1, 2, 3, 4][:count]) + bytes(4 - count) for count in range(5)}
    drops = {bytes([0, 2, 3, 4]), bytes([1, 0, 3, 4]), bytes([1, 2, 0, 4]), bytes([1, 2, 3, 0])}
    assert found == prefixes | drops


def test_random_states_repeat_with_their_seed() -> None:
    disk, file = _with_synced_file(size=16_384)
    file.view[:] = b"x" * 16_384
    assert [state.read(PATH) for state in disk.crash_states(seed=5)] == [
        state.read(PATH) for state in disk.crash_states(seed=5)
    ]


def test_no_crash_state_comes_twice_and_each_says_what_it_kept() -> None:
    disk, file = _with_synced_file()
    file.view[:] = b"x" * 2048
    disk.observe()
    file.view[0:512] = b"y" * 512
    states = list(disk.crash_states())
    assert len({state.read(PATH) for state in states}) == len(states)
    assert len({state.origin for state in states}) == len(states)


def test_the_last_write_is_torn_at_every_byte() -> None:
    disk, file = _with_synced_file()
    file.view[500:504] = b"aaaa"
    disk.observe()
    file.view[504:520] = bytes(range(1, 17))
    found = [state.read(PATH)[500:520] for state in disk.torn_states()]
    assert found == [b"aaaa" + bytes(range(1, end)) + bytes(17 - end) for end in range(2, 17)]
    file.sync()
    assert list(disk.torn_states()) == []


def test_tears_can_be_asked_of_one_file() -> None:
    disk, file = _with_synced_file()
    other = disk.create("s/log/1", 512)
    file.view[0:2] = b"ab"
    other.view[0:3] = b"xyz"
    assert {state.read("s/log/1")[:3] for state in disk.torn_states("s/log/1")} == {
        b"x\0\0",
        b"xy\0",
    }
    assert {state.read(PATH)[:2] for state in disk.torn_states("s/log/1")} == {b"ab"}


def test_a_failed_sync_drops_the_bytes_for_good_and_the_next_one_says_ok() -> None:
    disk, file = _with_synced_file()
    file.view[0:3] = b"abc"
    disk.faults.fail_sync("s/log/*")
    with pytest.raises(OSError, match="Input/output error"):
        file.sync()
    file.sync()
    assert bytes(file.view[:3]) == b"abc"
    restarted = disk.kill()
    assert restarted.read(PATH)[:3] == b"abc"
    assert restarted.power_cut().read(PATH)[:3] == bytes(3)
    restarted.drop_cache(PATH)
    assert restarted.read(PATH)[:3] == bytes(3)


def test_a_sync_that_fails_as_the_nth_call_drops_the_bytes_too() -> None:
    disk, file = _with_synced_file()
    file.view[0:3] = b"abc"
    disk.faults.fail_call(1)
    with pytest.raises(OSError, match="Input/output error"):
        file.sync()
    file.sync()
    assert disk.power_cut().read(PATH)[:3] == bytes(3)


def test_a_call_that_fails_does_nothing() -> None:
    disk, _ = _with_synced_file()
    disk.faults.fail_call(1, errno.ENOSPC)
    with pytest.raises(OSError, match="No space"):
        disk.create("s/log/1", 512)
    disk.faults.fail_call(1)
    with pytest.raises(OSError, match="Input/output"):
        disk.remove(PATH)
    assert disk.list_directory("s/log") == ["0"]


def test_replacing_is_all_or_nothing_whichever_of_its_calls_fails() -> None:
    for n in range(1, 5):
        disk = SimDisk()
        disk.replace("s/a", b"old")
        disk.faults.fail_call(n)
        with pytest.raises(OSError, match="Input/output"):
            disk.replace("s/a", b"new")
        assert disk.faults.calls[-1].name.startswith("replace.")
        assert disk.read("s/a") == (b"new" if n == 4 else b"old")
        assert disk.list_directory("s") == ["a"]


def test_replacing_is_all_or_nothing_wherever_the_power_is_cut() -> None:
    seen = set()
    for n in range(1, 5):
        disk = SimDisk()
        disk.replace("s/a", b"old")
        disk.faults.power_cut_at(n)
        with pytest.raises(PowerCut):
            disk.replace("s/a", b"new")
        seen |= {state.read("s/a") for state in disk.crash_states()}
    assert seen == {b"old", b"new"}
    disk = SimDisk()
    disk.replace("s/a", b"new")
    assert {state.read("s/a") for state in disk.crash_states()} == {b"new"}


def test_nothing_done_after_the_power_cut_counts() -> None:
    disk, file = _with_synced_file()
    file.view[0:1] = b"a"
    disk.faults.power_cut_at(1)
    with pytest.raises(PowerCut):
        file.sync()
    file.view[0:1] = b"b"
    assert {state.read(PATH)[:1] for state in disk.crash_states()} == {b"\0", b"a"}


def test_a_full_disk_refuses_new_files_until_something_is_removed() -> None:
    disk = SimDisk(capacity_bytes=1000)
    disk.create("a", 600)
    for refused in (lambda: disk.create("b", 600), lambda: disk.replace("b", bytes(600))):
        with pytest.raises(OSError, match="disk full") as full:
            refused()
        assert full.value.errno == errno.ENOSPC
    assert disk.space(".").free_bytes == 400
    disk.remove("a")
    disk.create("b", 600)


def test_cold_files_are_not_resident() -> None:
    disk, file = _with_synced_file()
    assert file.is_resident(0, 100)
    disk.faults.make_cold("*/log/*")
    assert not file.is_resident(0, 100)


def test_a_lock_dies_with_its_process() -> None:
    disk = SimDisk()
    disk.lock("s/lock")
    for survivor in (disk.kill(), disk.power_cut()):
        survivor.lock("s/lock")
    with pytest.raises(BlockingIOError):
        disk.lock("s/lock")


def test_files_are_what_a_program_would_read_and_looking_is_no_call() -> None:
    disk = SimDisk()
    disk.create("a/b", 4).view[:] = b"data"
    disk.replace("c", b"")
    calls = len(disk.faults.calls)
    assert disk.files() == {"a/b": b"data", "c": b""}
    assert len(disk.faults.calls) == calls


def test_a_share_of_the_crash_states_is_drawn_by_the_seed() -> None:
    disk = SimDisk()
    file = disk.create("f", 40 * 512)
    for sector in range(40):
        file.view[sector * 512] = 1
        disk.observe()
    everything = list(disk.crash_states())
    some = [state.origin for state in disk.crash_states(seed=1, share=0.2)]
    assert some == [state.origin for state in disk.crash_states(seed=1, share=0.2)]
    assert some != [state.origin for state in disk.crash_states(seed=2, share=0.2)]
    assert 0 < len(some) < len(everything) / 2


def test_folders_of_a_sparse_file_vanish_with_it_until_they_are_synced() -> None:
    disk = SimDisk()
    disk.make_directory("s")
    disk.create_sparse("s/topic/0/first", 512).sync()
    disk.sync_directory("s/topic/0")
    disk.sync_directory("s/topic")
    assert disk.power_cut().list_directory("s") == []
    disk.sync_directory("s")
    assert disk.power_cut().list_directory("s/topic/0") == ["first"]


def test_a_sync_of_everything_leaves_nothing_to_lose() -> None:
    disk = SimDisk()
    first = disk.create_sparse("s/a/first", 512)
    first.reserve(0, 512)
    first.view[0] = 7
    disk.create("s/b/second", 512).view[0] = 8
    disk.sync_all("s/a/first")
    survivor = disk.power_cut()
    assert (survivor.read("s/a/first")[0], survivor.read("s/b/second")[0]) == (7, 8)
    assert len(list(disk.crash_states())) == 1


def test_a_sync_of_everything_that_fails_loses_what_was_dirty() -> None:
    disk, file = _with_synced_file()
    file.view[0] = 1
    disk.faults.fail_sync("*")
    with pytest.raises(OSError, match="Input/output"):
        disk.sync_all("s")
    disk.sync_all("s")
    assert disk.power_cut().read(PATH)[0] == 0


def test_what_is_unsynced_can_be_chosen_from() -> None:
    disk = SimDisk()
    disk.make_directory("d")
    assert disk.unsynced() == ([], [])
    file = disk.create("d/f", 4096)
    file.view[0] = file.view[1024] = 1
    writes, names = disk.unsynced()
    assert (len(writes), len(names)) == (3, 1)  # two sectors and the length; the name
    after = disk.power_cut(CrashChoice("mine", frozenset(writes[:2]), frozenset(names)))
    assert after.read("d/f")[:2] == b"\x01\x00"
    assert after.read("d/f")[1024] == 0
    disk.sync_all("d")
    assert disk.unsynced() == ([], [])


def test_used_bytes_count_what_has_room() -> None:
    disk = SimDisk()
    disk.create("d/f", 4096)
    disk.create_sparse("d/g", 8192).reserve(0, 10)
    assert disk.used_bytes() == 4096 + 4096
