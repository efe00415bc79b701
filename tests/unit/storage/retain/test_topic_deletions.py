"""Deleting topics: what is hidden at once, what goes later, and in which order."""

import errno
from dataclasses import replace

import pytest

from aerobee.errors import DiskFailed, StoreBusy
from aerobee.ports.disk_worker import Lane
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import StorageConfig
from aerobee.storage.recover.durable_mark import DurableMarkFile
from aerobee.storage.retain.topic_deletions import remove_folders
from tests.compaction_kit import TOPIC, CompactionKit, seen
from tests.slave_kit import copy_log
from tests.store_kit import (
    INNER_BATCH,
    ROOT,
    SMALL,
    SMALL_SYNC,
    StoreKit,
    bodies_of,
    draft,
    properties,
    read_all,
)

QUEUES = f"{ROOT}/consumequeue"
MARK = f"{ROOT}/durable_mark"


def two_topics(config: StorageConfig = SMALL) -> StoreKit:
    kit = StoreKit(config=config)
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


def finish(kit: StoreKit) -> None:
    """The disk does all its work; no time passes."""
    for _ in range(20):
        kit.step(0)
        if not kit.worker.run_next():
            break


def test_until_its_files_are_gone_appends_are_refused_as_busy() -> None:
    kit = two_topics()
    told: list[DiskFailed | None] = []
    kit.store.delete_topic(b"Gone", told.append)
    while not told:
        assert kit.disk.exists(f"{QUEUES}/Gone") or kit.disk.list_directory(QUEUES) == ["Kept"]
        with pytest.raises(StoreBusy, match="being deleted"):
            kit.append(draft(b"Gone"))
        kit.append(draft(b"Kept"))
        kit.step(0)
        assert kit.worker.run_next() or told
    assert told == [None]
    assert kit.disk.power_cut().list_directory(QUEUES) == ["Kept"]
    kit.append(draft(b"Gone", 0, b"anew"))
    assert kit.store.appender.queue_offset == 0


@pytest.mark.parametrize("config", [SMALL, SMALL_SYNC])
def test_a_topic_is_gone_and_takes_messages_again_however_often_without_waiting(
    config: StorageConfig,
) -> None:
    """No interval has to pass, and the files of other topics are not synced."""
    kit = StoreKit(config=config)
    kit.append_many(5, b"Kept")
    kit.append(draft(b"Gone", 0, b"0"))
    for number in range(1, 40):
        kit.append(draft(b"Kept"))
        told: list[DiskFailed | None] = []
        kit.store.delete_topic(b"Gone", told.append)
        begun = len(kit.disk.faults.calls)
        finish(kit)
        assert told == [None]
        synced = [call.path for call in kit.disk.faults.calls[begun:] if "sync" in call.name]
        assert not any("/Kept" in path for path in synced)
        kit.append(draft(b"Gone", number % 3, b"%d" % number))
        assert kit.store.appender.queue_offset == 0
        kit.store.sync()
        kit.store.dispatch()
        expected: list[list[bytes]] = [[], [], []]
        expected[number % 3] = [b"%d" % number]
        assert [bodies_of(kit.store, b"Gone", queue) for queue in range(3)] == expected
    for again in (StoreKit(kit.disk.kill(), config), kit.reopen()):
        assert len(bodies_of(again.store, b"Kept")) == 44
        assert [bodies_of(again.store, b"Gone", queue) for queue in range(3)] == expected


def test_a_second_caller_that_deletes_a_topic_meanwhile_is_told_too() -> None:
    kit = two_topics()
    told: list[tuple[str, DiskFailed | None]] = []
    kit.store.delete_topic(b"Gone", lambda error: told.append(("first", error)))
    kit.step(0)
    kit.store.delete_topic(b"Gone", lambda error: told.append(("second", error)))
    finish(kit)
    assert told == [("first", None), ("second", None)]
    kit.append(draft(b"Gone", 0, b"anew"))


