"""All consume queues: found, made, loaded, counted, removed."""

import pytest

from aerobee.errors import CorruptFile, Misuse, StoreBusy
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.index.queue_folders import QUEUE_ID_MAX
from tests.pure import pure
from tests.store_kit import contents

FOLDER = "store/consumequeue"
FILE_UNITS = 4


def new_queues(disk: SimDisk) -> ConsumeQueues:
    return ConsumeQueues(disk, FOLDER, FILE_UNITS)


def fill(queues: ConsumeQueues, topic: bytes, queue_id: int, count: int, first: int = 0) -> None:
    queue = queues.find_or_make(topic, queue_id)
    for number in range(first, count):
        assert queue.append(number, 1000 * number, 100, 0)


def test_a_queue_is_made_once_and_found_again() -> None:
    disk = SimDisk()
    queues = new_queues(disk)
    assert queues.find(b"Orders", 1) is None
    queue = queues.find_or_make(b"Orders", 1)
    assert (queue.topic, queue.queue_id) == (b"Orders", 1)
    for topic, queue_id in [(b"Orders", 1), (b"Orders", 2), (b"Other", 1), (b"Orders", 1)]:
        found = queues.find_or_make(topic, queue_id)
        assert (found is queue) == (topic == b"Orders" and queue_id == 1)
        assert queues.find(topic, queue_id) is found
    assert contents(disk, FOLDER) == {}, "files are made by the first unit"


def test_files_lie_in_a_folder_for_each_topic_and_queue() -> None:
    disk = SimDisk()
    queues = new_queues(disk)
    fill(queues, b"%RETRY%group", 7, 5)
    assert list(contents(disk, FOLDER)) == [
        f"{FOLDER}/%RETRY%group/7/00000000000000000000",
        f"{FOLDER}/%RETRY%group/7/00000000000000000080",
    ]


def test_queues_are_listed_in_order_of_topic_and_id() -> None:
    queues = new_queues(SimDisk())
    for topic, queue_id in [(b"b", 0), (b"a", 10), (b"a", 2)]:
        queues.find_or_make(topic, queue_id)
    assert [(q.topic, q.queue_id) for q in queues.all()] == [(b"a", 2), (b"a", 10), (b"b", 0)]
    assert [q.queue_id for q in queues.of_topic(b"a")] == [2, 10]
    assert queues.of_topic(b"c") == []


def test_the_fingerprint_counts_queues_with_units_and_adds_their_ends_and_first_files() -> None:
    queues = new_queues(SimDisk())
    assert queues.fingerprint() == (0, 0, 0)
    fill(queues, b"a", 0, 3)
    fill(queues, b"a", 1, 7, 5)
    queues.find_or_make(b"empty", 0)
    assert queues.fingerprint() == (2, 10, 4)


# Names.


@pytest.mark.parametrize(
    "topic", [b"a", b"%RETRY%g", b"rmq_sys_X-1", b"a|b", b"x" * 255, b"a+b", b"0"]
)
def test_names_that_rocketmq_allows_are_folders(topic: bytes) -> None:
    new_queues(SimDisk()).find_or_make(topic, 0)


@pytest.mark.parametrize(
    "topic", [b"", b".", b"..", b"a/b", b"a\\b", b"a b", b"a\0", "ä".encode(), b"x" * 256, b"a.b"]
)
def test_names_that_could_be_a_path_are_refused(topic: bytes) -> None:
    with pytest.raises(Misuse, match="a topic may not be called"):
        new_queues(SimDisk()).find_or_make(topic, 0)


@pytest.mark.parametrize("queue_id", [-1, QUEUE_ID_MAX + 1, 2**31 - 1, -(2**31)])
def test_a_queue_id_that_nobody_uses_makes_no_folder(queue_id: int) -> None:
    queues = new_queues(SimDisk())
    with pytest.raises(Misuse, match=f"queue id {queue_id} is not in 0..4095"):
        queues.find_or_make(b"a", queue_id)
    assert queues.find(b"a", queue_id) is None
    assert queues.find_or_make(b"a", QUEUE_ID_MAX).queue_id == QUEUE_ID_MAX


# Loading and removing.


