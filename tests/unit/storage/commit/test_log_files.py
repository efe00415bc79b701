"""The next log file, made ahead of need: its order of syncs, its failures, its end."""

import contextlib
import errno

import pytest

from aerobee.errors import DiskFailed, DiskFull, StorageError, StoreBusy
from aerobee.ports.disk_worker import Lane
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.sim.faults import PowerCut
from aerobee.storage.commit.log_files import RETRY_INTERVAL_MS, LogFiles
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from aerobee.storage.files.file_sequence import FileSequence

FOLDER = "store/commitlog"
SIZE = 1024


class FilesKit:
    def __init__(self, disk: SimDisk | None = None, defects: Defects = NO_DEFECTS) -> None:
        self.disk = SimDisk() if disk is None else disk
        self.worker = SimDiskWorker()
        self.sequence = FileSequence(self.disk, FOLDER, SIZE)
        self.files = LogFiles(self.sequence, self.worker, 512, defects)

    def calls(self) -> list[str]:
        return [call.name for call in self.disk.faults.calls]

    def names(self) -> list[str]:
        return self.disk.list_directory(FOLDER)


def name_of(number: int) -> str:
    return f"{number * SIZE:020}"


def test_a_file_is_made_on_the_background_lane_and_taken_when_it_is_needed() -> None:
    kit = FilesKit()
    kit.files.prepare_next()
    kit.files.prepare_next()
    assert kit.worker.pending(Lane.BACKGROUND) == 1
    assert kit.worker.pending(Lane.SYNC) == 0
    kit.worker.run_all()
    kit.worker.collect()
    assert kit.sequence.files == []
    calls = len(kit.calls())
    file = kit.files.advance()
    assert len(kit.calls()) == calls, "taking what lies ready asks nothing of the disk"
    assert (file.first_offset, file.size) == (0, SIZE)
    assert kit.sequence.files == [file]


def test_a_file_is_on_the_disk_name_and_all_before_anything_is_in_it() -> None:
    kit = FilesKit()
    kit.files.advance()
    order = [call for call in kit.calls() if call in ("create", "sync", "sync_directory", "warm")]
    assert order == ["create", "sync", "sync_directory", "warm"]
    for survivor in kit.disk.crash_states():
        assert survivor.read(f"{FOLDER}/{name_of(0)}") == bytes(SIZE), survivor.origin


def test_if_nothing_lies_ready_the_roll_waits() -> None:
    kit = FilesKit()
    assert [kit.files.advance().first_offset for _ in range(3)] == [0, SIZE, 2 * SIZE]
    assert kit.names() == [name_of(0), name_of(1), name_of(2)]


def test_warming_stops_at_the_end_of_a_small_file() -> None:
    kit = FilesKit()
    kit.files = LogFiles(kit.sequence, kit.worker, 1 << 30, NO_DEFECTS)
    assert kit.files.advance().size == SIZE


def test_a_step_makes_the_next_file_if_it_is_wanted() -> None:
    kit = FilesKit()
    kit.files.step(False, 0)
    assert kit.worker.pending() == 0
    kit.files.step(True, 1)
    kit.files.step(True, 2)
    assert kit.worker.pending() == 1
    assert kit.files.refusal() is None


# Ending.


def test_a_file_made_ahead_and_not_needed_is_removed_for_good() -> None:
    kit = FilesKit()
    kit.files.advance()
    kit.files.prepare_next()
    kit.worker.run_all()
    kit.worker.collect()
    assert kit.names() == [name_of(0), name_of(1)]
    kit.files.discard_next()
    assert kit.names() == [name_of(0)]
    assert kit.disk.power_cut().list_directory(FOLDER) == [name_of(0)]
    kit.files.discard_next()
    assert kit.names() == [name_of(0)]
    assert kit.files.advance().first_offset == SIZE


