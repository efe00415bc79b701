"""Files of one size that hold a range: finding, making, removing, and loading after any stop."""

import pytest

from aerobee.errors import CorruptFile
from aerobee.sim.disk import SimDisk
from aerobee.storage.files.file_sequence import NAME_DIGITS, FileSequence

FOLDER = "store/commitlog"
SIZE = 512


def sequence_on(disk: SimDisk) -> FileSequence:
    return FileSequence(disk, FOLDER, SIZE)


def filled(disk: SimDisk, count: int, first_offset: int = 0) -> FileSequence:
    """So many files, each filled with its number."""
    sequence = sequence_on(disk)
    for number in range(count):
        file = sequence.create(first_offset + number * SIZE)
        file.view[:] = bytes([number + 1]) * SIZE
    return sequence


def loaded(disk: SimDisk) -> FileSequence:
    sequence = sequence_on(disk)
    sequence.load()
    return sequence


def offsets(sequence: FileSequence) -> list[int]:
    return [file.first_offset for file in sequence.files]


def put(disk: SimDisk, name: str, content: bytes) -> None:
    disk.replace(f"{FOLDER}/{name}", content)


def name_of(offset: int) -> str:
    return f"{offset:0{NAME_DIGITS}}"


def test_an_empty_sequence_holds_nothing_from_0_to_0() -> None:
    sequence = loaded(SimDisk())
    assert sequence.find(0) is None
    assert sequence.first_offset() == 0
    assert sequence.end_offset() == 0


@pytest.mark.parametrize("first_offset", [0, 3 * SIZE])
def test_every_offset_is_found_in_the_file_that_holds_it_and_no_other(first_offset: int) -> None:
    sequence = filled(SimDisk(), 3, first_offset)
    assert sequence.first_offset() == first_offset
    assert sequence.end_offset() == first_offset + 3 * SIZE
    for offset in range(first_offset - 2, first_offset + 3 * SIZE + 2):
        file = sequence.find(offset)
        if first_offset <= offset < first_offset + 3 * SIZE:
            assert file is not None
            assert file.first_offset <= offset < file.end_offset()
        else:
            assert file is None, offset


def test_files_are_named_by_their_first_offset_in_20_digits() -> None:
    disk = SimDisk()
    filled(disk, 2, 7 * SIZE)
    assert disk.list_directory(FOLDER) == ["00000000000000003584", "00000000000000004096"]


def test_loading_gives_what_was_made_bytes_and_all() -> None:
    disk = SimDisk()
    filled(disk, 3, SIZE)
    again = loaded(disk)
    assert offsets(again) == [SIZE, 2 * SIZE, 3 * SIZE]
    assert [bytes(file.view) for file in again.files] == [bytes([n]) * SIZE for n in (1, 2, 3)]
    assert not again.names_changed


def test_names_that_are_no_20_digits_are_left_alone() -> None:
    disk = SimDisk()
    filled(disk, 1)
    for name in ("lost+found.txt", "0000000000000000512", "0000000000000000051２", "x" * 20):
        put(disk, name, b"not ours")
    assert offsets(loaded(disk)) == [0]
    assert len(disk.list_directory(FOLDER)) == 5


def test_making_and_removing_is_remembered_until_someone_syncs_the_folder() -> None:
    disk = SimDisk()
    sequence = filled(disk, 3)
    assert sequence.names_changed
    sequence.names_changed = False
    sequence.remove_after(2 * SIZE)
    assert sequence.names_changed
    sequence.names_changed = False
    first = sequence.take_first()
    assert not sequence.names_changed
    sequence.remove(first)
    assert sequence.names_changed
    assert disk.list_directory(FOLDER) == [name_of(SIZE)]


def test_a_slice_of_a_removed_file_stays_valid() -> None:
    sequence = filled(SimDisk(), 2)
    held = sequence.files[0].slice(10, 20)
    first = sequence.take_first()
    sequence.remove(first)
    first.disk_file.sync()  # a sync that was under way may still end
    assert first.first_offset == 0
    assert bytes(held) == bytes([1]) * 20
    assert offsets(sequence) == [SIZE]