def test_what_was_written_is_loaded_and_other_names_are_left_alone() -> None:
    disk = SimDisk()
    queues = new_queues(disk)
    fill(queues, b"a", 0, 5)
    fill(queues, b"a", 12, 1)
    fill(queues, b"b", 3, 9)
    queues.close()
    for folder in ("not.a.topic/0", "a/x", "a/4096", "a/-1", "a/１"):
        disk.make_directory(f"{FOLDER}/{folder}")
    again = new_queues(disk)
    again.load(is_torn=False)
    found = [(queue.topic, queue.queue_id, queue.max_offset) for queue in again.all()]
    assert found == [(b"a", 0, 5), (b"a", 12, 1), (b"b", 3, 9)]
    assert again.fingerprint() == queues.fingerprint() == (3, 15, 0)


def test_a_short_file_is_refused_after_a_clean_stop_and_cut_after_a_crash() -> None:
    disk = SimDisk()
    fill(new_queues(disk), b"a", 0, 6)
    disk.replace(f"{FOLDER}/a/0/{80:020}", b"short")
    with pytest.raises(CorruptFile):
        new_queues(disk).load(is_torn=False)
    again = new_queues(disk)
    again.load(is_torn=True)
    assert again.fingerprint() == (1, 4, 0)


def test_a_removed_topic_leaves_no_files_and_begins_anew() -> None:
    disk = SimDisk()
    queues = new_queues(disk)
    fill(queues, b"a", 0, 6)
    fill(queues, b"a", 1, 1)
    queues.find_or_make(b"a", 2)
    fill(queues, b"b", 0, 1)
    assert queues.remove_topic(b"a") == [FOLDER]
    assert disk.list_directory(FOLDER) == ["b"]
    assert queues.find(b"a", 0) is None
    assert queues.fingerprint() == (1, 1, 0)
    fill(queues, b"a", 0, 2)
    assert queues.fingerprint() == (2, 3, 0)


def test_a_removed_topic_is_not_remembered_as_the_last_one_asked_for() -> None:
    queues = new_queues(SimDisk())
    before = queues.find_or_make(b"a", 0)
    queues.remove_topic(b"a")
    assert queues.find_or_make(b"a", 0) is not before


def test_removing_a_topic_that_never_had_a_unit_or_a_queue_is_fine() -> None:
    disk = SimDisk()
    queues = new_queues(disk)
    queues.find_or_make(b"a", 0)
    queues.remove_topic(b"a")
    queues.remove_topic(b"unknown")
    assert queues.all() == []


def test_clearing_removes_every_topic() -> None:
    disk = SimDisk()
    queues = new_queues(disk)
    for topic in (b"a", b"b"):
        fill(queues, topic, 0, 5)
    queues.clear()
    assert disk.list_directory(FOLDER) == []
    assert queues.all() == []


def test_closing_gives_up_the_files() -> None:
    queues = new_queues(SimDisk())
    fill(queues, b"a", 0, 5)
    disk_file = queues.all()[0].sequence.files[0].disk_file
    queues.close()
    with pytest.raises(ValueError, match="closed"):
        disk_file.sync()


def test_no_more_queues_are_made_than_may_be() -> None:
    queues = ConsumeQueues(SimDisk(), FOLDER, FILE_UNITS, count_max=2)
    first = queues.find_or_make(b"a", 0)
    queues.find_or_make(b"a", 1)
    for topic, queue_id in ((b"a", 2), (b"b", 0)):
        with pytest.raises(StoreBusy, match="2 queues already"):
            queues.find_or_make(topic, queue_id)
        assert queues.find(topic, queue_id) is None
    assert queues.find_or_make(b"a", 0) is first
    queues.remove_topic(b"a")
    queues.find_or_make(b"b", 0)
    queues.find_or_make(b"c", 0)
    with pytest.raises(StoreBusy):
        queues.find_or_make(b"d", 0)
    queues.take_topic(b"b")
    queues.find_or_make(b"d", 0)
    queues.take_topic(b"d")
    queues.find_or_make(b"d", 1)  # of a topic that is leaving: forgotten when it has left
    queues.let_in(b"d")
    queues.find_or_make(b"e", 0)


def test_queues_that_were_there_are_loaded_however_many() -> None:
    disk = SimDisk()
    before = new_queues(disk)
    for number in range(3):
        fill(before, b"a", number, 1)
    after = ConsumeQueues(disk, FOLDER, FILE_UNITS, count_max=2)
    after.load(is_torn=False)
    assert len(after.all()) == 3
    with pytest.raises(StoreBusy, match="3 queues already"):
        after.find_or_make(b"a", 3)


