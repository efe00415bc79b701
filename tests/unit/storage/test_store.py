"""The store as its callers see it: when a message is visible, durable, refused, lost or found.

Longer than 500 lines because every promise of the storage engine meets its caller here.
"""

import errno
from dataclasses import replace
from typing import Any

import pytest

from aerobee.errors import (
    DiskFailed,
    DiskFull,
    Misuse,
    StoreBusy,
    StoreLocked,
)
from aerobee.ports.disk_worker import Lane
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.config import FlushMode
from aerobee.storage.defects import Defect
from aerobee.storage.recover.abort_flag import AbortFlag, LastStop
from aerobee.storage.store import Store
from tests.store_kit import (
    EVERYTHING,
    ROOT,
    SMALL,
    SMALL_SYNC,
    StoreKit,
    bodies_of,
    draft,
    messages_of,
    properties,
    read_all,
)

LOG = f"{ROOT}/commitlog"
LOG_FILES = f"{LOG}/*"


def last_stop(disk: SimDisk) -> LastStop:
    return AbortFlag(disk, ROOT).last_stop()


def sync_log(kit: StoreKit) -> None:
    """The disk does the sync of the log that is under way, and nothing else."""
    kit.worker.run_all([Lane.SYNC])


def broken(pattern: str = LOG_FILES, config: Any = SMALL_SYNC) -> StoreKit:
    """A store with one durable message, and one whose sync has failed."""
    kit = StoreKit(config=config)
    kit.append(draft(body=b"kept"))
    kit.settle()
    kit.append(draft(body=b"lost"))
    kit.disk.faults.fail_sync(pattern)
    for _ in range(4):
        kit.step(kit.config.checkpoint_interval_ms)
        kit.worker.run_all()
    kit.step()
    return kit


# Visible and durable.


def test_async_a_message_is_visible_at_the_next_dispatch() -> None:
    kit = StoreKit()
    kit.append(draft(body=b"one"))
    assert bodies_of(kit.store) == []
    touched = kit.store.dispatch()
    assert [queue.topic for queue in touched] == [b"Orders"]
    assert bodies_of(kit.store) == [b"one"]
    assert kit.store.dispatch() == []
    assert kit.store.flushed_offset == 0


def test_async_a_step_dispatches_too() -> None:
    kit = StoreKit()
    kit.append(draft(body=b"one"))
    kit.step()
    assert bodies_of(kit.store) == [b"one"]


def test_sync_a_message_is_visible_once_it_is_on_the_disk() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    kit.append(draft(body=b"one"))
    kit.step()
    assert kit.store.dispatch() == []
    sync_log(kit)
    assert bodies_of(kit.store) == []
    kit.step()
    assert bodies_of(kit.store) == [b"one"]
    assert kit.store.flushed_offset == kit.store.end_offset


def test_a_defect_shows_a_message_before_it_is_on_the_disk() -> None:
    kit = StoreKit(config=SMALL_SYNC, defects=frozenset({Defect.DISPATCH_AHEAD_OF_SYNC}))
    kit.append(draft(body=b"one"))
    kit.step()
    assert bodies_of(kit.store) == [b"one"]


def test_async_a_sync_starts_after_the_interval() -> None:
    kit = StoreKit()
    kit.append(draft())
    kit.step()
    kit.step(499)
    assert kit.worker.pending(Lane.SYNC) == 0
    kit.step(1)
    assert kit.worker.pending(Lane.SYNC) == 1


@pytest.mark.parametrize("mode", FlushMode)
def test_a_ticket_comes_back_once_its_bytes_are_on_the_disk(mode: FlushMode) -> None:
    kit = StoreKit(config=replace(SMALL, flush_mode=mode))
    kit.append(draft())
    kit.store.wait_for(kit.store.end_offset, "first")
    assert kit.step() == ([], [])
    kit.append(draft())
    kit.store.wait_for(kit.store.end_offset, "second")
    assert kit.step() == ([], [])
    sync_log(kit)
    assert kit.step() == (["first"], [])
    sync_log(kit)
    assert kit.step() == (["second"], [])
    assert kit.step() == ([], [])


def test_those_who_wait_together_share_a_sync() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    for number in range(5):
        kit.append(draft())
        kit.store.wait_for(kit.store.end_offset, number)
    kit.step()
    assert kit.worker.run_all([Lane.SYNC]) == 1
    assert kit.step().safe == [0, 1, 2, 3, 4]


