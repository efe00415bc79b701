"""One mapped file: what it holds, its room on the disk, and slices that outlive it."""

import errno

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.sim.sector_file import WriteIntoHole
from aerobee.storage.files.mapped_file import MappedFile, room_for


def made(size: int = 256, first_offset: int = 1024) -> MappedFile:
    return MappedFile(SimDisk().create("folder/file", size), first_offset)


def test_it_holds_the_offsets_from_its_first_to_its_size() -> None:
    file = made()
    assert (file.first_offset, file.size, file.end_offset()) == (1024, 256, 1280)


def test_offsets_far_beyond_32_bits_are_kept() -> None:
    assert made(256, 1 << 50).end_offset() == (1 << 50) + 256


def test_a_slice_is_the_file_itself_and_no_copy() -> None:
    file = made()
    part = file.slice(16, 4)
    file.view[16:20] = b"seen"
    assert bytes(part) == b"seen"
    part[0:1] = b"b"
    assert bytes(file.disk_file.view[16:20]) == b"been"


def test_a_slice_outlives_the_handle() -> None:
    file = made()
    part = file.slice(0, 3)
    part[:] = b"yes"
    file.disk_file.close()
    assert bytes(part) == b"yes"
    assert bytes(file.view[:3]) == b"yes"


# Room.


def sparse(disk: SimDisk, size: int) -> MappedFile:
    return MappedFile(disk.create_sparse("folder/file", size), 0, is_sparse=True)


def test_room_comes_in_steps_that_double_up_to_256_kib() -> None:
    size = 6_000_000
    room, rooms = 0, []
    while room < size:
        room = room_for(room + 1, size)
        rooms.append(room)
    kib = 1024
    assert rooms[:9] == [n * kib for n in (4, 8, 16, 32, 64, 128, 256, 512, 768)]
    assert rooms[-1] == size
    assert len(rooms) == 29


def test_room_for_a_place_reaches_beyond_it_but_not_beyond_the_file() -> None:
    for size in (20, 4096, 100_000, 6_000_000):
        for end in range(20, size + 1, 997):
            assert end <= room_for(end, size) <= size


def test_a_file_of_the_log_has_room_from_the_start() -> None:
    file = made(10_000)
    assert file.room == 10_000
    file.make_room(10_000)  # asks for nothing


def test_a_sparse_file_takes_of_the_disk_what_was_asked_for() -> None:
    disk = SimDisk(capacity_bytes=1 << 20)
    file = sparse(disk, 600_000)
    assert disk.space("folder").free_bytes == 1 << 20
    file.make_room(20)
    assert file.room == 4096
    file.make_room(4097)
    assert file.room == 8192
    assert disk.space("folder").free_bytes == (1 << 20) - 8192


def test_without_room_the_file_is_as_before_and_may_ask_again() -> None:
    disk = SimDisk(capacity_bytes=100_000)
    file = sparse(disk, 600_000)
    file.make_room(60_000)
    with pytest.raises(OSError, match="disk full") as refusal:
        file.make_room(70_000)
    assert refusal.value.errno == errno.ENOSPC
    assert file.room == 65_536
    disk.capacity_bytes = 200_000
    file.make_room(70_000)
    assert file.room == 131_072


def test_a_write_without_room_is_found() -> None:
    disk = SimDisk()
    file = sparse(disk, 600_000)
    file.make_room(20)
    file.view[4095] = 1
    disk.observe()
    file.view[4096] = 1
    with pytest.raises(WriteIntoHole):
        disk.observe()


# Zeroing.


@pytest.mark.parametrize("is_sparse", [False, True])
def test_zeroing_reaches_every_block_and_nothing_before_it(is_sparse: bool) -> None:
    size = (3 << 20) + 5
    disk = SimDisk()
    file = sparse(disk, size) if is_sparse else made(size)
    file.make_room(size)
    file.view[:] = b"x" * size
    assert file.zero_from(1000)
    assert bytes(file.view) == b"x" * 1000 + bytes(size - 1000)


def test_zeroing_finds_single_bytes_on_both_sides_of_a_page() -> None:
    file = made(5 * 4096)
    for position in (4095, 4096, 3 * 4096, 5 * 4096 - 1):
        file.view[position] = 7
    assert file.zero_from(4095)
    assert not any(file.view)


def test_zeroing_where_nothing_stands_writes_nothing_and_needs_no_room() -> None:
    disk = SimDisk()
    file = sparse(disk, 600_000)
    file.make_room(4096)
    file.view[:4096] = b"x" * 4096
    disk.observe()
    assert not file.zero_from(4096)
    disk.observe()
    assert bytes(file.view[:4096]) == b"x" * 4096


def test_zeroing_the_end_of_a_file_does_nothing() -> None:
    file = made(4096)
    file.view[:] = b"x" * 4096
    assert not file.zero_from(4096)
    assert bytes(file.view) == b"x" * 4096
