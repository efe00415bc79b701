"""Confirmation: how far the log may be acknowledged and read, how far it lasts, who is released."""

import pytest

from aerobee.errors import DiskFailed
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.commit.confirmation import Confirmation
from aerobee.storage.commit.flush import Flush
from aerobee.storage.config import FlushMode
from aerobee.storage.defects import NO_DEFECTS
from aerobee.storage.files.file_sequence import FileSequence

SYNC, ASYNC = FlushMode.SYNC, FlushMode.ASYNC


class ConfirmationKit:
    """A log that ends where the test says, on a disk that syncs when the test says."""

    def __init__(self, mode: FlushMode) -> None:
        disk = SimDisk()
        log = FileSequence(disk, "log", 4096)
        log.create(0)
        self.end = 0
        self.worker = SimDiskWorker()
        self.flush = Flush(log, self.worker, mode, 500, 1000, NO_DEFECTS)
        self.confirmation = Confirmation(lambda: self.end, self.flush, mode)
        self.ms = 0

    def append_to(self, end: int) -> None:
        self.end = end

    def sync(self) -> None:
        self.ms += 1000
        self.flush.step(self.end, 0, self.ms)
        if self.worker.pending() == 0:  # not due yet
            self.ms += 1000
            self.flush.step(self.end, 0, self.ms)
        self.worker.run_all()
        self.worker.collect()

    def offsets(self) -> tuple[int, int]:
        return self.confirmation.confirmed_offset, self.confirmation.lasting_offset


@pytest.mark.parametrize(("mode", "before"), [(ASYNC, (100, 0)), (SYNC, (0, 0))])
def test_without_copies_only_the_disk_counts(mode: FlushMode, before: tuple[int, int]) -> None:
    kit = ConfirmationKit(mode)
    kit.append_to(100)
    assert kit.offsets() == before
    kit.sync()
    assert kit.offsets() == (100, 100)
    assert kit.confirmation.is_later == (mode is SYNC)


@pytest.mark.parametrize("mode", [ASYNC, SYNC])
def test_nothing_is_confirmed_or_lasting_beyond_what_enough_copies_have(mode: FlushMode) -> None:
    kit = ConfirmationKit(mode)
    kit.confirmation.expect_copies(40)
    kit.append_to(100)
    kit.sync()
    assert kit.confirmation.is_later
    assert kit.offsets() == (40, 40)
    kit.confirmation.note_copied(70)
    assert kit.offsets() == (70, 70)
    kit.confirmation.note_copied(200)
    assert kit.offsets() == (100, 100)


def test_copies_do_not_replace_the_disk() -> None:
    kit = ConfirmationKit(SYNC)
    kit.confirmation.expect_copies(0)
    kit.append_to(100)
    kit.confirmation.note_copied(100)
    assert kit.offsets() == (0, 0)
    assert not kit.confirmation.is_on_disk(100)
    kit.sync()
    assert kit.offsets() == (100, 100)
    assert kit.confirmation.is_on_disk(100)


def test_asynchronously_flushed_copies_confirm_what_is_not_lasting_yet() -> None:
    kit = ConfirmationKit(ASYNC)
    kit.confirmation.expect_copies(0)
    kit.append_to(100)
    kit.confirmation.note_copied(100)
    assert kit.offsets() == (100, 0)
    assert kit.confirmation.is_on_disk(100)


def test_a_copy_that_says_less_than_before_takes_nothing_back() -> None:
    kit = ConfirmationKit(ASYNC)
    kit.confirmation.expect_copies(0)
    kit.append_to(100)
    kit.confirmation.note_copied(80)
    kit.confirmation.note_copied(30)
    assert kit.offsets()[0] == 80


def test_copies_that_nobody_waits_for_bound_nothing() -> None:
    kit = ConfirmationKit(ASYNC)
    kit.append_to(100)
    kit.confirmation.note_copied(30)
    assert kit.offsets()[0] == 100


def test_tickets_are_released_when_what_they_wait_for_is_reached() -> None:
    kit = ConfirmationKit(ASYNC)
    kit.confirmation.expect_copies(0)
    kit.append_to(100)
    kit.confirmation.wait_confirmed(100, "confirmed")
    kit.confirmation.wait_lasting(100, "lasting")
    assert kit.confirmation.take_released() == []
    kit.confirmation.note_copied(100)
    assert kit.confirmation.take_released() == ["confirmed"]
    kit.sync()
    assert kit.confirmation.take_released() == ["lasting"]
    assert kit.confirmation.take_released() == []


def test_a_wait_for_copies_alone_begins_no_sync() -> None:
    kit = ConfirmationKit(ASYNC)
    kit.confirmation.expect_copies(0)
    kit.append_to(100)
    kit.confirmation.wait_confirmed(100, "confirmed")
    kit.flush.step(100, 0, 0)
    assert kit.worker.pending() == 0
    kit.confirmation.wait_lasting(100, "lasting")
    kit.flush.step(100, 0, 1)
    assert kit.worker.pending() == 1


def test_a_sync_is_not_begun_again_for_a_wait_that_only_copies_keep() -> None:
    kit = ConfirmationKit(ASYNC)
    kit.confirmation.expect_copies(0)
    kit.append_to(100)
    kit.confirmation.wait_lasting(100, "lasting")
    kit.sync()
    assert kit.confirmation.take_released() == []
    kit.append_to(150)
    kit.flush.step(150, 0, kit.ms)
    assert kit.worker.pending() == 0


def test_after_a_failed_sync_copies_confirm_nothing_more() -> None:
    kit = ConfirmationKit(ASYNC)
    kit.confirmation.expect_copies(0)
    kit.append_to(60)
    kit.sync()
    kit.append_to(100)
    kit.confirmation.wait_confirmed(60, "on the disk")
    kit.confirmation.wait_confirmed(100, "not on the disk")
    kit.flush.stop(DiskFailed("a sync failed"))
    kit.confirmation.note_copied(100)
    assert kit.offsets() == (60, 60)
    assert kit.confirmation.take_released() == ["on the disk"]
    assert kit.confirmation.take_failed() == ["not on the disk"]
    assert kit.confirmation.take_failed() == []
