"""Removing files beside the core: order, failures, readers, power cuts."""

import errno
import gc
import weakref
from pathlib import Path

import pytest

from aerobee.ports.disk import DiskFile
from aerobee.ports.disk_worker import Lane
from aerobee.sim.disk import SimDisk, SimDiskFile
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.sim.faults import PowerCut
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from aerobee.storage.retain.removals import RETRY_INTERVAL_MS, Removals
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker

LOG = "store/commitlog"
QUEUE = "store/consumequeue/Orders/0"
SIZE = 512


class WatchedFile(SimDiskFile):
    """A file of which a test can see when nobody has it any more."""

    __slots__ = ("__weakref__",)


class RemovalKit:
    """Some files on a disk, durable, and the removing of them."""

    def __init__(self, defects: Defects = NO_DEFECTS) -> None:
        self.disk = SimDisk()
        self.worker = SimDiskWorker()
        self.removals = Removals(self.disk, self.worker, defects)
        self.ms = 0

    def file(self, folder: str, number: int) -> DiskFile:
        file = self.disk.create(f"{folder}/{number}", SIZE)
        file.view[:] = bytes([number + 1]) * SIZE
        file.sync()
        self.disk.sync_directory(folder)
        return file

    def add(self, folder: str, *numbers: int) -> None:
        for number in numbers:
            self.removals.add(self.file(folder, number))

    def add_watched(self, folder: str, number: int) -> weakref.ref[DiskFile]:
        self.file(folder, number)
        path = f"{folder}/{number}"
        file = WatchedFile(self.disk, path, self.disk._names.find(path))
        self.removals.add(file)
        return weakref.ref(file)

    def run(self, ms: int = 1) -> None:
        """One step, and all that the disk thread has to do after it."""
        self.ms += ms
        self.removals.step(self.ms)
        self.worker.run_all()
        self.worker.collect()

    def run_until_idle(self) -> None:
        while self.removals.is_pending_in(LOG):
            self.run()

    def names(self, folder: str) -> list[str]:
        return self.disk.list_directory(folder)


def test_one_file_at_a_time_goes_on_the_background_lane_oldest_first() -> None:
    kit = RemovalKit()
    kit.add(LOG, 0, 1, 2)
    for left in (["1", "2"], ["2"], []):
        kit.removals.step(0)
        kit.removals.step(0)
        assert kit.worker.pending(Lane.BACKGROUND) == kit.worker.pending() == 1
        kit.worker.run_all()
        kit.worker.collect()
        assert kit.names(LOG) == left
    kit.removals.step(0)
    assert kit.worker.pending() == 0


def test_a_removal_is_durable_before_the_next_begins() -> None:
    kit = RemovalKit()
    kit.add(LOG, 0, 1)
    kit.run()
    assert kit.disk.power_cut().list_directory(LOG) == ["1"]
    kit.run()
    assert kit.disk.power_cut().list_directory(LOG) == []


@pytest.mark.parametrize("n", range(1, 7))
def test_a_power_cut_anywhere_leaves_the_newest_files_without_a_gap(n: int) -> None:
    kit = RemovalKit()
    kit.add(LOG, 0, 1, 2)
    kit.disk.faults.power_cut_at(n)
    with pytest.raises(PowerCut):
        kit.run_until_idle()
    for survivor in kit.disk.crash_states():
        names = survivor.list_directory(LOG)
        assert names == ["0", "1", "2"][3 - len(names) :], survivor.origin


def test_folders_take_turns() -> None:
    kit = RemovalKit()
    kit.add(QUEUE, 0, 1, 2)
    kit.add(LOG, 0, 1)
    kit.run()
    assert (len(kit.names(QUEUE)), len(kit.names(LOG))) == (2, 2)
    kit.run()
    assert (len(kit.names(QUEUE)), len(kit.names(LOG))) == (2, 1)
    for _ in range(3):
        kit.run()
    assert kit.names(QUEUE) == kit.names(LOG) == []


def test_a_folder_is_pending_until_its_last_file_is_gone() -> None:
    kit = RemovalKit()
    assert not kit.removals.is_pending_in(LOG)
    kit.add(LOG, 0, 1)
    assert not kit.removals.is_pending_in(QUEUE)
    for _ in range(2):
        assert kit.removals.is_pending_in(LOG)
        kit.removals.step(0)
        assert kit.removals.is_pending_in(LOG)
        kit.worker.run_all()
        kit.worker.collect()
    assert not kit.removals.is_pending_in(LOG)


def test_the_bytes_of_started_removals_are_counted() -> None:
    kit = RemovalKit()
    kit.add(LOG, 0, 1)
    assert kit.removals.removed_bytes == 0
    kit.removals.step(0)
    assert kit.removals.removed_bytes == SIZE


# Readers.