def test_a_ticket_for_what_is_on_the_disk_comes_back_at_once() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    kit.append(draft())
    kit.settle()
    kit.store.wait_for(kit.store.end_offset, "late")
    assert kit.step().safe == ["late"]


def test_sync_appends_that_are_over_are_synced_without_waiting_for_a_step() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    kit.append(draft())
    first = kit.store.end_offset
    kit.store.wait_for(first, "first")
    assert kit.store.flush_soon(kit.clock.now()) == 0
    assert kit.worker.pending(Lane.SYNC) == 1
    kit.append(draft())
    kit.store.wait_for(kit.store.end_offset, "second")
    assert kit.store.flush_soon(kit.clock.now()) == 0
    assert kit.worker.pending(Lane.SYNC) == 1  # one at a time
    kit.worker.run_all()
    assert kit.store.flush_soon(kit.clock.now()) == first
    assert kit.worker.pending(Lane.SYNC) == 1  # for what came meanwhile
    assert kit.step().safe == ["first"]
    kit.worker.run_all()
    assert kit.store.flush_soon(kit.clock.now()) == kit.store.end_offset
    assert kit.worker.pending(Lane.SYNC) == 0
    assert kit.step().safe == ["second"]


def test_async_appends_that_are_over_wait_for_the_interval_all_the_same() -> None:
    kit = StoreKit()
    kit.append(draft())
    assert kit.store.flush_soon(kit.clock.advance(10)) == 0
    assert kit.worker.pending(Lane.SYNC) == 0


def test_async_after_a_failed_sync_nothing_is_appended_even_before_the_next_step() -> None:
    kit = StoreKit()
    kit.append(draft())
    kit.step(kit.config.flush_interval_ms)
    kit.step(kit.config.flush_interval_ms)
    kit.disk.faults.fail_sync("*/commitlog/*")
    assert kit.worker.run_next(Lane.SYNC)
    kit.store.flush_soon(kit.clock.now())  # what the wake of a disk thread calls
    with pytest.raises(DiskFailed):
        kit.append(draft())


def test_a_closed_store_starts_no_sync() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    kit.store.close()
    kit.store.flush_soon(kit.clock.now())
    assert kit.worker.pending() == 0


def test_syncing_blocks_until_everything_is_on_the_disk() -> None:
    kit = StoreKit()
    kit.append(draft(body=b"one"))
    kit.store.wait_for(kit.store.end_offset, "ticket")
    kit.store.sync()
    assert kit.store.flushed_offset == kit.store.end_offset
    assert kit.step().safe == ["ticket"]
    assert bodies_of(StoreKit(kit.disk.power_cut()).store) == [b"one"]


def test_a_roll_that_waits_for_its_file_does_not_lose_a_finished_sync() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    kit.append(draft(body=bytes(3000)))
    kit.store.wait_for(kit.store.end_offset, "ticket")
    kit.step()
    sync_log(kit)
    kit.append(draft(body=bytes(3000)))  # rolls
    assert kit.step().safe == ["ticket"]
    assert kit.store._parts.marking.mark.flushed == kit.store.flushed_offset > 0


def test_nothing_is_appended_in_the_middle_of_another_append() -> None:
    """A roll waits for its file; a send that waited for its topic waits on meanwhile."""
    kit = StoreKit()

    class Save:
        def run(self) -> None:
            pass

        def done(self, error: BaseException | None) -> None:
            kit.append(draft(body=b"meanwhile"))

    kit.append(draft(body=bytes(3000)))
    kit.worker.submit(Lane.BACKGROUND, Save())
    kit.append(draft(body=b"rolls" * 300))
    kit.step()
    kit.settle()
    assert bodies_of(kit.store) == [bytes(3000), b"rolls" * 300, b"meanwhile"]
    assert bodies_of(StoreKit(kit.disk.kill()).store)[1:] == [b"rolls" * 300, b"meanwhile"]


# Refused.


def test_a_slow_disk_is_refused_as_busy_until_it_is_back() -> None:
    kit = StoreKit()
    kit.append(draft())
    kit.step()
    kit.step(500)
    kit.step(500)
    kit.append(draft())
    kit.step(1)
    with pytest.raises(StoreBusy, match="more than 1000 ms behind"):
        kit.append(draft())
    assert kit.store.failure is None
    sync_log(kit)
    kit.step()
    kit.append(draft())


