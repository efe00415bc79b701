"""Compaction of a store: when it runs, what it keeps the log for, and what it does to readers."""

from dataclasses import replace

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.storage.retain.compaction_run import KEY_BYTES
from tests.compaction_kit import CONFIG, FOLDER, INTERVAL_MS, TOPIC, CompactionKit, Seen, seen
from tests.store_kit import contents, draft, read_all


def filled() -> CompactionKit:
    """Twelve messages of four keys, and a log file after them."""
    kit = CompactionKit()
    for number in range(12):
        kit.put(f"k{number % 4}", b"v%d" % number)
    kit.fill()
    return kit


NEWEST = [Seen(8 + number, f"k{number}", b"v%d" % (8 + number)) for number in range(4)]


def test_a_reader_sees_the_newest_of_each_key_in_order_at_its_own_offset() -> None:
    kit = filled()
    assert len(seen(kit.store)) == 12
    kit.compact()
    assert seen(kit.store) == NEWEST
    assert [seen(kit.store, count_max=count) for count in (1, 2, 100)] == [NEWEST] * 3


def test_the_newest_log_file_is_left_alone() -> None:
    kit = filled()
    kit.put("k0", b"newer")
    kit.put("k0", b"newest")
    kit.compact()
    assert seen(kit.store) == [*NEWEST, Seen(12, "k0", b"newer"), Seen(13, "k0", b"newest")]
    kit.fill()
    kit.compact()
    assert seen(kit.store) == [*NEWEST[1:], Seen(13, "k0", b"newest")]


def test_what_a_change_of_master_may_take_back_is_not_compacted() -> None:
    """A start dispatches all of the log, also what too few copies have."""
    kit = CompactionKit()
    kit.put("gold", b"40")
    end = kit.store.end_offset
    kit.put("gold", b"41")
    kit.fill()
    again = kit.opened_again()
    again.store.confirmation.expect_copies(end)
    again.compact()
    assert all(file.log_end <= end for _, _, file in again.store._parts.derived.kept.all())
    again.store.confirmation.note_copied(again.store.end_offset)
    again.compact()
    assert [one.body for one in seen(again.store)] == [b"41"]