def test_a_file_that_is_still_being_made_is_waited_for_and_removed() -> None:
    kit = FilesKit()
    kit.files.prepare_next()
    kit.files.discard_next()
    assert kit.names() == []
    assert kit.worker.pending() == 0


def test_a_file_that_could_not_be_made_needs_no_removing() -> None:
    kit = FilesKit(SimDisk(capacity_bytes=10))
    kit.files.prepare_next()
    kit.files.discard_next()
    assert kit.names() == []


def test_closing_closes_the_files() -> None:
    kit = FilesKit()
    disk_file = kit.files.advance().disk_file
    kit.files.close()
    with pytest.raises(ValueError, match="closed"):
        disk_file.sync()


# Failing.


@pytest.mark.parametrize(
    ("call", "code", "error"),
    [
        (1, errno.ENOSPC, DiskFull),
        (1, errno.EDQUOT, DiskFull),
        (1, errno.EMFILE, StoreBusy),
        (1, errno.ENFILE, StoreBusy),
        (1, errno.ENOMEM, StoreBusy),
        (1, errno.EIO, DiskFailed),
        (1, errno.EROFS, DiskFailed),
        (2, errno.EIO, DiskFailed),
        (2, errno.ENOSPC, DiskFailed),  # a sync that fails is a failed sync, whatever it says
        (3, errno.EIO, DiskFailed),
        (3, errno.ENOSPC, DiskFailed),
        (4, errno.ENOSPC, DiskFull),
        (4, errno.EIO, DiskFailed),
    ],
)
def test_whichever_call_fails_the_roll_is_refused_and_no_half_made_file_is_left(
    call: int, code: int, error: type[StorageError]
) -> None:
    kit = FilesKit()
    kit.files.advance()
    kit.disk.faults.fail_call(call, code)
    with pytest.raises(error, match="next commit log file"):
        kit.files.advance()
    assert kit.names() == [name_of(0)]
    assert [file.first_offset for file in kit.sequence.files] == [0]
    assert isinstance(kit.files.refusal(), error)


def test_a_failure_that_nobody_needed_to_notice_refuses_nothing() -> None:
    kit = FilesKit()
    kit.files.advance()
    kit.disk.faults.fail_call(1, errno.ENOSPC)
    kit.files.prepare_next()
    kit.worker.run_all()
    kit.worker.collect()
    assert kit.files.refusal() is None


def test_a_failed_disk_is_noticed_before_anybody_needs_the_file() -> None:
    kit = FilesKit()
    kit.files.advance()
    kit.disk.faults.fail_call(1, errno.EIO)
    kit.files.prepare_next()
    kit.worker.run_all()
    kit.worker.collect()
    assert isinstance(kit.files.refusal(), DiskFailed)


def test_lack_of_room_is_tried_again_every_second_until_it_is_over() -> None:
    disk = SimDisk(capacity_bytes=SIZE)
    kit = FilesKit(disk)
    kit.files.advance()
    with pytest.raises(DiskFull):
        kit.files.advance()
    tries = kit.calls().count("create")
    for ms in (0, 1, RETRY_INTERVAL_MS - 1):
        kit.files.step(False, ms)
        with pytest.raises(DiskFull):
            kit.files.advance()
    assert kit.calls().count("create") == tries
    kit.files.step(False, RETRY_INTERVAL_MS)
    kit.worker.run_all()
    kit.worker.collect()
    assert kit.calls().count("create") == tries + 1
    assert isinstance(kit.files.refusal(), DiskFull)
    disk.capacity_bytes += SIZE
    for ms in (RETRY_INTERVAL_MS + 1, 2 * RETRY_INTERVAL_MS + 1):
        kit.files.step(False, ms)
    kit.worker.run_all()
    kit.worker.collect()
    kit.files.step(False, 2 * RETRY_INTERVAL_MS + 2)
    assert kit.files.refusal() is None
    assert kit.files.advance().first_offset == SIZE


