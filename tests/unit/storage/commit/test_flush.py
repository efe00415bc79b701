"""Syncing the log: when it is due, what one sync covers, who is told, and the first failure."""

import pytest

from aerobee.errors import DiskFailed
from aerobee.ports.disk_worker import Lane
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.commit.confirmation import Confirmation
from aerobee.storage.commit.flush import Flush
from aerobee.storage.config import FlushMode
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from aerobee.storage.files.file_sequence import FileSequence

FILE_BYTES = 512
STORED = 1_700_000_000_000


class FlushKit:
    """A log of three files, and a flush of it."""

    def __init__(self, mode: FlushMode = FlushMode.SYNC, defects: Defects = NO_DEFECTS) -> None:
        self.disk = SimDisk()
        self.log = FileSequence(self.disk, "log", FILE_BYTES)
        for number in range(3):
            self.log.create(number * FILE_BYTES)
        self.worker = SimDiskWorker()
        self.flush = Flush(self.log, self.worker, mode, 500, 1000, defects)
        self.waits = Confirmation(lambda: 3 * FILE_BYTES, self.flush, mode)
        self.disk.faults.calls.clear()

    def step(self, end_offset: int, ms: int) -> None:
        self.flush.step(end_offset, STORED + end_offset, ms)

    def finish(self) -> None:
        """The disk does all that it was given, and says so."""
        self.worker.run_all()
        self.worker.collect()

    def synced(self) -> list[int]:
        """Numbers of the files that were synced since the last call."""
        calls, self.disk.faults.calls[:] = list(self.disk.faults.calls), []
        return [int(call.path[-20:]) // FILE_BYTES for call in calls if call.name == "sync"]


def test_nothing_to_flush_starts_nothing() -> None:
    kit = FlushKit()
    kit.step(0, 0)
    kit.flush.start_at(100, STORED)
    kit.step(100, 1000)
    assert kit.worker.pending() == 0


def test_synchronous_a_sync_starts_at_once() -> None:
    kit = FlushKit()
    kit.step(100, 5)
    assert kit.worker.pending(Lane.SYNC) == 1
    assert kit.flush.flushed == 0
    kit.finish()
    assert (kit.flush.flushed, kit.flush.flushed_timestamp) == (100, STORED + 100)


def test_asynchronous_a_sync_starts_an_interval_after_the_first_unsynced_byte_was_seen() -> None:
    kit = FlushKit(FlushMode.ASYNC)
    kit.step(100, 1000)
    kit.step(200, 1499)
    assert kit.worker.pending() == 0
    kit.step(300, 1500)
    kit.finish()
    assert kit.flush.flushed == 300
    kit.step(400, 1500)
    kit.step(400, 1999)
    assert kit.worker.pending() == 0
    kit.step(400, 2000)
    assert kit.worker.pending() == 1


@pytest.mark.parametrize(("took_ms", "wait_ms"), [(0, 500), (200, 300), (500, 0), (900, 0)])
def test_asynchronous_the_next_sync_starts_as_much_earlier_as_the_last_one_took(
    took_ms: int, wait_ms: int
) -> None:
    kit = FlushKit(FlushMode.ASYNC)
    kit.step(100, 0)
    kit.step(100, 500)
    kit.finish()
    ended_ms = 500 + took_ms
    kit.step(200, ended_ms)
    if wait_ms:
        kit.step(200, ended_ms + wait_ms - 1)
        assert kit.worker.pending() == 0
        kit.step(200, ended_ms + wait_ms)
    assert kit.worker.pending() == 1


def test_asynchronous_a_sync_starts_at_once_if_somebody_waits_for_it() -> None:
    kit = FlushKit(FlushMode.ASYNC)
    kit.waits.wait_lasting(100, "ticket")
    kit.step(100, 1000)
    assert kit.worker.pending() == 1


def test_one_sync_runs_at_a_time_and_covers_what_was_there_when_it_began() -> None:
    kit = FlushKit()
    kit.step(100, 0)
    kit.step(250, 1)
    assert kit.worker.pending() == 1
    kit.finish()
    assert (kit.flush.flushed, kit.flush.flushed_timestamp) == (100, STORED + 100)
    kit.step(250, 2)
    kit.finish()
    assert (kit.flush.flushed, kit.flush.flushed_timestamp) == (250, STORED + 250)


@pytest.mark.parametrize(
    ("flushed", "end", "files"),
    [
        (0, 100, [0]),
        (0, 512, [0]),
        (0, 513, [0, 1]),
        (511, 513, [0, 1]),
        (512, 513, [1]),
        (300, 1100, [0, 1, 2]),
        (1024, 1100, [2]),
    ],
)
def test_exactly_the_files_with_unsynced_bytes_are_synced_oldest_first(
    flushed: int, end: int, files: list[int]
) -> None:
    kit = FlushKit()
    kit.flush.start_at(flushed, STORED)
    kit.step(end, 0)
    kit.finish()
    assert kit.synced() == files
    assert kit.flush.flushed == end


# Waiting.


def test_all_who_wait_share_the_next_sync() -> None:
    kit = FlushKit()
    for end in (100, 110, 120):
        kit.waits.wait_lasting(end, end)
    kit.step(120, 0)
    kit.waits.wait_lasting(130, 130)
    assert kit.waits.take_released() == []
    kit.finish()
    assert kit.waits.take_released() == [100, 110, 120]
    assert kit.waits.take_released() == []
    kit.step(130, 1)
    kit.finish()
    assert kit.waits.take_released() == [130]
    assert kit.synced() == [0, 0]


def test_who_waits_for_what_is_on_the_disk_already_is_not_kept_waiting() -> None:
    """There may never be another sync to release it."""
    kit = FlushKit()
    kit.step(100, 0)
    kit.finish()
    kit.waits.wait_lasting(100, "late")
    kit.waits.wait_lasting(0, "no bytes at all")
    assert kit.waits.take_released() == ["late", "no bytes at all"]


def test_nobody_has_failed_while_syncs_return() -> None:
    kit = FlushKit()
    kit.waits.wait_lasting(100, "ticket")
    assert kit.waits.take_failed() == []
    kit.step(100, 0)
    kit.finish()
    assert kit.waits.take_failed() == []


# The bound.


def test_the_disk_is_behind_while_a_sync_takes_longer_than_the_bound_leaves_it() -> None:
    kit = FlushKit(FlushMode.ASYNC)
    kit.step(100, 0)
    kit.step(100, 500)
    assert kit.worker.pending() == 1
    assert not kit.flush.is_behind(1000)
    assert kit.flush.is_behind(1001)
    kit.finish()
    assert not kit.flush.is_behind(5000)


def test_a_byte_that_waited_for_the_sync_before_its_own_is_as_old_as_it_is() -> None:
    kit = FlushKit(FlushMode.ASYNC)
    kit.step(100, 0)
    kit.step(100, 500)
    kit.step(200, 600)  # the sync under way does not cover it
    kit.finish()
    kit.step(200, 1_590)
    assert kit.worker.pending() == 1
    assert not kit.flush.is_behind(1_600)
    assert kit.flush.is_behind(1_601)


def test_a_store_that_was_not_stepped_for_long_is_not_behind() -> None:
    kit = FlushKit(FlushMode.ASYNC)
    kit.step(100, 0)
    assert not kit.flush.is_behind(60_000)


# Blocking.


def test_everything_is_on_the_disk_when_sync_now_returns() -> None:
    kit = FlushKit(FlushMode.ASYNC)
    kit.step(100, 0)
    kit.waits.wait_lasting(600, "ticket")
    kit.flush.sync_now(600, STORED)
    assert (kit.flush.flushed, kit.flush.flushed_timestamp) == (600, STORED)
    assert kit.synced() == [0, 1]
    assert kit.waits.take_released() == ["ticket"]


def test_sync_now_waits_for_a_sync_under_way_and_then_syncs_the_rest() -> None:
    kit = FlushKit()
    kit.step(100, 0)
    kit.flush.sync_now(200, STORED)
    assert kit.flush.flushed == 200
    assert kit.synced() == [0, 0]


def test_sync_now_with_nothing_unsynced_touches_nothing() -> None:
    kit = FlushKit()
    kit.flush.start_at(100, STORED)
    kit.flush.sync_now(100, STORED + 5)
    assert kit.synced() == []
    assert kit.flush.flushed_timestamp == STORED


# Failing.


def failed_kit(defects: Defects = NO_DEFECTS) -> FlushKit:
    kit = FlushKit(defects=defects)
    kit.disk.faults.fail_sync("log/*")
    kit.waits.wait_lasting(100, "waits")
    kit.step(100, 0)
    kit.finish()
    return kit


def test_the_first_sync_that_fails_is_the_last() -> None:
    kit = failed_kit()
    assert isinstance(kit.flush.failure, DiskFailed)
    assert "a sync of the commit log failed" in str(kit.flush.failure)
    assert kit.flush.flushed == 0
    kit.synced()
    kit.step(200, 10_000)
    kit.flush.sync_now(200, STORED)
    assert kit.worker.pending() == 0
    assert kit.synced() == []


def test_after_a_failed_sync_those_who_waited_are_told_so_and_never_acknowledged() -> None:
    kit = failed_kit()
    kit.waits.wait_lasting(120, "came later")
    assert kit.waits.take_released() == []
    assert kit.waits.take_failed() == ["waits", "came later"]
    assert kit.waits.take_failed() == []
    kit.waits.wait_lasting(130, "later still")
    assert kit.waits.take_failed() == ["later still"]
    assert kit.waits.take_released() == []


def test_what_was_on_the_disk_before_the_failure_is_still_acknowledged() -> None:
    kit = FlushKit()
    kit.waits.wait_lasting(100, "first")
    kit.step(100, 0)
    kit.finish()
    kit.disk.faults.fail_sync("log/*")
    kit.waits.wait_lasting(200, "second")
    kit.step(200, 1)
    kit.finish()
    assert kit.waits.take_released() == ["first"]
    assert kit.waits.take_failed() == ["second"]
    assert kit.flush.flushed == 100


def test_if_the_second_of_two_files_fails_neither_counts() -> None:
    kit = FlushKit()
    kit.disk.faults.fail_sync(f"log/{FILE_BYTES:020}")
    kit.step(600, 0)
    kit.finish()
    assert kit.flush.failure is not None
    assert kit.flush.flushed == 0


def test_once_stopped_for_another_failure_nothing_is_synced_and_nobody_acknowledged() -> None:
    kit = FlushKit()
    kit.waits.wait_lasting(100, "waits")
    kit.step(100, 0)
    failure = DiskFailed("a sync of something else failed")
    kit.flush.stop(failure)
    kit.finish()
    assert (kit.waits.take_released(), kit.waits.take_failed()) == ([], ["waits"])
    kit.synced()
    kit.waits.wait_lasting(200, "late")
    kit.step(200, 10_000)
    assert kit.worker.pending() == 0
    assert kit.waits.take_failed() == ["late"]
    assert kit.flush.flushed == 0
    kit.flush.stop(DiskFailed("another"))
    assert kit.flush.failure is failure


# What the defects do: each must differ, or the test of the tests tests nothing.


def test_planted_acknowledge_before_sync() -> None:
    kit = FlushKit(defects=frozenset({Defect.ACKNOWLEDGE_BEFORE_SYNC}))
    kit.waits.wait_lasting(100, "ticket")
    kit.step(100, 0)
    assert kit.waits.take_released() == ["ticket"]


def test_planted_skip_sync() -> None:
    kit = FlushKit(defects=frozenset({Defect.SKIP_SYNC}))
    kit.step(100, 0)
    kit.finish()
    assert kit.flush.flushed == 100
    assert kit.synced() == []


def test_planted_retry_failed_sync() -> None:
    kit = failed_kit(frozenset({Defect.RETRY_FAILED_SYNC}))
    assert kit.flush.failure is None
    assert kit.flush.flushed == 100


def test_how_long_each_sync_took_is_counted() -> None:
    kit = FlushKit()
    kit.step(100, 0)
    kit.finish()
    kit.step(200, 40)  # sees that the first is over, and begins the second
    kit.finish()
    kit.step(200, 42)
    assert kit.flush.sync_seconds.count == 2
    assert kit.flush.sync_seconds.sum == pytest.approx(0.042)
