"""The contract of the disk, held by the real one and the pretended one alike."""

import errno
import gc
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from aerobee.ports.disk import Disk
from aerobee.sim.disk import SimDisk
from aerobee.system.disk import MappedDisk


class Place(NamedTuple):
    disk: Disk
    root: str


@pytest.fixture(params=["mapped", "sim"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    disk: Disk = MappedDisk() if request.param == "mapped" else SimDisk()
    root = str(tmp_path)
    disk.make_directory(root)
    return Place(disk, root)


def test_a_new_file_is_all_zeros_and_of_its_size(place: Place) -> None:
    file = place.disk.create(f"{place.root}/a", 10_000)
    assert file.path == f"{place.root}/a"
    assert bytes(file.view) == bytes(10_000)
    assert place.disk.size(f"{place.root}/a") == 10_000
    assert not file.view.readonly


def test_what_is_written_to_a_file_is_seen_in_its_view_and_the_other_way_round(
    place: Place,
) -> None:
    file = place.disk.create(f"{place.root}/a", 10_000)
    file.view[4000:4200] = b"a" * 200
    file.write(4100, memoryview(b"b" * 5000))
    file.view[9000:9200] = b"c" * 200
    expected = bytes(4000) + b"a" * 100 + b"b" * 4900 + b"c" * 200 + bytes(800)
    assert bytes(file.view) == expected
    assert place.disk.read(f"{place.root}/a") == expected


def test_nothing_is_written_behind_the_end_of_a_file(place: Place) -> None:
    file = place.disk.create(f"{place.root}/a", 100)
    for position in (-1, 91, 100, 1000):
        with pytest.raises(ValueError, match="not inside"):
            file.write(position, memoryview(b"0123456789"))
    assert bytes(file.view) == bytes(100)
    assert place.disk.size(f"{place.root}/a") == 100


def test_a_file_without_its_name_refuses_a_write(place: Place) -> None:
    file = place.disk.create(f"{place.root}/a", 100)
    place.disk.remove(f"{place.root}/a")
    with pytest.raises(FileNotFoundError):
        file.write(0, memoryview(b"late"))


def test_creating_makes_the_folders_on_the_way(place: Place) -> None:
    place.disk.create(f"{place.root}/x/y/a", 10)
    assert place.disk.list_directory(f"{place.root}/x") == ["y"]
    assert place.disk.list_directory(f"{place.root}/x/y") == ["a"]


def test_creating_refuses_a_path_that_exists_and_leaves_it_alone(place: Place) -> None:
    place.disk.replace(f"{place.root}/a", b"old")
    with pytest.raises(FileExistsError):
        place.disk.create(f"{place.root}/a", 10)
    assert place.disk.read(f"{place.root}/a") == b"old"


def test_a_file_of_no_bytes_can_be_neither_created_nor_mapped(place: Place) -> None:
    with pytest.raises(OSError, match="bytes") as refusal:
        place.disk.create(f"{place.root}/a", 0)
    assert refusal.value.errno == errno.EINVAL
    assert not place.disk.exists(f"{place.root}/a")
    place.disk.replace(f"{place.root}/empty", b"")
    with pytest.raises(OSError, match="cannot map 0 bytes"):
        place.disk.open(f"{place.root}/empty")


def test_a_sparse_file_has_its_size_and_all_zeros_but_no_room(place: Place) -> None:
    path = f"{place.root}/x/sparse"
    file = place.disk.create_sparse(path, 6_000_000)
    assert place.disk.size(path) == 6_000_000
    assert not any(file.view[::4096])
    with pytest.raises(FileExistsError):
        place.disk.create_sparse(path, 6_000_000)
    with pytest.raises(OSError, match="bytes"):
        place.disk.create_sparse(f"{place.root}/x/nothing", 0)
    assert place.disk.list_directory(f"{place.root}/x") == ["sparse"]


def test_what_was_reserved_can_be_written_and_is_found_as_data(place: Place) -> None:
    path = f"{place.root}/sparse"
    file = place.disk.create_sparse(path, 1_000_000)
    assert file.find_data(0) == (1_000_000, 1_000_000)
    file.reserve(400_000, 500_000)
    file.reserve(450_000, 450_000)
    file.view[450_000:450_003] = b"abc"
    begin, end = file.find_data(0)
    # A file system may answer in larger blocks, but not beyond what was reserved.
    assert 396_000 <= begin <= 450_000 < 450_003 <= end <= 504_000
    assert file.find_data(450_001)[0] == 450_001
    assert file.find_data(end) == (1_000_000, 1_000_000)
    assert file.find_data(1_000_000) == (1_000_000, 1_000_000)
    again = place.disk.open_sparse(path)
    assert again.find_data(0) == (begin, end)
    assert bytes(again.view[450_000:450_003]) == b"abc"


def test_data_at_the_very_end_of_a_file_is_found_and_ends_with_it(place: Place) -> None:
    file = place.disk.create_sparse(f"{place.root}/sparse", 100_001)
    file.reserve(0, 100_001)
    file.view[100_000] = 1
    begin, end = file.find_data(0)
    assert begin <= 100_000
    assert end == 100_001


def test_room_and_data_are_asked_for_inside_the_file(place: Place) -> None:
    file = place.disk.create_sparse(f"{place.root}/sparse", 100)
    for start, end in ((-1, 10), (20, 10), (0, 101)):
        with pytest.raises(ValueError, match="not inside"):
            file.reserve(start, end)
    with pytest.raises(ValueError, match="not inside"):
        file.find_data(101)


def test_everything_can_be_synced_at_once(place: Place) -> None:
    place.disk.create_sparse(f"{place.root}/x/y/sparse", 100)
    place.disk.sync_all(place.root)
    place.disk.sync_all(f"{place.root}/x/y/sparse")


def test_a_file_without_its_name_gets_no_room(place: Place) -> None:
    file = place.disk.create_sparse(f"{place.root}/sparse", 10_000)
    place.disk.remove(f"{place.root}/sparse")
    with pytest.raises(FileNotFoundError):
        file.reserve(0, 10_000)


def test_what_one_handle_writes_another_reads(place: Place) -> None:
    writer = place.disk.create(f"{place.root}/a", 100)
    reader = place.disk.open(f"{place.root}/a")
    writer.view[3:6] = b"abc"
    assert bytes(reader.view[3:6]) == b"abc"
    assert place.disk.read(f"{place.root}/a") == bytes(3) + b"abc" + bytes(94)


def test_a_slice_outlives_the_handle_and_the_name(place: Place) -> None:
    file = place.disk.create(f"{place.root}/a", 8192)
    file.view[5000:5003] = b"abc"
    part = file.view[5000:5003]
    place.disk.remove(f"{place.root}/a")
    file.close()
    del file
    gc.collect()
    assert bytes(part) == b"abc"
    part[0:1] = b"z"
    assert bytes(part) == b"zbc"


def test_a_closed_file_gives_no_view_and_no_sync(place: Place) -> None:
    file = place.disk.create(f"{place.root}/a", 10)
    file.close()
    with pytest.raises(ValueError, match="closed"):
        _ = file.view
    with pytest.raises(ValueError, match="closed"):
        file.sync()
    with pytest.raises(ValueError, match="closed"):
        file.warm(0, 10)
    with pytest.raises(ValueError, match="closed"):
        file.is_resident(0, 10)
    file.close()


def test_a_file_can_be_synced_again_and_after_its_name_is_gone(place: Place) -> None:
    file = place.disk.create(f"{place.root}/a", 5000)
    file.view[0:1] = b"x"
    file.sync()
    file.sync()
    place.disk.rename(f"{place.root}/a", f"{place.root}/b")
    file.sync()
    place.disk.remove(f"{place.root}/b")
    file.sync()


def test_warming_leaves_every_byte_as_it_was(place: Place) -> None:
    file = place.disk.create(f"{place.root}/a", 20_000)
    content = bytes(index % 251 for index in range(20_000))
    file.view[:] = content
    file.warm(0, 20_000)
    file.warm(4097, 12_001)
    file.warm(77, 77)
    assert bytes(file.view) == content


def test_what_was_just_written_is_resident(place: Place) -> None:
    file = place.disk.create(f"{place.root}/a", 20_000)
    file.view[4000:9000] = bytes(5000)
    assert file.is_resident(4000, 9000)
    assert file.is_resident(20_000, 20_000)


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (6, 5), (0, 101), (101, 101)])
def test_a_range_outside_the_file_is_refused(place: Place, start: int, end: int) -> None:
    file = place.disk.create(f"{place.root}/a", 100)
    with pytest.raises(ValueError, match="not inside"):
        file.warm(start, end)
    with pytest.raises(ValueError, match="not inside"):
        file.is_resident(start, end)