def test_a_full_disk_is_refused_from_the_first_append_on() -> None:
    kit = StoreKit(SimDisk(capacity_bytes=40_000), replace(SMALL, disk_free_bytes_min=30_000))
    with pytest.raises(DiskFull):
        kit.append(draft())
    kit.disk.capacity_bytes = 1 << 40
    kit.settle()
    kit.append(draft())


def test_a_full_disk_comes_before_a_slow_one() -> None:
    kit = StoreKit(config=replace(SMALL, disk_free_bytes_min=10_000))
    kit.append(draft())
    kit.step(1)
    kit.step(500)
    kit.disk.capacity_bytes = 20_000
    kit.worker.run_all([Lane.BACKGROUND])
    kit.step(1000)
    kit.worker.run_all([Lane.BACKGROUND])
    kit.step(1000)
    with pytest.raises(DiskFull):
        kit.append(draft())


def test_a_failed_sync_comes_before_a_full_disk() -> None:
    kit = broken(config=replace(SMALL_SYNC, disk_free_bytes_min=10_000))
    kit.disk.capacity_bytes = 20_000
    for _ in range(3):
        kit.step(1000)
        kit.worker.run_all()
    with pytest.raises(DiskFailed):
        kit.append(draft())


def test_without_room_for_a_queue_file_appends_are_refused_until_there_is() -> None:
    kit = StoreKit(config=replace(SMALL, disk_free_bytes_min=1))
    kit.append(draft(body=b"one"))
    kit.disk.capacity_bytes = 1
    kit.step()
    with pytest.raises(DiskFull, match="no room for a file"):
        kit.append(draft())
    assert kit.store.dispatch() == []
    kit.disk.capacity_bytes = 1 << 40
    kit.step(1)
    assert bodies_of(kit.store) == []
    kit.step(1000)
    assert bodies_of(kit.store) == [b"one"]
    kit.settle()
    kit.append(draft())


def test_without_room_for_an_index_file_a_checkpoint_waits() -> None:
    kit = StoreKit(config=replace(SMALL, disk_free_bytes_min=1))
    kit.append(draft(text=properties(KEYS="k")))
    kit.store.dispatch()
    kit.disk.capacity_bytes = 1
    kit.step(5000)
    with pytest.raises(DiskFull, match="no room for a file"):
        kit.append(draft())
    kit.disk.capacity_bytes = 1 << 40
    kit.settle()
    kit.append(draft())
    assert kit.store._parts.marking.mark.index_count == 1


# Failed.


@pytest.mark.parametrize("mode", FlushMode)
def test_a_failed_sync_of_the_log_fails_those_who_waited_and_all_who_come(mode: FlushMode) -> None:
    kit = StoreKit(config=replace(SMALL, flush_mode=mode))
    kit.append(draft())
    kit.store.wait_for(kit.store.end_offset, "waits")
    kit.step()
    kit.disk.faults.fail_sync(LOG_FILES)
    sync_log(kit)
    assert kit.step() == ([], ["waits"])
    assert isinstance(kit.store.failure, DiskFailed)
    with pytest.raises(DiskFailed):
        kit.append(draft())
    kit.store.wait_for(kit.store.end_offset, "late")
    for _ in range(5):
        kit.step(10_000)
        kit.worker.run_all()
        with pytest.raises(DiskFailed):
            kit.append(draft())
    assert kit.store.flushed_offset == 0


def test_after_a_failed_sync_only_durable_messages_are_visible() -> None:
    kit = StoreKit()
    kit.append(draft(body=b"kept"))
    kit.settle()
    lost = kit.append(draft(body=b"lost"))
    kit.step()
    assert bodies_of(kit.store) == [b"kept", b"lost"]
    kit.disk.faults.fail_sync(LOG_FILES)
    with pytest.raises(DiskFailed):
        kit.store.sync()
    kit.step()
    read = kit.store.read(b"Orders", 0, 0, 10, EVERYTHING)
    assert [message.body for message in messages_of(read)] == [b"kept"]
    assert kit.store.record_at(lost) is None


def test_after_a_failed_sync_nothing_more_is_dispatched() -> None:
    kit = StoreKit()
    kit.append(draft(body=b"kept"))
    kit.settle()
    kit.store.dispatch()
    kit.append(draft(body=b"lost"))
    kit.disk.faults.fail_sync(LOG_FILES)
    with pytest.raises(DiskFailed):
        kit.store.sync()
    assert kit.store.dispatch() == []
    queue = kit.store.queue(b"Orders", 0)
    assert queue is not None
    assert queue.max_offset == 1


