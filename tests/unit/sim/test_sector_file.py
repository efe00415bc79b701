import pytest

from aerobee.sim.sector_file import (
    LENGTH,
    SECTOR_BYTES,
    SectorFile,
    SectorWrite,
    WriteIntoHole,
)


def _synced(size: int) -> SectorFile:
    file = SectorFile.create(size, 0)
    file.sync()
    return file


def test_a_look_finds_the_sectors_that_changed_and_no_others() -> None:
    file = _synced(10_000)
    cache = file.map()
    cache[511:513] = b"ab"  # the last byte of sector 0, the first of sector 1
    cache[9_999] = 7  # in the last, short sector
    assert file.observe(40) == 43
    assert file.observe(43) == 43
    assert [(write.moment, write.sector) for write in file.writes] == [(40, 0), (41, 1), (42, 19)]
    assert file.writes[1].content == b"b" + bytes(511)
    assert file.writes[2].content == bytes(10_000 - 19 * 512 - 1) + b"\7"


def test_each_look_makes_a_version_and_the_later_one_counts() -> None:
    file = _synced(1024)
    for value in (1, 2):
        file.map()[0] = value
        file.observe(value)
    first, second = file.writes
    assert file.image_after([])[0] == 0
    assert file.image_after([first])[0] == 1
    assert file.image_after([first, second])[0] == 2


def test_the_length_of_a_new_file_waits_for_a_sync() -> None:
    file = SectorFile.create(2048, 5)
    assert file.writes == [SectorWrite(5, LENGTH, b"")]
    assert file.has_new_length()
    assert file.image_after([]) == b""
    assert file.image_after([], short=1024) == bytes(1024)
    assert file.image_after(file.writes) == bytes(2048)
    file.sync()
    assert not file.has_new_length()
    assert file.image_after([]) == bytes(2048)


def test_bytes_lost_by_a_failed_sync_stay_in_the_cache_and_never_reach_the_disk() -> None:
    file = _synced(2048)
    file.map()[0:3] = b"abc"
    file.observe(1)
    file.lose_writes()
    file.sync()
    assert file.content()[:3] == b"abc"
    assert file.disk == bytes(2048)
    file.map()[600] = 1
    file.observe(2)
    file.sync()
    assert file.disk[:3] == bytes(3)
    assert file.disk[600] == 1
    file.drop_cache()
    assert file.content()[:3] == bytes(3)


def test_a_sector_that_is_written_again_takes_its_lost_bytes_along() -> None:
    file = _synced(2048)
    file.map()[0:3] = b"abc"
    file.observe(1)
    file.lose_writes()
    file.map()[3] = ord("d")
    file.observe(2)
    file.sync()
    assert file.disk[:4] == b"abcd"


def test_dropping_the_cache_leaves_mapped_pages_alone() -> None:
    file = _synced(2048)
    view = memoryview(file.map())
    view[0:3] = b"abc"
    file.observe(1)
    file.lose_writes()
    file.drop_cache()
    assert file.content()[:3] == b"abc"
    view.release()
    file.drop_cache()
    assert file.content()[:3] == bytes(3)


def test_a_copy_shares_nothing_that_changes() -> None:
    file = _synced(SECTOR_BYTES)
    file.map()[0] = 1
    file.observe(1)
    twin = file.copy()
    twin.map()[0] = 2
    twin.observe(2)
    twin.sync()
    assert file.content()[0] == 1
    assert file.disk[0] == 0
    assert len(file.writes) == 1
    assert twin.disk[0] == 2


def test_the_last_change_holds_what_it_overwrote() -> None:
    file = _synced(2048)
    file.map()[0:4] = b"abcd"
    file.observe(1)
    file.map()[2:6] = b"wxyz"
    file.observe(2)
    change = file.last_change
    assert change is not None
    assert (change.moment, change.start) == (2, 0)
    assert change.before[:6] == b"abcd\0\0"
    assert change.after[:6] == b"abwxyz"
    file.sync()
    assert file.last_change is None


def test_a_look_that_finds_a_write_into_a_hole_says_so() -> None:
    file = SectorFile.create(10_000, 0, is_sparse=True)
    assert file.holes == {0, 1, 2}
    assert file.room_bytes() == 0
    file.holes -= file.holes_in(4096, 4097)
    assert file.holes == {0, 2}
    file.map()[8191] = 1
    file.observe(1)
    file.map()[8192] = 1
    with pytest.raises(WriteIntoHole):
        file.observe(2)


def test_only_what_is_not_zero_has_room_after_a_power_cut() -> None:
    file = SectorFile.create(10_000, 0, is_sparse=True)
    file.holes.clear()
    file.map()[9_999] = 1
    file.observe(1)
    file.sync()
    twin = file.copy()
    assert (twin.is_sparse, twin.holes) == (True, set())
    file.make_sparse()
    assert file.holes == {0, 1}
    assert file.room_bytes() == 10_000 - 2 * 4096