@pytest.mark.parametrize(
    ("offset", "left"),
    [(0, []), (1, [0]), (SIZE, [0]), (SIZE + 1, [0, SIZE]), (3 * SIZE, [0, SIZE, 2 * SIZE])],
)
def test_what_begins_at_or_after_an_offset_can_be_removed(offset: int, left: list[int]) -> None:
    disk = SimDisk()
    sequence = filled(disk, 3)
    sequence.remove_after(offset)
    assert offsets(sequence) == left
    assert disk.list_directory(FOLDER) == [name_of(first) for first in left]


@pytest.mark.parametrize(
    ("offset", "left"),
    [(0, 3), (SIZE - 1, 3), (SIZE, 2), (2 * SIZE - 1, 2), (2 * SIZE, 1), (9 * SIZE, 1)],
)
def test_what_ends_at_or_before_an_offset_is_taken_out_oldest_first_but_never_the_last(
    offset: int, left: int
) -> None:
    disk = SimDisk()
    sequence = filled(disk, 3)
    taken = sequence.take_below(offset)
    assert [file.first_offset for file in taken] == [0, SIZE, 2 * SIZE][: 3 - left]
    assert offsets(sequence) == [0, SIZE, 2 * SIZE][3 - left :]
    assert len(disk.list_directory(FOLDER)) == 3, "names are the caller's to remove"


@pytest.mark.parametrize(
    ("start", "end", "zeroed"),
    [(10, 20, 10), (SIZE - 5, SIZE + 5, 5), (SIZE, 3 * SIZE, SIZE), (10, 10, 0), (20, 10, 0)],
)
def test_a_tail_is_zeroed_as_far_as_it_was_written_and_only_in_its_file(
    start: int, end: int, zeroed: int
) -> None:
    sequence = filled(SimDisk(), 2)
    whole = bytearray(b"\1" * SIZE + b"\2" * SIZE)
    whole[start : start + zeroed] = bytes(zeroed)
    assert sequence.zero_tail(start, end, is_torn=False) is (zeroed > 0)
    assert b"".join(bytes(file.view) for file in sequence.files) == whole


def test_a_tail_that_a_crash_may_have_torn_is_zeroed_to_the_end_of_its_file() -> None:
    sequence = filled(SimDisk(), 2)
    assert sequence.zero_tail(10, 10, is_torn=True)
    assert bytes(sequence.files[0].view) == b"\1" * 10 + bytes(SIZE - 10)
    assert bytes(sequence.files[1].view) == b"\2" * SIZE
    assert not sequence.zero_tail(10, SIZE, is_torn=True), "nothing stands there any more"


@pytest.mark.parametrize("is_torn", [False, True])
def test_a_tail_behind_all_files_is_nothing(is_torn: bool) -> None:
    assert not filled(SimDisk(), 1).zero_tail(SIZE, 2 * SIZE, is_torn)


def test_closing_gives_up_the_files_and_leaves_their_names() -> None:
    disk = SimDisk()
    sequence = filled(disk, 2)
    disk_file = sequence.files[0].disk_file
    sequence.close()
    assert sequence.files == []
    with pytest.raises(ValueError, match="closed"):
        disk_file.sync()
    assert len(disk.list_directory(FOLDER)) == 2


# Loading what does not fit.


def test_a_file_of_another_size_is_named_and_left_alone() -> None:
    disk = SimDisk()
    filled(disk, 1)
    put(disk, name_of(SIZE), b"x" * (SIZE - 1))
    put(disk, name_of(2 * SIZE), b"y" * SIZE)
    with pytest.raises(CorruptFile, match="511 bytes where every file has 512") as caught:
        loaded(disk)
    assert caught.value.path == f"{FOLDER}/{name_of(SIZE)}"
    assert len(disk.list_directory(FOLDER)) == 3


def test_a_longer_file_is_named_even_if_it_is_empty_of_records() -> None:
    disk = SimDisk()
    put(disk, name_of(0), bytes(2 * SIZE))
    with pytest.raises(CorruptFile, match="1024 bytes"):
        loaded(disk)
    assert disk.exists(f"{FOLDER}/{name_of(0)}")