def test_the_mark_counts_the_other_queues_whatever_checkpoint_is_on_its_way() -> None:
    """A checkpoint that counts before the deletion, and one that waits for the log meanwhile."""
    for jobs in range(3):
        kit = two_topics()
        kit.append_many(3, b"Gone", 2)
        kit.append_many(2, b"Kept", 1)
        kit.step(kit.config.checkpoint_interval_ms)  # a checkpoint, not yet made
        kit.append_many(2, b"Gone", 0)
        kit.step()
        for _ in range(jobs):
            kit.worker.run_next(Lane.BACKGROUND)
        told: list[DiskFailed | None] = []
        kit.store.delete_topic(b"Gone", told.append)
        before = kit.store._parts.marking.mark.dispatched
        while not told:
            kit.step(0)
            assert kit.worker.run_next(Lane.BACKGROUND) or told
        check_mark(kit)
        kit.store.sync()  # what the checkpoint speaks of
        finish(kit)
        assert kit.store._parts.marking.mark.dispatched > before
        check_mark(kit)


def check_mark(kit: StoreKit) -> None:
    """The mark counts the queues that there are, cut back to the mark's log offset."""
    for mark in (kit.store._parts.marking.mark, DurableMarkFile.open(kit.disk.kill(), MARK).mark):
        ends = [queue.first_at(mark.dispatched) for queue in kit.store.queues()]
        assert (mark.queue_count, mark.unit_total) == (len([*filter(None, ends)]), sum(ends))


def test_no_checkpoint_begins_before_a_deletion_is_noted() -> None:
    """A start that finds its mark and no note would build all queues again."""
    kit = two_topics()
    kit.append_many(3, b"Kept")
    kit.disk.faults.calls.clear()
    kit.store.delete_topic(b"Gone")
    for _ in range(3):
        kit.step(kit.config.checkpoint_interval_ms)
    kit.settle()
    calls = [(call.name, call.path) for call in kit.disk.faults.calls]
    noted = calls.index(("replace.sync_directory", f"{ROOT}/deleted_topics"))
    synced = calls.index(("sync", f"{QUEUES}/Kept/0/{0:020}"))
    assert noted < synced


def test_deleting_a_topic_without_queues_writes_only_the_note() -> None:
    """Delayed messages may wait for it: the note tells them from those of the next topic."""
    kit = two_topics()
    told: list[DiskFailed | None] = []
    kit.disk.faults.calls.clear()
    kit.store.delete_topic(b"Empty", told.append)
    finish(kit)
    assert told == [None]
    assert {call.path for call in kit.disk.faults.calls} == {f"{ROOT}/deleted_topics"}
    assert kit.store.born_at(b"Empty") == kit.store.end_offset
    assert StoreKit(kit.disk.power_cut()).store.born_at(b"Empty") == kit.store.end_offset
    kit.append(draft(b"Empty"))
    assert kit.store.appender.queue_offset == 0


def test_a_note_goes_when_the_log_holds_no_message_of_its_topic() -> None:
    kit = StoreKit(config=replace(SMALL, retention_ms=60_000))
    kit.append(draft(b"Gone"))
    kit.store.delete_topic(b"Gone")
    kit.settle()
    kit.append_many(60)
    for _ in range(60):
        kit.step(60_000)
        kit.worker.run_all()
    assert kit.store.min_offset > 0
    kit.store.delete_topic(b"Other")
    kit.settle()
    assert kit.disk.read(f"{ROOT}/deleted_topics") == b"%d Other\n" % kit.store.end_offset


def test_the_note_comes_before_the_mark_and_that_before_the_first_removal() -> None:
    kit = two_topics(replace(SMALL, mark_interval_ms=1 << 40))
    kit.disk.faults.calls.clear()
    kit.store.delete_topic(b"Gone")
    finish(kit)
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
    told: list[DiskFailed | None] = []
    kit.store.delete_topic(b"Gone", told.append)
    kit.step()
    kit.store.delete_topic(b"Kept", told.append)
    kit.disk.faults.fail_call(1, errno.EIO)
    kit.worker.run_next(Lane.BACKGROUND)
    kit.step()
    kit.step()
    assert kit.store.failure is not None
    assert "could not be deleted" in str(kit.store.failure)
    assert told == [kit.store.failure] * 2


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


# Deletions of a master.


