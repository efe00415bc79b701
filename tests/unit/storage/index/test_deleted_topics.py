"""The note of deleted topics: its bytes, damage in it, and how it is made to fit a log."""

import pytest

from aerobee.errors import CorruptFile
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.deleted_topics import DeletedTopics

PATH = "store/deleted_topics"


def test_without_a_file_nothing_was_deleted() -> None:
    assert DeletedTopics.load(SimDisk(), "store").offsets == {}


def test_what_is_saved_is_loaded_even_after_a_power_cut() -> None:
    disk = SimDisk()
    deleted = DeletedTopics(disk, "store", {b"b": 7, b"%RETRY%a": 1 << 50})
    deleted.save(deleted.encode())
    assert disk.read(PATH) == b"1125899906842624 %RETRY%a\n7 b\n"
    assert DeletedTopics.load(disk.power_cut(), "store").offsets == deleted.offsets


@pytest.mark.parametrize("line", [b"7", b"x b", b" b", b"-1 b", b"7 ../b", b"9" * 20 + b" b"])
def test_a_line_that_names_no_topic_is_reported(line: bytes) -> None:
    disk = SimDisk()
    disk.replace(PATH, b"1 a\n" + line + b"\n")
    with pytest.raises(CorruptFile, match="names no topic"):
        DeletedTopics.load(disk, "store")


def test_an_offset_beyond_the_end_of_the_log_is_brought_back_to_it() -> None:
    deleted = DeletedTopics(SimDisk(), "store", {b"a": 100, b"b": 300})
    assert not deleted.fit_to(300)
    assert deleted.fit_to(200)
    assert deleted.offsets == {b"a": 100, b"b": 200}


def test_topics_of_which_the_log_holds_nothing_are_forgotten() -> None:
    deleted = DeletedTopics(SimDisk(), "store", {b"a": 100, b"b": 101})
    deleted.forget_before(100, {b"a"})
    assert deleted.offsets == {b"a": 100, b"b": 101}
    deleted.forget_before(100)
    assert deleted.offsets == {b"b": 101}