def test_a_name_that_is_no_multiple_of_the_size_is_named() -> None:
    disk = SimDisk()
    put(disk, name_of(SIZE + 1), bytes(SIZE))
    with pytest.raises(CorruptFile, match="no multiple of 512"):
        loaded(disk)


def test_a_missing_file_is_named_by_the_one_behind_it() -> None:
    disk = SimDisk()
    filled(disk, 4)
    disk.remove(f"{FOLDER}/{name_of(SIZE)}")
    with pytest.raises(CorruptFile, match="the file before it is missing") as caught:
        loaded(disk)
    assert caught.value.path == f"{FOLDER}/{name_of(2 * SIZE)}"
    assert name_of(SIZE) in caught.value.hint


@pytest.mark.parametrize("left", [0, 1, SIZE - 1])
def test_a_last_file_whose_making_was_cut_short_is_removed(left: int) -> None:
    disk = SimDisk()
    filled(disk, 2)
    put(disk, name_of(2 * SIZE), bytes(left))
    assert offsets(loaded(disk)) == [0, SIZE]
    assert not disk.exists(f"{FOLDER}/{name_of(2 * SIZE)}")


def test_a_short_last_file_that_holds_something_is_never_removed() -> None:
    """Whoever opens a store with a larger file size than it has would lose it."""
    disk = SimDisk()
    put(disk, name_of(0), bytes(SIZE - 2) + b"!")
    with pytest.raises(CorruptFile, match="511 bytes"):
        loaded(disk)
    assert disk.read(f"{FOLDER}/{name_of(0)}").endswith(b"!")


def test_a_short_file_of_many_blocks_is_looked_through_to_its_last_byte() -> None:
    disk = SimDisk()
    put(disk, name_of(0), bytes(3 << 20) + b"!")
    with pytest.raises(CorruptFile):
        FileSequence(disk, FOLDER, 4 << 20).load()
    put(disk, name_of(0), bytes((3 << 20) + 1))
    FileSequence(disk, FOLDER, 4 << 20).load()
    assert disk.list_directory(FOLDER) == []


def test_every_power_cut_while_a_file_is_made_leaves_files_that_load() -> None:
    disk = SimDisk()
    sequence = filled(disk, 1)
    sequence.files[0].disk_file.sync()
    disk.sync_directory(FOLDER)
    sequence.create(SIZE)
    states = 0
    for survivor in disk.crash_states():
        assert offsets(loaded(survivor)) in ([0], [0, SIZE]), survivor.origin
        states += 1
    assert states > 2


# Derived files after a crash.


@pytest.mark.parametrize("size", [0, 100, 2 * SIZE])
def test_what_does_not_fit_and_all_behind_it_goes_from_derived_files(size: int) -> None:
    disk = SimDisk()
    filled(disk, 4)
    disk.remove(f"{FOLDER}/{name_of(SIZE)}")
    put(disk, name_of(SIZE), b"x" * size)
    with pytest.raises(CorruptFile):
        sequence_on(disk).load_derived(is_torn=False)
    sequence = sequence_on(disk)
    sequence.load_derived(is_torn=True)
    assert offsets(sequence) == [0]
    assert disk.list_directory(FOLDER) == [name_of(0)]
    assert sequence.names_changed


def test_derived_files_that_all_fit_are_loaded_as_they_are() -> None:
    disk = SimDisk()
    filled(disk, 3, SIZE)
    sequence = sequence_on(disk)
    sequence.load_what_fits()
    assert offsets(sequence) == [SIZE, 2 * SIZE, 3 * SIZE]
    assert not sequence.names_changed


def test_unfit_files_go_newest_first_so_that_another_crash_leaves_no_hole() -> None:
    disk = SimDisk()
    filled(disk, 3)
    disk.remove(f"{FOLDER}/{name_of(0)}")
    put(disk, name_of(0), b"short")
    disk.faults.calls.clear()
    sequence_on(disk).load_what_fits()
    removed = [call.path[-NAME_DIGITS:] for call in disk.faults.calls if call.name == "remove"]
    assert removed == [name_of(2 * SIZE), name_of(SIZE), name_of(0)]
