"""One mapped file: what it holds, and slices that outlive it."""

from aerobee.sim.disk import SimDisk
from aerobee.storage.files import mapped_file
from aerobee.storage.files.mapped_file import MappedFile


def made(size: int = 256, first_offset: int = 1024) -> MappedFile:
    return MappedFile(SimDisk().create("folder/file", size), first_offset)


def test_whether_it_is_compiled_is_told() -> None:
    assert mapped_file.is_compiled() in (True, False)


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