def test_what_is_not_there_is_said_to_be_missing(place: Place) -> None:
    missing = f"{place.root}/no"
    assert not place.disk.exists(missing)
    assert place.disk.list_directory(missing) == []
    calls: list[Callable[[], object]] = [
        lambda: place.disk.open(missing),
        lambda: place.disk.size(missing),
        lambda: place.disk.read(missing),
        lambda: place.disk.remove(missing),
        lambda: place.disk.rename(missing, f"{place.root}/b"),
        lambda: place.disk.sync_directory(missing),
        lambda: place.disk.remove_directory(missing),
        lambda: place.disk.drop_cache(missing),
        lambda: place.disk.space(missing),
    ]
    for call in calls:
        with pytest.raises(FileNotFoundError):
            call()


def test_files_and_folders_exist_and_are_listed_in_order(place: Place) -> None:
    place.disk.replace(f"{place.root}/b", b"1")
    place.disk.replace(f"{place.root}/a", b"1")
    place.disk.make_directory(f"{place.root}/c/d")
    place.disk.make_directory(f"{place.root}/c/d")
    assert place.disk.exists(f"{place.root}/a")
    assert place.disk.exists(f"{place.root}/c")
    assert place.disk.list_directory(place.root) == ["a", "b", "c"]
    assert place.disk.list_directory(f"{place.root}/") == ["a", "b", "c"]
    place.disk.sync_directory(place.root)
    place.disk.sync_directory(f"{place.root}/c/")


