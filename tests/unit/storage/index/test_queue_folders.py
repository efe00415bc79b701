import pytest

from aerobee.sim.disk import SimDisk
from aerobee.storage.index.queue_folders import (
    QUEUE_ID_MAX,
    is_folder_name,
    queue_folders,
    topic_byte_table,
    topic_folders,
)

ROOT = "store/consumequeue"


@pytest.mark.parametrize(
    "topic", [b"a", b"%RETRY%g", b"rmq_sys_X-1", b"a|b", b"x" * 255, b"a+b", b"0"]
)
def test_names_that_rocketmq_allows_are_folders(topic: bytes) -> None:
    assert is_folder_name(topic)


@pytest.mark.parametrize(
    "topic", [b"", b".", b"..", b"a/b", b"a\\b", b"a b", b"a\0", "ä".encode(), b"x" * 256, b"a.b"]
)
def test_names_that_could_be_a_path_are_none(topic: bytes) -> None:
    assert not is_folder_name(topic)


def test_queues_are_found_by_their_folders_and_other_names_are_left_alone() -> None:
    disk = SimDisk()
    for folder in ("a/0", f"a/{QUEUE_ID_MAX}", "%RETRY%g/7"):
        disk.make_directory(f"{ROOT}/{folder}")
    for other in (
        "not.a.topic/0",
        "a/x",
        f"a/{QUEUE_ID_MAX + 1}",
        "a/-1",
        "a/１",
        "a/²",
        "\udcff/0",
    ):
        disk.make_directory(f"{ROOT}/{other}")
    assert sorted(queue_folders(disk, ROOT)) == [
        (b"%RETRY%g", 7),
        (b"a", 0),
        (b"a", QUEUE_ID_MAX),
    ]
    assert sorted(topic_folders(disk, ROOT)) == ["%RETRY%g", "a"]


def test_where_no_folder_is_no_queue_is() -> None:
    assert list(queue_folders(SimDisk(), ROOT)) == []


def test_the_table_of_bytes_says_what_a_name_may_have() -> None:
    table = topic_byte_table()
    assert len(table) == 256
    for value in range(256):
        assert table[value] == is_folder_name(bytes([value]))