def story_of_a_reader(defects: Defects) -> None:
    """A reader holds a part of a file while it is removed."""
    kit = RemovalKit(defects)
    file = kit.file(LOG, 6)
    held = file.view[10:20]
    kit.removals.add(file)
    kit.run()
    assert kit.names(LOG) == []
    assert bytes(held) == bytes([7]) * 10


def test_a_slice_that_is_held_stays_as_it_was() -> None:
    story_of_a_reader(NO_DEFECTS)


def test_planted_file_in_use_wiped_is_noticed() -> None:
    with pytest.raises(AssertionError):
        story_of_a_reader(frozenset({Defect.FILE_IN_USE_WIPED}))


def test_a_file_is_not_closed_under_a_sync_that_is_still_to_run() -> None:
    kit = RemovalKit()
    file = kit.file(LOG, 0)
    kit.removals.add(file)
    kit.run()
    file.sync()
    assert len(file.view) == SIZE


def test_nothing_but_its_readers_keeps_a_removed_file() -> None:
    """A mapping that is still referred to is room that the disk does not get back."""
    kit = RemovalKit()
    watched = kit.add_watched(LOG, 0)
    kit.removals.step(0)
    assert watched() is not None
    gc.disable()
    try:
        kit.worker.run_next()
        assert watched() is None, "the disk thread lets go of it, not the core"
    finally:
        gc.enable()


def test_on_the_real_disk_a_removed_file_is_mapped_as_long_as_it_is_read(tmp_path: Path) -> None:
    disk = MappedDisk()
    worker = ThreadDiskWorker()
    removals = Removals(disk, worker, NO_DEFECTS)
    path = f"{tmp_path}/commitlog/0"
    file = disk.create(path, 1 << 20)
    file.view[:10] = b"0123456789"
    held = file.view[2:5]
    removals.add(file)
    del file
    removals.step(0)
    worker.close()
    assert disk.list_directory(f"{tmp_path}/commitlog") == []
    assert is_mapped(path)
    assert bytes(held) == b"234"
    del held
    assert not is_mapped(path)


def is_mapped(path: str) -> bool:
    return f"{path} (deleted)" in Path("/proc/self/maps").read_text()


# Failing.


def test_a_name_that_cannot_be_removed_is_tried_again_every_second() -> None:
    kit = RemovalKit()
    kit.add(LOG, 0, 1)
    kit.disk.faults.fail_call(1, errno.EPERM)
    kit.run()
    assert kit.names(LOG) == ["0", "1"]
    assert kit.removals.failure is None
    assert kit.removals.problem.startswith("store/commitlog/0 could not be removed: ")
    kit.run(RETRY_INTERVAL_MS - 1)
    assert kit.names(LOG) == ["0", "1"], "not yet, and none that comes after it"
    kit.run(1)
    assert kit.names(LOG) == ["1"]
    assert kit.removals.problem == ""
    kit.run()
    assert kit.names(LOG) == []


def test_only_its_folder_waits_for_a_name_that_cannot_be_removed() -> None:
    kit = RemovalKit()
    kit.add(QUEUE, 0, 1)
    kit.add(LOG, 0)
    kit.disk.faults.fail_call(1, errno.EPERM)
    kit.run()
    kit.run()
    assert kit.names(LOG) == []
    assert kit.names(QUEUE) == ["0", "1"]


def test_a_file_that_somebody_else_removed_is_gone() -> None:
    kit = RemovalKit()
    kit.add(LOG, 0, 1)
    kit.disk.remove(f"{LOG}/0")
    kit.run()
    kit.run()
    assert kit.names(LOG) == []
    assert kit.removals.failure is None


def test_a_folder_that_somebody_else_removed_is_gone() -> None:
    kit = RemovalKit()
    kit.add(QUEUE, 0)
    kit.disk.remove(f"{QUEUE}/0")
    kit.disk.remove_directory(QUEUE)
    kit.run()
    assert kit.removals.failure is None
    assert not kit.removals.is_pending_in(QUEUE)


def test_a_folder_that_cannot_be_synced_is_a_failed_sync() -> None:
    kit = RemovalKit()
    kit.add(LOG, 0, 1)
    kit.disk.faults.fail_call(2, errno.EIO)
    kit.run()
    assert kit.removals.failure is not None
    assert kit.removals.failure.message.startswith("a sync of store/commitlog failed: ")
    for _ in range(3):
        kit.run(RETRY_INTERVAL_MS)
    assert kit.names(LOG) == ["1"], "nothing more is removed"


# Ending.


def test_closing_waits_for_the_removal_that_is_under_way_and_starts_no_other() -> None:
    kit = RemovalKit()
    kit.add(LOG, 0, 1)
    kit.removals.close()
    assert kit.names(LOG) == ["0", "1"]
    kit.removals.step(0)
    kit.removals.close()
    assert kit.names(LOG) == ["1"]
    assert kit.worker.pending() == 0