def test_messages_wait_for_their_time() -> None:
    kit = filled()
    kit.step()
    kit.compact(INTERVAL_MS // 2 - kit.config.checkpoint_interval_ms * 4)
    assert len(seen(kit.store)) == 12
    kit.compact(INTERVAL_MS // 2)
    assert seen(kit.store) == NEWEST


def test_other_topics_are_not_compacted() -> None:
    kit = CompactionKit(topics=())
    for _ in range(5):
        kit.put("same", b"value")
    kit.fill()
    kit.compact()
    assert len(seen(kit.store)) == 5
    kit.store.compaction.set(TOPIC, True)
    kit.step()
    kit.compact()
    assert len(seen(kit.store)) == 1


def test_each_queue_is_compacted_for_itself() -> None:
    kit = CompactionKit()
    for number in range(12):
        kit.put("same", b"v%d" % number, queue_id=number % 3)
    kit.fill()
    kit.compact()
    for queue_id in range(3):
        body = b"v%d" % (9 + queue_id)
        assert seen(kit.store, TOPIC, queue_id) == [Seen(3, "same", body)]


def test_what_was_kept_outlives_its_log() -> None:
    kit = filled()
    kit.grow_old()
    queue = kit.store.queue(TOPIC, 0)
    assert queue is not None
    assert kit.store.min_offset > 0
    assert (queue.min_offset, queue.max_offset) == (12, 12)
    assert kit.store.first_offset(queue) == 8
    assert seen(kit.store) == NEWEST
    kit.put("k9", b"goes on")
    kit.settle()
    assert seen(kit.store) == [*NEWEST, Seen(12, "k9", b"goes on")]


def test_no_log_file_goes_before_it_was_compacted_and_then_it_need_not_wait() -> None:
    config = replace(CONFIG, compaction_interval_ms=1 << 50)
    kit = CompactionKit(config=config)
    for number in range(12):
        kit.put(f"k{number % 4}", b"v%d" % number)
    kit.fill()
    kit.disk.faults.fail_sync("*.new")
    kit.grow_old()
    assert kit.store.min_offset == 0
    assert "is not compacted" in kit.store.compaction.problem
    assert len(seen(kit.store)) == 12
    kit.compact(20_000)
    assert kit.store.min_offset > 0
    assert kit.store.compaction.problem == ""
    assert seen(kit.store) == NEWEST


def test_more_keys_than_fit_are_compacted_in_several_runs() -> None:
    kit = CompactionKit(config=replace(CONFIG, compaction_map_bytes=3 * KEY_BYTES))
    for number in range(40):
        kit.put(f"k{number % 10}", b"v%d" % number)
    kit.fill()
    kit.compact()
    kit.compact()
    assert [one.offset for one in seen(kit.store)] == list(range(30, 40))


def test_a_deletion_is_seen_for_a_while_and_then_its_key_is_gone() -> None:
    kit = CompactionKit(config=replace(CONFIG, deletion_retention_ms=10 * INTERVAL_MS))
    for key in ("a", "b", "a"):
        kit.put(key, b"value")
    kit.put("a", b"")
    kit.fill()
    kit.step()
    kit.compact()
    assert seen(kit.store) == [Seen(1, "b", b"value"), Seen(3, "a", b"")]
    kit.compact(8 * INTERVAL_MS)
    assert len(seen(kit.store)) == 2
    kit.compact(3 * INTERVAL_MS)
    assert seen(kit.store) == [Seen(1, "b", b"value")]
    queue = kit.store.queue(TOPIC, 0)
    assert queue is not None
    assert queue.max_offset == 4


def test_a_clock_that_jumps_ahead_deletes_no_deletion() -> None:
    kit = filled()
    kit.put("k0", b"")
    kit.fill()
    kit.step()
    kit.clock.jump_wall(10**12)
    kit.compact()
    assert Seen(12, "k0", b"") in seen(kit.store)


@pytest.mark.parametrize("is_clean", [True, False])
def test_another_process_reads_what_was_kept(is_clean: bool) -> None:
    kit = filled()
    kit.grow_old()
    kit = kit.opened_again(None if is_clean else kit.disk.kill())
    assert seen(kit.store) == NEWEST
    kit.put("k1", b"more")
    kit.fill()
    kit.step()
    kit.compact()
    assert seen(kit.store) == [NEWEST[0], *NEWEST[2:], Seen(12, "k1", b"more")]
    assert len(kit.disk.list_directory(FOLDER)) == 1


@pytest.mark.parametrize("count", [12, 8, 16])
def test_a_queue_that_lost_its_files_goes_on_behind_what_was_kept(count: int) -> None:
    kit = CompactionKit()
    for number in range(count):
        kit.put("same", b"v%d" % number)
    kit.fill()
    kit.grow_old()
    kit.store.close()
    for path in contents(kit.disk):
        if "/consumequeue/" in path:
            kit.disk.remove(path)
    for _ in range(2):
        kit = CompactionKit(kit.disk, kit.config, clock=kit.clock)
        queue = kit.store.queue(TOPIC, 0)
        assert queue is not None
        assert (queue.min_offset, queue.max_offset, queue.next_offset) == (count,) * 3
        assert seen(kit.store) == [Seen(count - 1, "same", b"v%d" % (count - 1))]
        kit.store.close()
    kit = CompactionKit(kit.disk, kit.config, clock=kit.clock)
    kit.put("other", b"next")
    kit.settle()
    assert seen(kit.store)[1:] == [Seen(count, "other", b"next")]
    assert seen(kit.opened_again().store)[1:] == [Seen(count, "other", b"next")]


def test_a_deleted_topic_takes_what_was_kept_with_it_and_begins_at_0_again() -> None:
    kit = filled()
    kit.compact()
    kit.store.delete_topic(TOPIC)
    assert seen(kit.store) == []
    for _ in range(4):
        kit.settle()
    assert not kit.disk.exists(FOLDER)
    kit.store.compaction.set(TOPIC, True)
    for number in range(6):
        kit.put("k0", b"n%d" % number)
    kit.fill()
    kit.step()
    kit.compact()
    assert seen(kit.store) == [Seen(5, "k0", b"n5")]


def test_a_topic_that_is_deleted_while_it_is_compacted_leaves_nothing_behind() -> None:
    whole = filled()
    whole.settle()
    parts = 0
    whole.step(INTERVAL_MS)
    while whole.store.compaction.is_running:
        whole.worker.run_all()
        whole.step()
        parts += 1
    assert parts >= 5
    for stop in range(parts + 1):
        kit = filled()
        kit.settle()
        kit.step(INTERVAL_MS)
        for _ in range(stop):
            kit.worker.run_all()
            kit.step()
        kit.store.delete_topic(TOPIC)
        for _ in range(4):
            kit.settle()
        left = [path for path in contents(kit.disk) if "/compacted/" in path]
        assert left == [], stop
        kit.put("k0", b"again")
        kit.settle()
        assert seen(kit.store) == [Seen(0, "k0", b"again")]


def test_a_deletion_that_a_crash_interrupts_does_not_come_back() -> None:
    kit = filled()
    kit.compact()
    kit.store.delete_topic(TOPIC)
    kit.step()
    kit.worker.run_next()  # the note
    kit = kit.opened_again(kit.disk.kill())
    assert seen(kit.store) == []
    assert not kit.disk.exists(FOLDER)


def test_nothing_is_done_without_compacted_topics() -> None:
    kit = CompactionKit(SimDisk(), topics=())
    kit.append(draft(b"Orders"))
    kit.fill()
    kit.compact()
    assert not any("/compacted" in path for path in contents(kit.disk))
    assert len(read_all(kit.store, b"Orders", 0)) == 1


def test_a_stop_in_the_middle_leaves_what_there_was_and_the_next_start_tidies_up() -> None:
    kit = filled()
    kit.settle()
    kit.step(INTERVAL_MS)
    for _ in range(40):
        kit.worker.run_all()
        if kit.disk.list_directory(FOLDER):
            break
        kit.step()
    assert kit.disk.list_directory(FOLDER)[0].endswith(".new")
    kit = kit.opened_again()
    assert kit.disk.list_directory(FOLDER) == []
    assert len(seen(kit.store)) == 12