def test_a_file_is_no_folder_and_a_folder_no_file(place: Place) -> None:
    place.disk.replace(f"{place.root}/a", b"1")
    place.disk.make_directory(f"{place.root}/c")
    with pytest.raises(NotADirectoryError):
        place.disk.list_directory(f"{place.root}/a")
    with pytest.raises(FileExistsError):
        place.disk.make_directory(f"{place.root}/a")
    with pytest.raises(IsADirectoryError):
        place.disk.open(f"{place.root}/c")
    with pytest.raises(IsADirectoryError):
        place.disk.replace(f"{place.root}/c", b"1")


def test_replacing_takes_the_whole_file_and_leaves_no_draft(place: Place) -> None:
    for content in (b"first", b"2", b"", b"x" * 100_000):
        place.disk.replace(f"{place.root}/sub/a", content)
        assert place.disk.read(f"{place.root}/sub/a") == content
        assert place.disk.list_directory(f"{place.root}/sub") == ["a"]


def test_a_replaced_file_keeps_its_bytes_for_those_who_mapped_it(place: Place) -> None:
    place.disk.replace(f"{place.root}/a", b"old")
    file = place.disk.open(f"{place.root}/a")
    place.disk.replace(f"{place.root}/a", b"new")
    assert bytes(file.view) == b"old"
    assert bytes(place.disk.open(f"{place.root}/a").view) == b"new"


def test_a_rename_takes_the_place_of_its_target(place: Place) -> None:
    place.disk.replace(f"{place.root}/a", b"1")
    place.disk.replace(f"{place.root}/sub/b", b"2")
    place.disk.rename(f"{place.root}/a", f"{place.root}/sub/b")
    assert place.disk.read(f"{place.root}/sub/b") == b"1"
    assert not place.disk.exists(f"{place.root}/a")
    with pytest.raises(FileNotFoundError):
        place.disk.rename(f"{place.root}/sub/b", f"{place.root}/nowhere/b")


def test_only_an_empty_folder_can_be_removed(place: Place) -> None:
    place.disk.replace(f"{place.root}/sub/a", b"1")
    with pytest.raises(OSError, match=r"(?i)not empty"):
        place.disk.remove_directory(f"{place.root}/sub")
    place.disk.remove(f"{place.root}/sub/a")
    place.disk.remove_directory(f"{place.root}/sub")
    assert not place.disk.exists(f"{place.root}/sub")


def test_dropping_the_cache_loses_nothing_that_can_be_written(place: Place) -> None:
    file = place.disk.create(f"{place.root}/a", 8192)
    file.view[:] = b"x" * 8192
    file.close()
    del file
    place.disk.drop_cache(f"{place.root}/a")
    assert bytes(place.disk.open(f"{place.root}/a").view) == b"x" * 8192


def test_space_counts_what_is_free(place: Place) -> None:
    space = place.disk.space(place.root)
    assert 0 <= space.free_bytes <= space.total_bytes
    assert space.total_bytes > 0


def test_a_lock_has_one_holder_at_a_time(place: Place) -> None:
    path = f"{place.root}/store/lock"
    lock = place.disk.lock(path)
    with pytest.raises(BlockingIOError):
        place.disk.lock(path)
    lock.release()
    lock.release()
    assert place.disk.read(path) == b"lock"
    again = place.disk.lock(path)
    lock.release()
    with pytest.raises(BlockingIOError):
        place.disk.lock(path)
    again.release()
