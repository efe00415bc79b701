"""Kept files by queue: the newest counts, what a stop left goes, deleted topics stay deleted."""

import pytest

from aerobee.errors import CorruptFile
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.kept_file import KeptFile, KeptFileWriter, KeptHead
from aerobee.storage.index.kept_files import KeptFiles

DIRECTORY = "store/compacted"


def put(
    disk: SimDisk, topic: bytes, queue_id: int, end: int, log_end: int = 1000, suffix: str = ""
) -> KeptFile:
    path = KeptFiles(disk, DIRECTORY).path(topic, queue_id, end) + suffix
    return KeptFileWriter(disk, path, KeptHead(end, log_end, 0, 0, 0)).finish()


def loaded(disk: SimDisk, born_at: dict[bytes, int] | None = None) -> KeptFiles:
    files = KeptFiles(disk, DIRECTORY, born_at or {})
    files.load()
    return files


def test_the_file_with_the_highest_end_counts() -> None:
    disk = SimDisk()
    for end in (9, 100, 20):
        put(disk, b"Prices", 3, end)
    put(disk, b"Names", 0, 7)
    files = loaded(disk)
    assert [(topic, number, file.end) for topic, number, file in files.all()] == [
        (b"Names", 0, 7),
        (b"Prices", 3, 100),
    ]
    assert files.find(b"Prices", 0) is None


def test_unfinished_and_older_files_go_and_the_newest_stays() -> None:
    disk = SimDisk()
    for end in (9, 100):
        put(disk, b"Prices", 3, end)
    put(disk, b"Prices", 3, 200, suffix=".new")
    put(disk, b"Prices", 4, 5, suffix=".new")
    files = loaded(disk)
    assert [file.end for _, _, file in files.all()] == [100]
    files.tidy()
    assert disk.list_directory(f"{DIRECTORY}/Prices/3") == ["00000000000000000100"]
    assert disk.list_directory(f"{DIRECTORY}/Prices/4") == []


def test_names_of_others_are_left_alone() -> None:
    disk = SimDisk()
    put(disk, b"Prices", 3, 9)
    disk.replace(f"{DIRECTORY}/Prices/3/notes", b"mine")
    disk.replace(f"{DIRECTORY}/Prices/x/00000000000000000001", b"mine")
    disk.replace(f"{DIRECTORY}/a b/0/00000000000000000001", b"mine")
    files = loaded(disk)
    files.tidy()
    assert len(files.all()) == 1
    assert disk.exists(f"{DIRECTORY}/Prices/3/notes")
    assert disk.exists(f"{DIRECTORY}/a b/0/00000000000000000001")


def test_damage_is_said_and_nothing_is_removed() -> None:
    disk = SimDisk()
    put(disk, b"Prices", 3, 9)
    put(disk, b"Prices", 3, 10).view[20] ^= 1
    with pytest.raises(CorruptFile):
        loaded(disk)
    assert len(disk.list_directory(f"{DIRECTORY}/Prices/3")) == 2


def test_a_file_that_takes_the_place_of_another_hands_that_one_out() -> None:
    disk = SimDisk()
    files = KeptFiles(disk, DIRECTORY)
    first, second = put(disk, b"Prices", 3, 9), put(disk, b"Prices", 3, 10)
    assert files.put(b"Prices", 3, first) is None
    assert files.put(b"Prices", 3, second) is first
    assert files.find(b"Prices", 3) is second


def test_a_topic_is_forgotten_with_all_of_its_queues() -> None:
    disk = SimDisk()
    for queue_id in (0, 1):
        put(disk, b"Prices", queue_id, 9)
        put(disk, b"Names", queue_id, 9)
    files = loaded(disk)
    assert files.take_topic(b"Prices") == [f"{DIRECTORY}/Prices/{number}" for number in (0, 1)]
    assert {topic for topic, _, _ in files.all()} == {b"Names"}
    assert files.take_topic(b"Prices") == []


def test_what_ends_before_its_topic_was_deleted_is_dead() -> None:
    disk = SimDisk()
    put(disk, b"Old", 0, 9, log_end=1000)
    put(disk, b"New", 0, 9, log_end=1001)
    files = loaded(disk, {b"Old": 1000, b"New": 1000})
    assert files.take_dead() == [f"{DIRECTORY}/Old/0"]
    assert [topic for topic, _, _ in files.all()] == [b"New"]
