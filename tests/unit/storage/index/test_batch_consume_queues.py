"""All batch consume queues: found, made by a record that is a batch, loaded, forgotten."""

import pytest

from aerobee.errors import CorruptFile, Misuse
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.batch_consume_queue import UNIT_BYTES
from aerobee.storage.index.batch_consume_queues import BatchConsumeQueues
from tests.store_kit import contents, properties

FOLDER = "store/batchconsumequeue"
FILE_UNITS = 2


def new_queues(disk: SimDisk) -> BatchConsumeQueues:
    return BatchConsumeQueues(disk, FOLDER, FILE_UNITS)


def append(
    queues: BatchConsumeQueues,
    log_offset: int,
    base: str,
    count: str,
    topic: bytes = b"Batches",
    queue_id: int = 0,
) -> None:
    text = properties(a="b", INNER_BASE=base, INNER_NUM=count)
    queues.append(topic, queue_id, log_offset, 100, 7, 1_700_000_000_000, text)


def bounds(queues: BatchConsumeQueues, topic: bytes, queue_id: int) -> tuple[int, int]:
    queue = queues.find(topic, queue_id)
    assert queue is not None
    return queue.min_offset, queue.max_offset


def test_a_queue_is_made_by_its_first_batch_and_holds_its_numbers() -> None:
    queues = new_queues(SimDisk())
    assert queues.find(b"Batches", 0) is None
    append(queues, 0, "0", "3")
    append(queues, 100, "3", "2")
    queue = queues.find(b"Batches", 0)
    assert queue is not None
    assert queue.find(4) == (100, 100, 7, 1_700_000_000_000, 3, 2)
    assert (queue.topic, queue.queue_id) == (b"Batches", 0)
    assert queues.find(b"Batches", 1) is None


@pytest.mark.parametrize(
    ("base", "count"),
    [
        ("", "1"),
        ("0", ""),
        ("x", "1"),
        ("0", "-1"),
        ("1e3", "1"),
        ("9" * 5000, "1"),
        ("0", "9" * 20),
    ],
)
def test_a_record_that_only_claims_to_be_a_batch_gets_no_unit(base: str, count: str) -> None:
    disk = SimDisk()
    queues = new_queues(disk)
    append(queues, 0, base, count)
    queues.append(b"Batches", 0, 100, 100, 0, 0, b"")
    assert contents(disk, FOLDER) == {}


def test_queues_are_listed_in_order_of_topic_and_id() -> None:
    queues = new_queues(SimDisk())
    for number, (topic, queue_id) in enumerate([(b"b", 0), (b"a", 10), (b"a", 2)]):
        append(queues, 100 * number, "0", "1", topic, queue_id)
    assert [(q.topic, q.queue_id) for q in queues.all()] == [(b"a", 2), (b"a", 10), (b"b", 0)]


def test_what_was_written_is_loaded_and_other_folders_are_left_alone() -> None:
    disk = SimDisk()
    queues = new_queues(disk)
    for number in range(5):
        append(queues, 100 * number, str(3 * number), "3")
    append(queues, 500, "0", "4", b"%RETRY%g", 4095)
    queues.close()
    disk.make_directory(f"{FOLDER}/not.a.topic/0")
    disk.make_directory(f"{FOLDER}/Batches/x")
    disk.make_directory(f"{FOLDER}/Batches/4096")
    again = new_queues(disk)
    again.load(is_torn=False)
    assert [(q.topic, q.queue_id) for q in again.all()] == [(b"%RETRY%g", 4095), (b"Batches", 0)]
    assert bounds(again, b"Batches", 0) == (0, 15)
    assert bounds(again, b"%RETRY%g", 4095) == (0, 4)


def test_a_short_file_is_refused_after_a_clean_stop_and_cut_after_a_crash() -> None:
    disk = SimDisk()
    queues = new_queues(disk)
    for number in range(3):
        append(queues, 100 * number, str(number), "1")
    path = f"{FOLDER}/Batches/0/{FILE_UNITS * UNIT_BYTES:020}"
    disk.replace(path, b"short")
    with pytest.raises(CorruptFile):
        new_queues(disk).load(is_torn=False)
    again = new_queues(disk)
    again.load(is_torn=True)
    assert bounds(again, b"Batches", 0) == (0, 2)
    assert not disk.exists(path)


def test_clearing_forgets_queues_and_files() -> None:
    disk = SimDisk()
    queues = new_queues(disk)
    append(queues, 0, "0", "3")
    queues.clear()
    assert queues.all() == []
    assert contents(disk, FOLDER) == {}


def test_closing_gives_up_the_files() -> None:
    queues = new_queues(SimDisk())
    append(queues, 0, "0", "3")
    disk_file = queues.all()[0].sequence.files[0].disk_file
    queues.close()
    with pytest.raises(ValueError, match="closed"):
        disk_file.sync()


def test_a_topic_that_is_no_folder_name_makes_no_queue() -> None:
    disk = SimDisk()
    queues = BatchConsumeQueues(disk, "batches", 8)
    text = properties(INNER_BASE="0", INNER_NUM="2")
    with pytest.raises(Misuse, match="may not be called"):
        queues.append(b"../out", 0, 0, 100, 0, 0, text)
    assert disk.files() == {}