def test_a_sync_that_fails_is_raised_and_refuses_at_once() -> None:
    kit = StoreKit()
    kit.append(draft())
    kit.disk.faults.fail_sync(LOG_FILES)
    with pytest.raises(DiskFailed):
        kit.store.sync()
    with pytest.raises(DiskFailed):
        kit.append(draft())


@pytest.mark.parametrize(
    "pattern", [f"{ROOT}/durable_mark", f"{ROOT}/checkpoint", f"{ROOT}/consumequeue/*"]
)
def test_a_failed_sync_of_anything_else_refuses_too(pattern: str) -> None:
    kit = broken(pattern)
    with pytest.raises(DiskFailed, match="a sync of the store failed"):
        kit.append(draft())
    assert isinstance(kit.store.failure, DiskFailed)


def test_a_failed_sync_of_anything_else_fails_those_who_wait_for_the_log() -> None:
    kit = StoreKit()
    kit.append(draft())
    kit.settle()
    kit.disk.faults.fail_sync(f"{ROOT}/durable_mark")
    kit.append(draft(body=b"synced"))
    kit.step()
    kit.step(500)
    sync_log(kit)
    lost = kit.append(draft(body=b"lost?"))
    kit.store.wait_for(kit.store.end_offset, "waits")
    kit.step(5000)
    kit.worker.run_all([Lane.BACKGROUND])
    assert kit.step() == ([], ["waits"])
    kit.worker.run_all()
    assert kit.step(5000) == ([], [])
    assert kit.store.record_at(lost) is None


def test_a_queue_file_that_a_broken_disk_cannot_make_is_a_failure_and_no_surprise() -> None:
    kit = StoreKit()
    kit.append(draft(body=b"one"))
    kit.disk.faults.fail_call(1, errno.EIO)
    kit.step()
    assert isinstance(kit.store.failure, DiskFailed)
    with pytest.raises(DiskFailed, match="could not be made"):
        kit.append(draft())
    kit.store.close()
    assert bodies_of(StoreKit(kit.disk.kill()).store) == [b"one"]


def test_too_many_open_files_is_busy_until_there_are_fewer() -> None:
    kit = StoreKit()
    kit.append(draft(body=b"one"))
    kit.disk.faults.fail_call(1, errno.EMFILE)
    kit.step()
    with pytest.raises(StoreBusy, match="could not be made"):
        kit.append(draft())
    kit.settle()
    kit.append(draft(body=b"two"))
    kit.settle()
    assert bodies_of(kit.store) == [b"one", b"two"]


# Closed.


def test_a_clean_stop_leaves_no_flag_no_lock_and_nothing_to_do() -> None:
    kit = StoreKit()
    kit.append_many(20)
    kit.store.close()
    assert last_stop(kit.disk.power_cut()) is LastStop.CLEAN
    told: list[str] = []
    after = Store.open(
        kit.disk.power_cut(),
        ROOT,
        SMALL,
        SimDiskWorker(),
        progress=lambda what, done, total: told.append(what),
    )
    assert told == ["checking the log"]
    assert [int(body) for body in bodies_of(after)] == list(range(20))


def test_a_clean_stop_removes_the_file_made_ahead() -> None:
    kit = StoreKit()
    kit.append(draft(body=bytes(2500)))
    kit.settle()
    assert len(kit.disk.list_directory(LOG)) == 2
    kit.store.close()
    assert kit.disk.power_cut().list_directory(LOG) == [f"{0:020d}"]


def test_closing_twice_is_closing() -> None:
    kit = StoreKit()
    kit.store.close()
    again = StoreKit(kit.disk)
    kit.store.close()
    assert last_stop(kit.disk) is LastStop.OURS_UNCLEAN
    again.store.close()


def test_a_closed_store_takes_no_step() -> None:
    kit = StoreKit()
    kit.store.close()
    with pytest.raises(Misuse, match="closed"):
        kit.step()


def test_while_a_store_is_open_it_is_flagged_and_locked() -> None:
    kit = StoreKit()
    assert last_stop(kit.disk) is LastStop.OURS_UNCLEAN
    with pytest.raises(StoreLocked):
        StoreKit(kit.disk)


@pytest.mark.parametrize("pattern", [LOG_FILES, f"{ROOT}/durable_mark"])
def test_after_a_failure_a_stop_is_unclean(pattern: str) -> None:
    kit = broken(pattern)
    kit.store.close()
    assert last_stop(kit.disk) is LastStop.OURS_UNCLEAN
    assert b"kept" in bodies_of(StoreKit(kit.disk.kill()).store)
    StoreKit(kit.disk)  # the lock is free