def replica_after_a_deletion() -> tuple[StoreKit, int]:
    """The log of a store that deleted `Gone` and made it again, on a replica that does not know;
    and the log offset of the deletion."""
    master = two_topics()
    offset = master.store.end_offset
    master.store.delete_topic(b"Gone")
    finish(master)
    master.append(draft(b"Gone", 0, b"anew"))
    master.append(draft(b"Kept", 0, b"last"))
    master.settle()
    disk = SimDisk()
    copy_log(master.disk, disk)
    return StoreKit(disk), offset


def delete_before(kit: StoreKit, offset: int, topic: bytes = b"Gone") -> list[DiskFailed | None]:
    told: list[DiskFailed | None] = []
    kit.store._deletions.delete_before(topic, offset, told.append)
    return told


def test_a_replica_clears_what_ended_before_the_deletion_and_keeps_the_topics_next_life() -> None:
    kit, offset = replica_after_a_deletion()
    assert [len(bodies_of(kit.store, b"Gone", queue)) for queue in range(2)] == [1, 3]
    told = delete_before(kit, offset)
    assert told == []
    finish(kit)
    assert told == [None]
    assert kit.store.born_at(b"Gone") == offset
    opened = [kit, StoreKit(kit.disk.kill()), StoreKit(kit.disk.power_cut())]
    for step in range(4):
        again = opened[step] if step < len(opened) else kit.reopen()
        assert bodies_of(again.store, b"Gone", 0) == [b"anew"]
        assert bodies_of(again.store, b"Gone", 1) == []
        assert len(bodies_of(again.store, b"Kept")) == 6
        assert again.store.born_at(b"Gone") == offset


def test_a_deletion_that_a_replica_knows_changes_nothing() -> None:
    kit, offset = replica_after_a_deletion()
    delete_before(kit, offset)
    finish(kit)
    begun = len(kit.disk.faults.calls)
    assert delete_before(kit, offset) == [None]
    assert delete_before(kit, offset - 1) == [None]
    kit.step(0)
    assert len(kit.disk.faults.calls) == begun
    assert bodies_of(kit.store, b"Gone", 0) == [b"anew"]


def test_a_replica_that_stops_before_the_note_is_written_writes_it() -> None:
    kit, offset = replica_after_a_deletion()
    told = delete_before(kit, offset)
    again = kit.reopen()
    assert told == [None]
    assert bodies_of(again.store, b"Gone", 1) == []
    assert again.store.born_at(b"Gone") == offset


def test_messages_that_come_while_the_note_is_written_stay() -> None:
    kit, offset = replica_after_a_deletion()
    delete_before(kit, offset)
    kit.step(0)
    kit.store.append(draft(b"Gone", 0, b"later"), kit.clock.now().wall_ms)
    kit.store.dispatch()
    finish(kit)
    assert bodies_of(kit.store, b"Gone", 0) == [b"anew", b"later"]


def test_the_next_start_of_a_replica_need_not_build_all_queues_again() -> None:
    kit, offset = replica_after_a_deletion()
    kit.settle()
    delete_before(kit, offset)
    finish(kit)
    disk = kit.disk.kill()
    begun = len(disk.faults.calls)
    StoreKit(disk)
    made = [call.path for call in disk.faults.calls[begun:] if call.name == "create_sparse"]
    assert not any("/Kept/" in path for path in made)


def test_a_replica_whose_disk_fails_at_the_note_takes_no_more_writes() -> None:
    kit, offset = replica_after_a_deletion()
    kit.disk.faults.fail_sync("*/deleted_topics*")
    told = delete_before(kit, offset)
    finish(kit)
    assert kit.store.failure is not None
    (error,) = told
    assert isinstance(error, DiskFailed)


def test_a_queue_that_a_replica_cleared_begins_at_0_again() -> None:
    kit, offset = replica_after_a_deletion()
    delete_before(kit, offset)
    finish(kit)
    kit.append(draft(b"Gone", 1, b"anew, too"))
    assert kit.store.appender.queue_offset == 0
    kit.settle()
    assert bodies_of(kit.store, b"Gone", 1) == [b"anew, too"]
    assert bodies_of(kit.reopen().store, b"Gone", 1) == [b"anew, too"]
