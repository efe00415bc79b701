"""Deleting topics: what is hidden at once, what goes later, and in which order."""

import errno

import pytest

from aerobee.errors import StoreBusy
from aerobee.ports.disk_worker import Lane
from aerobee.sim.disk import SimDisk
from aerobee.storage.retain.topic_deletions import remove_folders
from tests.compaction_kit import TOPIC, CompactionKit, seen
from tests.store_kit import INNER_BATCH, ROOT, StoreKit, bodies_of, draft, properties, read_all

QUEUES = f"{ROOT}/consumequeue"


def two_topics() -> StoreKit:
    kit = StoreKit()
    kit.append_many(20, b"Gone", 0)
    kit.append_many(3, b"Gone", 1)
    kit.append_many(5, b"Kept")
    kit.settle()
    return kit


def test_its_messages_are_hidden_at_once_and_those_of_others_are_not() -> None:
    kit = two_topics()
    kit.store.delete_topic(b"Gone")
    assert kit.store.queue(b"Gone", 0) is None
    assert {queue.topic for queue in kit.store.queues()} == {b"Kept"}
    assert len(read_all(kit.store, b"Kept", 0)) == 5
    assert kit.disk.list_directory(QUEUES) == ["Gone", "Kept"]


def test_its_files_and_folders_go_and_appends_begin_at_0_again() -> None:
    kit = two_topics()
    kit.store.delete_topic(b"Gone")
    kit.settle()
    kit.settle()
    assert kit.disk.list_directory(QUEUES) == ["Kept"]
    kit.append(draft(b"Gone", 0, b"anew"))
    assert kit.store.appender.queue_offset == 0
    kit.settle()
    assert [message.body for message in read_all(kit.store, b"Gone", 0)] == [b"anew"]


def test_until_its_files_are_gone_appends_are_refused_as_busy() -> None:
    kit = two_topics()
    kit.store.delete_topic(b"Gone")
    with pytest.raises(StoreBusy, match="being deleted"):
        kit.append(draft(b"Gone"))
    kit.append(draft(b"Kept"))
    kit.settle()
    kit.settle()
    kit.append(draft(b"Gone"))


def test_the_note_comes_before_the_mark_and_that_before_the_first_removal() -> None:
    kit = two_topics()
    kit.disk.faults.calls.clear()
    kit.store.delete_topic(b"Gone")
    kit.settle()
    kit.settle()
    calls = [(call.name, call.path.removeprefix(f"{ROOT}/")) for call in kit.disk.faults.calls]
    noted = calls.index(("replace.sync_directory", "deleted_topics"))
    marked = calls.index(("sync", "durable_mark"), noted)
    removed = [i for i, (name, path) in enumerate(calls) if name == "remove" and "Gone" in path]
    assert noted < marked < min(removed)
    assert ("sync_directory", "consumequeue") in calls[max(removed) :]


def test_what_was_appended_and_not_yet_dispatched_is_deleted_too() -> None:
    kit = two_topics()
    kit.append_many(4, b"Gone", 2)
    kit.store.delete_topic(b"Gone")
    kit.settle()
    kit.settle()
    assert {queue.topic for queue in kit.store.queues()} == {b"Kept"}
    kit.append(draft(b"Gone", 2))
    assert kit.store.appender.queue_offset == 0


def test_batch_queues_of_the_topic_go_as_well() -> None:
    kit = StoreKit()
    text = properties(INNER_BASE="0", INNER_NUM="3")
    kit.append(draft(b"Gone", 0, b"three", text, sys_flag=INNER_BATCH))
    kit.settle()
    assert kit.disk.list_directory(f"{ROOT}/batchconsumequeue") == ["Gone"]
    kit.store.delete_topic(b"Gone")
    kit.settle()
    kit.settle()
    assert kit.disk.list_directory(f"{ROOT}/batchconsumequeue") == []


def test_deleting_what_is_being_deleted_or_was_never_there_is_nothing() -> None:
    kit = two_topics()
    kit.store.delete_topic(b"Never")
    assert not kit.disk.exists(f"{ROOT}/deleted_topics")
    kit.store.delete_topic(b"Gone")
    kit.store.delete_topic(b"Gone")
    kit.settle()
    kit.settle()
    assert kit.disk.list_directory(QUEUES) == ["Kept"]


def test_topics_deleted_one_after_another_all_go() -> None:
    kit = two_topics()
    for number in range(4):
        kit.append(draft(b"T%d" % number))
    kit.settle()
    for number in range(4):
        kit.store.delete_topic(b"T%d" % number)
        kit.step()
    kit.store.delete_topic(b"Gone")
    for _ in range(4):
        kit.settle()
    assert kit.disk.list_directory(QUEUES) == ["Kept"]


def test_a_stop_finishes_what_is_under_way() -> None:
    for steps in range(8):
        kit = two_topics()
        kit.store.delete_topic(b"Gone")
        for _ in range(steps):
            kit.step(1000)
            kit.worker.run_next()
        kit.store.close()
        again = StoreKit(kit.disk)
        assert again.disk.list_directory(QUEUES) == ["Kept"], steps
        assert len(bodies_of(again.store, b"Kept")) == 5


def test_files_that_retention_removes_are_gone_before_the_folder_goes() -> None:
    """Else a file of the topic's next life could be taken for one of them."""
    kit = two_topics()
    queue = kit.store.queue(b"Gone", 0)
    assert queue is not None
    for file in queue.hide_before(16):
        kit.store._cleaner._removals.add(file.disk_file)
    kit.store.delete_topic(b"Gone")
    for _ in range(6):
        kit.settle()
    assert kit.disk.list_directory(QUEUES) == ["Kept"]
    kit.append(draft(b"Gone", 0, b"anew"))
    for _ in range(4):
        kit.settle()
    assert [message.body for message in read_all(kit.store, b"Gone", 0)] == [b"anew"]
    assert len(kit.disk.list_directory(f"{QUEUES}/Gone/0")) == 1


def test_a_note_that_cannot_be_written_is_a_failed_disk() -> None:
    kit = two_topics()
    kit.store.delete_topic(b"Gone")
    kit.step()
    kit.disk.faults.fail_call(1, errno.EIO)
    kit.worker.run_next(Lane.BACKGROUND)
    kit.step()
    kit.step()
    assert kit.store.failure is not None
    assert "could not be deleted" in str(kit.store.failure)


def test_a_topic_folder_in_which_somebody_has_a_file_stays() -> None:
    disk = SimDisk()
    disk.create("q/T/0/a", 10)
    disk.create("q/T/note", 10)
    remove_folders(disk, ["q/T/0", "q/T/1"])
    assert disk.power_cut().list_directory("q/T") == ["note"]
    disk.remove("q/T/note")
    remove_folders(disk, ["q/T/0"])
    assert disk.power_cut().list_directory("q") == []


def test_a_topic_that_was_made_again_keeps_its_offsets_when_its_messages_have_expired() -> None:
    """Its note is still on the disk, and all that its queues lead to is gone."""
    kit = CompactionKit(topics=())
    kit.put("k", b"first life")
    kit.settle()
    kit.store.delete_topic(TOPIC)
    for _ in range(4):
        kit.settle()
    for _ in range(3):
        kit.put("k", b"second life")
    kit.fill()
    kit.grow_old()
    for disk in (None, kit.disk.kill()):
        after = kit.opened_again(disk)
        queue = after.store.queue(TOPIC, 0)
        assert queue is not None
        assert (queue.min_offset, queue.next_offset) == (3, 3)
        after.put("k", b"goes on")
        after.settle()
        assert [one.offset for one in seen(after.store)] == [3]