# What only compiled modules call: on the uncompiled twin.


def test_a_topic_that_stands_in_a_memory_finds_its_queue() -> None:
    twin = pure("aerobee.storage.index.consume_queues")
    queues = twin.ConsumeQueues(SimDisk(), FOLDER, FILE_UNITS)
    memory = memoryview(b"..OrdersOrderz..")
    orders = queues.at(memory, 2, 6, 3)
    assert (orders.topic, orders.queue_id) == (b"Orders", 3)
    assert queues.at(memory, 2, 6, 3) is orders
    assert queues.at(memory, 2, 6, 4) is not orders
    assert queues.at(memory, 2, 6, 3) is orders
    assert queues.at(memory, 8, 6, 3).topic == b"Orderz"
    assert queues.at(memory, 2, 5, 3).topic == b"Order"
    assert queues.find(b"Orders", 3) is orders


def test_the_queue_of_a_record_that_is_stored_is_made_however_many_there_are() -> None:
    twin = pure("aerobee.storage.index.consume_queues")
    queues = twin.ConsumeQueues(SimDisk(), FOLDER, FILE_UNITS, count_max=0)
    assert queues.at(memoryview(b"Orders"), 0, 6, 3).topic == b"Orders"


def test_of_a_topic_that_was_deleted_an_empty_queue_that_came_far_may_be_of_its_next_life() -> None:
    disk = SimDisk()
    before = new_queues(disk)
    fill(before, b"Dead", 0, 3)
    fill(before, b"Alive", 0, 6)
    queues = ConsumeQueues(disk, FOLDER, FILE_UNITS, {b"Dead": 5000, b"Alive": 5000})
    queues.load(is_torn=False)
    queues.find_or_make(b"Dead", 1)  # of dead records, from which it gets nothing
    for queue in queues.all():
        queue.drop_below(5500)  # the log begins behind all of them
    queues.find_or_make(b"Alive", 1).begin_at(7)
    assert queues.take_dead() == [f"{FOLDER}/Dead/1"]
    fresh = ConsumeQueues(disk, FOLDER, FILE_UNITS, {b"Dead": 5000, b"Alive": 5000})
    fresh.load(is_torn=False)
    assert fresh.take_dead() == [f"{FOLDER}/Dead/0"]
    assert [(queue.topic, queue.max_offset) for queue in fresh.all()] == [
        (b"Alive", 6),
        (b"Alive", 7),
    ]


def test_a_topic_that_is_taken_out_begins_anew_beside_its_files() -> None:
    disk = SimDisk()
    queues = ConsumeQueues(disk, FOLDER, FILE_UNITS, {b"Gone": 5000})
    fill(queues, b"Kept", 0, 6)
    gone = queues.find_or_make(b"Gone", 0)
    gone.append(0, 6000, 100, 0)
    assert queues.take_topic(b"Gone") == [gone]
    assert gone.max_offset == 1, "whoever took it may look at it"
    assert queues.find(b"Gone", 0) is None
    made = queues.find_or_make(b"Gone", 0)
    assert made.is_leaving
    assert (made.next_offset, made.born_at) == (0, 5000)
    assert not queues.find_or_make(b"Kept", 0).is_leaving
    made.next_offset = 3
    queues.find_or_make(b"Gone", 1)
    queues.let_in(b"Gone")
    assert queues.of_topic(b"Gone") == [made], "one that was never used goes"
    assert not made.is_leaving
    assert not queues.find_or_make(b"Gone", 1).is_leaving


def test_where_a_topic_was_deleted_is_known_by_its_name() -> None:
    deleted = {b"Gone": 5000}
    queues = ConsumeQueues(SimDisk(), FOLDER, FILE_UNITS, deleted)
    assert (queues.born_at(b"Gone"), queues.born_at(b"Kept")) == (5000, 0)
    deleted[b"Kept"] = 7000
    assert queues.born_at(b"Kept") == 7000


def test_while_a_topic_is_leaving_that_is_known() -> None:
    queues = new_queues(SimDisk())
    assert not queues.has_leaving()
    queues.find_or_make(b"Gone", 0)
    queues.take_topic(b"Gone")
    assert queues.has_leaving()
    queues.let_in(b"Gone")
    assert not queues.has_leaving()
