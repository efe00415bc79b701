"""The file of what compaction kept: written once, found by offset and time, believed if whole."""

import pytest

from aerobee.errors import CorruptFile
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.kept_file import (
    DELETION,
    ENTRY_BYTES,
    HEAD_BYTES,
    KeptEntry,
    KeptFile,
    KeptFileWriter,
    KeptHead,
)

PATH = "compacted/Prices/0/00000000000000000100"
OFFSETS = (3, 7, 8, 50)


def entry(number: int, size: int) -> KeptEntry:
    flags = DELETION if number == 2 else 0
    return KeptEntry(
        OFFSETS[number], 0, size, flags, -5, 1000 + 10 * number, 1 << 40, bytes([number]) * 16
    )


def record(number: int) -> bytes:
    return bytes([65 + number]) * (number + 1)


def written(disk: SimDisk, count: int = 4) -> KeptFile:
    head = KeptHead(100, 77_777, count, 1020, sum(len(record(n)) for n in range(count)))
    writer = KeptFileWriter(disk, PATH, head)
    for number in range(count):
        writer.add(entry(number, number + 1), memoryview(record(number)))
    return writer.finish()


@pytest.mark.parametrize("is_new", [True, False])
def test_what_was_written_is_read(is_new: bool) -> None:
    disk = SimDisk()
    file = written(disk)
    if not is_new:
        file = KeptFile.open(disk, PATH)
    assert (file.end, file.log_end, file.count, file.oldest_deletion_ms) == (100, 77_777, 4, 1020)
    assert file.first_offset == 3
    for number in range(4):
        found = file.entry(number)
        assert found._replace(position=0) == entry(number, number + 1)
        assert found.is_deletion == (number == 2)
        assert file.view[found.position : found.position + found.size] == record(number)
    assert [one.queue_offset for one in file.entries(1, 3)] == [7, 8]
    assert [one.queue_offset for one in file.entries(3, 99)] == [50]
    assert list(file.entries(9, 12)) == []


def test_the_bytes_are_those_that_the_format_says() -> None:
    disk = SimDisk()
    written(disk, 1)
    data = disk.read(PATH)
    assert len(data) == HEAD_BYTES + ENTRY_BYTES + 1 == 129
    assert data[:12] == b"AEROKEPT" + (1).to_bytes(4, "big")
    numbers = [int.from_bytes(data[at : at + 8], "big", signed=True) for at in range(16, 64, 8)]
    assert numbers == [100, 77_777, 1, 1020, 129, 0]
    assert data[64:72] == (3).to_bytes(8, "big")
    assert data[72:80] == (128).to_bytes(8, "big")
    assert data[80:88] == (1).to_bytes(4, "big") + bytes(4)
    assert data[88:96] == (-5).to_bytes(8, "big", signed=True)
    assert data[96:112] == (1000).to_bytes(8, "big") + (1 << 40).to_bytes(8, "big")
    assert data[112:] == bytes(16) + b"A"


def test_offsets_and_times_are_found_or_the_next_ones() -> None:
    file = written(SimDisk())
    assert [file.first_at(offset) for offset in (0, 3, 4, 8, 9, 50, 51)] == [0, 0, 1, 2, 3, 3, 4]
    assert [file.first_since(ms) for ms in (0, 1000, 1001, 1030, 1031)] == [0, 0, 1, 3, 4]


def test_a_file_in_which_nothing_was_kept_begins_at_its_end() -> None:
    disk = SimDisk()
    written(disk, 0)
    file = KeptFile.open(disk, PATH)
    assert (file.count, file.first_offset, file.first_at(0)) == (0, 100, 0)


def test_a_file_is_on_the_disk_once_it_is_finished() -> None:
    disk = SimDisk()
    written(disk)
    disk.sync_directory("compacted/Prices/0")
    disk.sync_directory("compacted/Prices")
    disk.sync_directory("compacted")
    disk.sync_directory("")
    data = disk.read(PATH)
    for state in disk.crash_states(random_count=8, seed=1):
        assert state.read(PATH) == data


def test_a_flipped_bit_in_head_or_entries_is_damage() -> None:
    for position in range(HEAD_BYTES + 4 * ENTRY_BYTES):
        disk = SimDisk()
        written(disk).view[position] ^= 4
        with pytest.raises(CorruptFile, match="kept cannot be read"):
            KeptFile.open(disk, PATH)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 200])
def test_a_file_of_another_size_is_damage(size: int) -> None:
    disk = SimDisk()
    written(disk)
    disk.replace(PATH, disk.read(PATH)[:size])
    with pytest.raises(CorruptFile):
        KeptFile.open(disk, PATH)