def test_while_the_next_try_is_under_way_appends_stay_refused() -> None:
    kit = FilesKit(SimDisk(capacity_bytes=SIZE))
    kit.files.advance()
    with pytest.raises(DiskFull):
        kit.files.advance()
    for ms in (0, RETRY_INTERVAL_MS):
        kit.files.step(False, ms)
    assert kit.worker.pending() == 1
    assert isinstance(kit.files.refusal(), DiskFull)


def test_a_failed_sync_is_never_tried_again() -> None:
    kit = FilesKit()
    kit.files.advance()
    kit.disk.faults.fail_sync(f"{FOLDER}/*")
    with pytest.raises(DiskFailed):
        kit.files.advance()
    for ms in range(0, 10 * RETRY_INTERVAL_MS, 500):
        kit.files.step(True, ms)
    assert kit.worker.pending() == 0
    with pytest.raises(DiskFailed, match="takes no more writes"):
        kit.files.advance()


def test_a_sync_that_fails_after_a_lack_of_room_is_no_lack_of_room() -> None:
    disk = SimDisk(capacity_bytes=SIZE)
    kit = FilesKit(disk)
    kit.files.advance()
    with pytest.raises(DiskFull):
        kit.files.advance()
    disk.capacity_bytes += SIZE
    disk.faults.fail_sync(f"{FOLDER}/*")
    for ms in (0, RETRY_INTERVAL_MS):
        kit.files.step(False, ms)
    kit.worker.run_all()
    kit.worker.collect()
    kit.files.step(False, RETRY_INTERVAL_MS + 1)
    assert isinstance(kit.files.refusal(), DiskFailed)


def test_planted_no_directory_sync_on_roll() -> None:
    kit = FilesKit(defects=frozenset({Defect.NO_DIRECTORY_SYNC_ON_ROLL}))
    kit.disk.make_directory(FOLDER)
    kit.files.advance()
    assert "sync_directory" not in kit.calls()
    assert kit.disk.power_cut().list_directory(FOLDER) == []


def test_pages_are_warmed_ahead_of_the_writer_one_job_at_a_time() -> None:
    kit = FilesKit()
    kit.files = LogFiles(kit.sequence, kit.worker, 256, NO_DEFECTS)
    kit.files.advance()
    warmed = kit.calls().count("warm")
    kit.files.make_ready(0, False)
    assert kit.worker.pending(Lane.WARM) == 0, "the file was warmed so far when it was made"
    kit.files.make_ready(128, False)
    kit.files.make_ready(200, False)
    assert kit.worker.pending(Lane.WARM) == 1
    kit.worker.run_all()
    kit.worker.collect()
    assert kit.calls().count("warm") == warmed + 1
    kit.files.make_ready(200, False)
    assert kit.worker.pending(Lane.WARM) == 0, "the writer is far behind"


def test_warming_follows_the_writer_to_the_end_of_its_file_and_into_the_next() -> None:
    kit = FilesKit()
    kit.files = LogFiles(kit.sequence, kit.worker, 256, NO_DEFECTS)

    for number in range(2):
        kit.files.advance()
        for position in range(0, SIZE, 64):
            kit.files.make_ready(number * SIZE + position, False)
            kit.worker.run_all()
            kit.worker.collect()
    ranges = [call for call in kit.calls() if call == "warm"]
    # Each file: what it is made with, and the three quarters that follow.
    assert len(ranges) == 2 * (1 + 3)


def test_what_cannot_be_warmed_is_not_tried_for_ever() -> None:
    kit = FilesKit()
    kit.files = LogFiles(kit.sequence, kit.worker, 256, NO_DEFECTS)
    kit.files.advance()
    kit.disk.faults.fail_call(1, errno.ENOMEM)
    kit.files.make_ready(128, False)
    kit.worker.run_all()
    kit.worker.collect()
    kit.files.make_ready(128, False)
    assert kit.worker.pending(Lane.WARM) == 0
    assert kit.files.refusal() is None


