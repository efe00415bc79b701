"""A disk that counts as full: when, until when, and what its refusal says."""

import errno

import pytest

from aerobee.ports.disk import DiskSpace
from aerobee.ports.disk_worker import Lane
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.retain.disk_space import MEASURE_INTERVAL_MS, DiskSpaceWatch, SpaceLimits

LIMITS = SpaceLimits(used_ratio_clean=0.80, used_ratio_full=0.90, free_bytes_min=50)
TOTAL = 1000
FOLDER = "store/commitlog"


class WatchKit:
    """A watch over a disk of which a test says how much is used."""

    def __init__(self, used: int = 0) -> None:
        self.disk = SimDisk(capacity_bytes=TOTAL)
        self.disk.make_directory(FOLDER)
        self.ms = 0
        self.use(used)
        self.worker = SimDiskWorker()
        self.watch = DiskSpaceWatch(self.disk, FOLDER, self.worker, LIMITS)

    def use(self, used: int) -> None:
        path = f"{FOLDER}/ballast"
        if self.disk.exists(path):
            self.disk.remove(path)
        if used:
            self.disk.create(path, used)

    def measure(self, used: int, removed_bytes: int = 0) -> bool:
        """Whether the disk counts as full once so much is used and was noticed."""
        self.use(used)
        self.ms += MEASURE_INTERVAL_MS
        self.watch.step(self.ms, removed_bytes)
        self.worker.run_all()
        self.worker.collect()
        return self.watch.is_full

    def asked(self) -> int:
        return sum(call.name == "space" for call in self.disk.faults.calls)


@pytest.mark.parametrize(
    ("used", "is_full", "excess"),
    [(0, False, -800), (800, False, 0), (801, False, 1), (900, False, 100), (901, True, 101)],
)
def test_a_disk_is_full_above_one_ratio_and_must_come_down_to_the_other(
    used: int, is_full: bool, excess: int
) -> None:
    limits = LIMITS._replace(free_bytes_min=1)
    space = DiskSpace(TOTAL, TOTAL - used)
    assert limits.is_full(space) is is_full
    assert limits.excess_bytes(space) == excess


@pytest.mark.parametrize(
    ("free", "is_full", "excess"),
    [(300, False, 100), (400, False, 0), (201, False, 199), (200, False, 200), (199, True, 201)],
)
def test_a_disk_is_full_below_the_reserve_and_must_come_up_to_twice_that(
    free: int, is_full: bool, excess: int
) -> None:
    limits = SpaceLimits(1.0, 1.0, 200)
    space = DiskSpace(TOTAL, free)
    assert limits.is_full(space) is is_full
    assert limits.excess_bytes(space) == excess


def test_a_disk_at_its_limit_does_not_refuse_and_take_in_turns() -> None:
    kit = WatchKit()
    story = [(899, False), (901, True), (899, True), (850, True), (801, True), (800, False)]
    story += [(850, False), (900, False), (901, True), (0, False)]
    for used, is_full in story:
        assert kit.measure(used) is is_full, used


def test_a_store_on_a_full_disk_refuses_from_the_start() -> None:
    assert WatchKit(used=950).watch.refusal("") is not None
    assert WatchKit(used=850).watch.refusal("") is None


def test_a_disk_that_does_not_answer_at_the_start_is_taken_for_one_with_room() -> None:
    disk = SimDisk(capacity_bytes=TOTAL)
    disk.make_directory(FOLDER)
    disk.faults.fail_call(1, errno.EIO)
    watch = DiskSpaceWatch(disk, FOLDER, SimDiskWorker(), LIMITS)
    assert watch.refusal("") is None
    assert watch.excess_bytes(0) == 0


def test_the_refusal_names_the_numbers_and_what_to_do() -> None:
    kit = WatchKit()
    kit.measure(955)
    refusal = kit.watch.refusal("")
    assert refusal is not None
    assert refusal.message == (
        "the disk of store/commitlog is 95.5 % used and 45 bytes are free; "
        "appends stop above 90 % and below 50 bytes"
    )
    assert refusal.hint == (
        "free room on this disk or shorten the retention; appends go on by themselves at 80 % "
        "used with 100 bytes free"
    )
    assert refusal is not kit.watch.refusal("")
    stuck = kit.watch.refusal("x could not be removed")
    assert stuck is not None
    assert stuck.message.endswith("below 50 bytes; x could not be removed")


def test_large_numbers_are_said_in_large_units() -> None:
    disk = SimDisk(capacity_bytes=20 << 30)
    disk.make_directory(FOLDER)
    disk.create(f"{FOLDER}/a", 4096)
    limits = SpaceLimits(0.1, 0.1, 30 << 30)
    refusal = DiskSpaceWatch(disk, FOLDER, SimDiskWorker(), limits).refusal("")
    assert refusal is not None
    assert "20.0 GiB are free" in refusal.message
    assert "below 30.0 GiB" in refusal.message


def test_the_disk_is_asked_beside_the_core_and_once_a_second() -> None:
    kit = WatchKit()
    before = kit.asked()
    kit.watch.step(0, 0)
    assert kit.asked() == before
    assert kit.worker.pending(Lane.BACKGROUND) == 1
    kit.watch.step(5 * MEASURE_INTERVAL_MS, 0)
    assert kit.worker.pending() == 1, "one question at a time"
    kit.worker.run_all()
    kit.worker.collect()
    kit.watch.step(MEASURE_INTERVAL_MS - 1, 0)
    assert kit.worker.pending() == 0
    kit.watch.step(MEASURE_INTERVAL_MS, 0)
    assert kit.worker.pending() == 1


def test_a_question_that_fails_leaves_the_last_answer_in_force() -> None:
    kit = WatchKit()
    kit.measure(950)
    kit.use(0)
    kit.ms += MEASURE_INTERVAL_MS
    kit.disk.faults.fail_call(1, errno.EIO)
    kit.watch.step(kit.ms, 0)
    kit.worker.run_all()
    kit.worker.collect()
    assert kit.watch.is_full
    assert kit.measure(0) is False


def test_a_file_system_without_a_size_is_not_believed() -> None:
    kit = WatchKit()
    kit.measure(850)
    kit.disk.capacity_bytes = 0
    kit.use(0)
    kit.ms += MEASURE_INTERVAL_MS
    kit.watch.step(kit.ms, 0)
    kit.worker.run_all()
    kit.worker.collect()
    assert kit.watch.excess_bytes(0) == 50


def test_what_was_removed_since_the_disk_was_asked_counts_as_free() -> None:
    kit = WatchKit()
    kit.measure(950, removed_bytes=7000)
    assert kit.watch.excess_bytes(7000) == 150
    assert kit.watch.excess_bytes(7100) == 50
    kit.measure(850, removed_bytes=7100)
    assert kit.watch.excess_bytes(7100) == 50


def test_a_removal_started_while_the_disk_was_being_asked_counts_as_free() -> None:
    kit = WatchKit()
    kit.use(950)
    kit.watch.step(0, 7000)
    kit.worker.run_all()
    kit.worker.collect()
    assert kit.watch.excess_bytes(7100) == 50


def test_closing_waits_for_the_question_that_is_out() -> None:
    kit = WatchKit()
    kit.watch.close()
    kit.watch.step(0, 0)
    kit.watch.close()
    assert kit.worker.pending() == 0


def test_the_last_answer_is_told() -> None:
    kit = WatchKit(used=100)
    assert kit.watch.space == DiskSpace(TOTAL, TOTAL - 100)
    kit.measure(300)
    assert kit.watch.space == DiskSpace(TOTAL, TOTAL - 300)
