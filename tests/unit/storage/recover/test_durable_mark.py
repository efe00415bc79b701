import pytest

from aerobee.errors import CorruptFile, Misuse
from aerobee.protocol.message.durable_mark_slots import (
    FILE_BYTES,
    NO_BOUND,
    NO_CRC,
    SLOT_BYTES,
    SLOT_POSITIONS,
    DurableMark,
    decode_slot,
)
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.recover.durable_mark import DurableMarkFile

PATH = "store/durable_mark"
SAMPLE = DurableMark(1, 2, 3, 4, 5, 6, 7, 8)


def _mark(flushed: int) -> DurableMark:
    return DurableMark(flushed=flushed, dispatched=flushed // 2)


def _sync(file: DurableMarkFile) -> None:
    file.begin_sync()
    file.sync()
    file.note_synced()


def test_a_store_without_the_file_gets_one_that_promises_nothing() -> None:
    """And is as good as none until it is written: a start may give up before it knows anything."""
    disk = SimDisk()
    file = DurableMarkFile.open(disk, PATH)
    assert file.is_new
    assert file.mark == DurableMark(0, 0, 0, 0, 0, NO_CRC, 0, NO_BOUND)
    assert disk.size(PATH) == FILE_BYTES
    for state in disk.crash_states():
        opened = DurableMarkFile.open(state, PATH)
        assert opened.is_new
        assert opened.mark == DurableMark()
    file.write(DurableMark())
    file.begin_sync()
    file.sync()
    assert not DurableMarkFile.open(disk.power_cut(), PATH).is_new


def test_the_birth_of_the_file_can_be_cut_anywhere() -> None:
    calls = 0
    while True:
        calls += 1
        disk = SimDisk()
        disk.faults.power_cut_at(calls)
        try:
            DurableMarkFile.open(disk, PATH)
        except PowerCut:
            for state in disk.crash_states():
                assert DurableMarkFile.open(state, PATH).mark == DurableMark()
        else:
            break
    assert calls > 5


def test_what_was_written_and_synced_is_found_again() -> None:
    disk = SimDisk()
    file = DurableMarkFile.open(disk, PATH)
    file.write(SAMPLE)
    assert file.mark == SAMPLE
    _sync(file)
    assert DurableMarkFile.open(disk.power_cut(), PATH).mark == SAMPLE
    file.close()
    assert DurableMarkFile.open(disk, PATH).mark == SAMPLE


def test_the_slots_take_turns_by_sync_and_not_by_write() -> None:
    disk = SimDisk()
    file = DurableMarkFile.open(disk, PATH)

    def flushed_in_slots() -> list[int]:
        view = memoryview(disk.read(PATH))
        found = [decode_slot(view, position) for position in SLOT_POSITIONS]
        return [-1 if slot is None else slot[0].flushed for slot in found]

    assert flushed_in_slots() == [0, -1]
    file.write(_mark(10))
    file.write(_mark(20))
    assert flushed_in_slots() == [0, 20]
    _sync(file)
    _sync(file)  # with nothing new: the slots keep their roles
    file.write(_mark(30))
    file.write(_mark(40))
    assert flushed_in_slots() == [40, 20]
    _sync(file)
    file.write(_mark(50))
    assert flushed_in_slots() == [40, 50]


def test_after_reopening_the_better_slot_is_left_alone() -> None:
    disk = SimDisk()
    file = DurableMarkFile.open(disk, PATH)
    for flushed in (10, 20):
        file.write(_mark(flushed))
        _sync(file)
    file.close()
    again = DurableMarkFile.open(disk, PATH)
    again.write(_mark(30))
    view = memoryview(disk.read(PATH))
    slots = [decode_slot(view, position) for position in SLOT_POSITIONS]
    assert sorted(slot[0].flushed for slot in slots if slot) == [20, 30]


def test_writes_during_a_sync_wait_for_its_end() -> None:
    disk = SimDisk()
    file = DurableMarkFile.open(disk, PATH)
    file.write(_mark(10))
    file.begin_sync()
    before = disk.read(PATH)
    file.write(_mark(20))
    file.write(_mark(30))
    assert file.mark == _mark(30)
    assert disk.read(PATH) == before
    file.sync()
    file.note_synced()
    assert disk.read(PATH) != before
    _sync(file)
    assert DurableMarkFile.open(disk.power_cut(), PATH).mark == _mark(30)


def test_every_crash_of_a_long_story_leaves_a_mark_that_was_true() -> None:
    """At least what was synced last, at most what was written last; never no mark at all."""
    disk = SimDisk()
    file = DurableMarkFile.open(disk, PATH)
    synced = written = 0
    states = 0

    def check() -> None:
        nonlocal states
        disk.observe()
        for state in (*disk.crash_states(random_count=4), *disk.torn_states()):
            states += 1
            assert synced <= DurableMarkFile.open(state, PATH).mark.flushed <= written

    for round_number in range(6):
        for _ in range(1 + round_number % 3):
            written += 257
            file.write(_mark(written))
            check()
        begun = written
        file.begin_sync()
        for _ in range(round_number % 2):
            written += 257
            file.write(_mark(written))
            check()
        file.sync()
        synced = begun
        check()
        file.note_synced()
        check()
    assert states > 100


def test_a_kill_then_a_reopening_then_a_power_cut_keeps_a_mark() -> None:
    """The better slot may be in memory only; the reopened file must not rely on it unsynced."""
    disk = SimDisk()
    file = DurableMarkFile.open(disk, PATH)
    file.write(_mark(10))
    restarted = disk.kill()
    again = DurableMarkFile.open(restarted, PATH)
    assert again.mark == _mark(10)
    again.write(_mark(20))
    for state in (*restarted.crash_states(), *restarted.torn_states()):
        assert DurableMarkFile.open(state, PATH).mark in (_mark(10), _mark(20))


def test_a_mark_that_a_failed_sync_lost_is_not_believed() -> None:
    disk = SimDisk()
    file = DurableMarkFile.open(disk, PATH)
    file.write(_mark(10))
    disk.faults.fail_sync(PATH)
    file.begin_sync()
    with pytest.raises(OSError, match="Input/output"):
        file.sync()
    before = disk.read(PATH)
    file.write(_mark(20))
    assert disk.read(PATH) == before
    restarted = disk.kill()
    again = DurableMarkFile.open(restarted, PATH)
    assert again.mark == DurableMark()
    again.write(_mark(5))
    for state in (*restarted.crash_states(), *restarted.torn_states()):
        assert DurableMarkFile.open(state, PATH).mark in (DurableMark(), _mark(5))


def test_one_broken_slot_leaves_the_other() -> None:
    disk = SimDisk()
    file = DurableMarkFile.open(disk, PATH)
    file.write(_mark(10))
    _sync(file)
    whole = disk.read(PATH)
    for position, expected in zip(SLOT_POSITIONS, (_mark(10), DurableMark()), strict=True):
        for bit in range(SLOT_BYTES * 8):
            broken = bytearray(whole)
            broken[position + bit // 8] ^= 1 << bit % 8
            disk.replace("other", bytes(broken))
            assert DurableMarkFile.open(disk, "other").mark == expected


@pytest.mark.parametrize(
    "content", [bytes(FILE_BYTES), b"", bytes(100), bytes(FILE_BYTES + 1), b"\xff" * FILE_BYTES]
)
def test_a_file_without_a_valid_slot_is_refused_with_advice(content: bytes) -> None:
    disk = SimDisk()
    disk.replace(PATH, content)
    with pytest.raises(CorruptFile, match="durable mark") as refusal:
        DurableMarkFile.open(disk, PATH)
    assert refusal.value.path == PATH
    assert "remove the file" in refusal.value.hint
    assert disk.read(PATH) == content


def test_the_steps_of_a_sync_come_in_order() -> None:
    file = DurableMarkFile.open(SimDisk(), PATH)
    with pytest.raises(Misuse, match="begin_sync"):
        file.sync()
    with pytest.raises(Misuse, match="begun"):
        file.note_synced()
    file.begin_sync()
    with pytest.raises(Misuse, match="under way"):
        file.begin_sync()


def test_a_mark_below_zero_is_refused_and_leaves_the_slot_whole() -> None:
    disk = SimDisk()
    file = DurableMarkFile.open(disk, PATH)
    file.write(_mark(10))
    before = disk.read(PATH)
    with pytest.raises(Misuse, match="below zero"):
        file.write(DurableMark(flushed=-1))
    assert disk.read(PATH) == before
    assert file.mark == _mark(10)