def test_for_large_appends_no_pages_are_made_ready_and_reading_brings_none_in() -> None:
    kit = FilesKit()
    kit.files = LogFiles(kit.sequence, kit.worker, 256, NO_DEFECTS)
    kit.files.advance()
    kit.files.make_ready(0, True)
    kit.files.make_ready(200, True)
    assert kit.worker.pending(Lane.WARM) == 0
    assert kit.calls().count("read_ahead") == 1
    kit.files.make_ready(200, False)
    assert kit.worker.pending(Lane.WARM) == 1
    assert kit.calls().count("read_ahead") == 2


def test_a_file_that_is_full_is_read_ahead_again() -> None:
    kit = FilesKit()
    first = kit.files.advance()
    kit.files.make_ready(0, True)
    second = kit.files.advance()
    kit.files.make_ready(SIZE, True)
    told = [call.path for call in kit.disk.faults.calls if call.name == "read_ahead"]
    assert told == [first.disk_file.path, first.disk_file.path, second.disk_file.path]


def test_advice_that_is_refused_changes_nothing() -> None:
    kit = FilesKit()
    kit.files.advance()
    kit.disk.faults.fail_call(1, errno.EIO)
    kit.files.make_ready(0, True)
    assert kit.calls()[-1] == "read_ahead"
    assert kit.files.refusal() is None


# Beginning elsewhere.


def test_a_log_without_records_begins_elsewhere_and_goes_on_from_there() -> None:
    kit = FilesKit()
    kit.files.advance()
    kit.files.prepare_next()
    kit.worker.run_all()
    kit.disk.faults.calls.clear()
    kit.files.begin_at(7 * SIZE)
    order = [call for call in kit.calls() if call in ("remove", "create", "sync_directory")]
    # The next one, then the first one, for good, before the new one is there.
    assert order == ["remove", "sync_directory"] * 2 + ["create", "sync_directory"]
    assert kit.names() == [name_of(7)]
    assert [file.first_offset for file in kit.sequence.files] == [7 * SIZE]
    assert kit.files.advance().first_offset == 8 * SIZE
    assert kit.names() == [name_of(7), name_of(8)]


def test_a_power_cut_never_leaves_the_old_begin_beside_the_new_one() -> None:
    number, seen = 0, set()
    while True:
        number += 1
        kit = FilesKit()
        kit.files.advance()
        kit.disk.faults.power_cut_at(number)
        with contextlib.suppress(PowerCut):
            kit.files.begin_at(7 * SIZE)
            break
        for survivor in kit.disk.crash_states():
            seen.add(tuple(survivor.list_directory(FOLDER)))
    assert seen == {(), (name_of(0),), (name_of(7),)}
    for survivor in kit.disk.crash_states():
        assert survivor.list_directory(FOLDER) == [name_of(7)]


@pytest.mark.parametrize("number", range(1, 5))
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_a_begin_that_fails_is_final(number: int, code: int) -> None:
    kit = FilesKit()
    first = kit.files.advance()
    kit.disk.faults.fail_call(number, code)
    with pytest.raises(DiskFailed, match="the first commit log file could not be made"):
        kit.files.begin_at(7 * SIZE)
    assert kit.sequence.files == [first]
    for ms in range(0, 5 * RETRY_INTERVAL_MS, RETRY_INTERVAL_MS):
        kit.files.step(True, ms)
        assert isinstance(kit.files.refusal(), DiskFailed)
    assert kit.worker.pending() == 0


def test_a_file_that_an_append_will_need_is_asked_for_before() -> None:
    kit = FilesKit()
    kit.files.advance()
    assert kit.files.find_shortage(SIZE) is None
    assert kit.files.find_shortage(SIZE + 1) is None
    assert len(kit.names()) == 2
    kit.files.advance()
    kit.disk.capacity_bytes = kit.disk.used_bytes()
    assert isinstance(kit.files.find_shortage(2 * SIZE + 1), DiskFull)
    assert isinstance(kit.files.refusal(), DiskFull)