@pytest.mark.parametrize("pattern", [LOG_FILES, f"{ROOT}/consumequeue/*"])
def test_a_failure_while_closing_is_raised_and_the_stop_unclean(pattern: str) -> None:
    kit = StoreKit()
    kit.append(draft())
    kit.disk.faults.fail_sync(pattern)
    with pytest.raises(DiskFailed):
        kit.store.close()
    assert last_stop(kit.disk) is LastStop.OURS_UNCLEAN
    StoreKit(kit.disk)


def test_without_room_for_a_queue_file_a_stop_is_unclean_and_loses_nothing() -> None:
    kit = StoreKit(config=replace(SMALL, disk_free_bytes_min=1))
    kit.append(draft(body=b"kept"))
    kit.disk.capacity_bytes = 1
    kit.store.close()
    assert last_stop(kit.disk) is LastStop.OURS_UNCLEAN
    kit.disk.capacity_bytes = 1 << 40
    assert bodies_of(StoreKit(kit.disk.power_cut()).store) == [b"kept"]


def test_an_error_that_is_no_lack_of_room_ends_a_stop_with_it() -> None:
    kit = StoreKit()
    kit.append(draft())
    kit.store.sync()
    kit.disk.faults.fail_call(1, errno.EIO)
    with pytest.raises(OSError, match="create"):
        kit.store.close()
    assert last_stop(kit.disk) is LastStop.OURS_UNCLEAN
    StoreKit(kit.disk)


def test_a_failed_store_leaves_no_disk_work_behind_when_it_stops() -> None:
    kit = StoreKit()
    kit.step()
    kit.worker.run_all()
    kit.append(draft(body=bytes(2500)))
    kit.disk.faults.fail_sync(LOG_FILES)
    kit.step()
    kit.step(500)
    assert kit.worker.pending(Lane.BACKGROUND) > 0
    sync_log(kit)
    kit.step()
    assert kit.store.failure is not None
    kit.store.close()
    assert kit.worker.pending() == 0


# Opened.


def test_a_store_without_room_for_what_is_missing_in_it_says_so() -> None:
    with pytest.raises(DiskFull, match="no room"):
        StoreKit(SimDisk(capacity_bytes=5000))


def test_another_error_at_a_start_is_what_it_is() -> None:
    disk = SimDisk()
    disk.faults.fail_call(2, errno.EIO)
    with pytest.raises(OSError, match="error"):
        StoreKit(disk)


def test_progress_is_told_of_what_is_built_again() -> None:
    kit = StoreKit()
    kit.append_many(20)
    kit.store.sync()
    told: list[tuple[str, int, int]] = []
    Store.open(
        kit.disk.kill(),
        ROOT,
        SMALL,
        SimDiskWorker(),
        progress=lambda what, done, total: told.append((what, done, total)),
    )
    end = kit.store.end_offset
    assert told[-1] == ("building queues and index", end, end)


# Kept.


def test_the_retention_of_a_topic_is_passed_on() -> None:
    kit = StoreKit()
    kit.append(draft(b"Orders"))
    kit.append(draft(b"Trades"))
    kit.settle()
    kit.store.set_topic_retention(b"Orders", 60_000)
    for _ in range(40):
        kit.step(60_000)
        kit.worker.run_all()
    assert read_all(kit.store, b"Orders", 0) == []
    assert len(read_all(kit.store, b"Trades", 0)) == 1


def test_a_topic_that_is_made_anew_has_no_time_of_its_own() -> None:
    kit = StoreKit()
    kit.store.set_topic_retention(b"Orders", 60_000)
    kit.append(draft(b"Orders"))
    kit.settle()
    kit.store.delete_topic(b"Orders")
    kit.settle()
    kit.append(draft(b"Orders"))
    for _ in range(40):
        kit.step(60_000)
        kit.worker.run_all()
    assert len(read_all(kit.store, b"Orders", 0)) == 1


def test_the_log_begins_where_cleaning_left_it() -> None:
    kit = StoreKit(config=replace(SMALL, retention_ms=60_000))
    kit.append_many(60)
    kit.settle()
    assert kit.store.min_offset == 0
    for _ in range(60):
        kit.step(60_000)
        kit.worker.run_all()
    assert kit.store.min_offset == kit.store.end_offset // 4096 * 4096
    assert kit.store.record_at(0) is None
