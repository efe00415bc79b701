"""The end of the log: finding it, judging it by the mark, cutting there, and keeping the rest."""

from typing import Any, cast

import pytest

from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.protocol.message.record import RecordWriter
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defect
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.recover.log_recovery import (
    LogEnd,
    check_against_mark,
    cut_tail,
    last_timestamp,
    rewrite,
    scan_log,
    start_without_mark,
)
from tests.store_kit import StoreKit, draft

DIRECTORY = "store/commitlog"
FILE_BYTES = 4096
STORED = 1_700_000_000_000


def silent(what: str, done: int, total: int) -> None:
    pass


def log_of(count: int) -> tuple[SimDisk, FileSequence, list[int]]:
    """A log of so many messages on a disk on which all of it is synced, and their offsets."""
    kit = StoreKit()
    offsets = []
    for number in range(count):
        offsets.append(kit.append(draft(body=str(number).encode().ljust(700))))
        kit.clock.advance(1000)
    offsets.append(kit.store.end_offset)
    kit.store.close()
    sequence = FileSequence(kit.disk, DIRECTORY, FILE_BYTES)
    sequence.load()
    kit.disk.faults.calls.clear()
    return kit.disk, sequence, offsets


def scan(log: FileSequence, start: int = 0, *, needs_crc: bool = False) -> LogEnd:
    return scan_log(log, start, needs_crc, silent, NO_DEFECTS)


def damage(log: FileSequence, offset: int) -> None:
    file = log.find(offset)
    assert file is not None
    file.view[offset - file.first_offset + 100] ^= 1


def calls_of(disk: SimDisk, *names: str) -> list[tuple[str, str]]:
    return [(call.name, call.path) for call in disk.faults.calls if call.name in names]


# Scanning.


def test_a_scan_of_no_files_ends_where_it_began() -> None:
    log = FileSequence(SimDisk(), DIRECTORY, FILE_BYTES)
    assert scan(log)[:3] == (0, 0, True)


def test_a_scan_ends_behind_the_last_record_over_all_files() -> None:
    _, log, offsets = log_of(11)
    assert len(log.files) == 3
    found = scan(log)
    assert found == LogEnd(offsets[-1], STORED + 10_000, True, "no record")


def test_a_scan_from_the_end_finds_nothing_and_no_time() -> None:
    _, log, offsets = log_of(3)
    assert scan(log, offsets[-1])[:2] == (offsets[-1], 0)


def test_a_log_that_fills_its_last_file_ends_with_it() -> None:
    _, log, _ = log_of(6)
    log.remove_after(FILE_BYTES)
    found = scan(log)
    assert (found.end_offset, found.reason) == (FILE_BYTES, "the end of the file")


def test_a_damaged_record_ends_the_log_there() -> None:
    _, log, offsets = log_of(11)
    damage(log, offsets[6])
    found = scan(log)
    assert found.end_offset == offsets[6]
    assert found.last_timestamp == STORED + 5000
    assert found.reason == "a record that does not match its checksum"


def test_a_defect_makes_a_scan_overlook_damage() -> None:
    _, log, offsets = log_of(3)
    damage(log, offsets[1])
    found = scan_log(log, 0, False, silent, frozenset({Defect.CRC_NOT_CHECKED}))
    assert found.end_offset == offsets[-1]


def test_a_record_without_crc_ends_the_log_only_where_one_is_needed() -> None:
    disk = SimDisk()
    log = FileSequence(disk, DIRECTORY, FILE_BYTES)
    record = RecordWriter(StorageConfig().store_host, False).encode(draft(), 0, 0, STORED)
    log.create(0).view[: len(record)] = record
    assert scan(log)[:3] == (len(record), STORED, False)
    assert scan(log, needs_crc=True)[:3] == (0, 0, True)


def test_progress_is_told_file_by_file_up_to_the_whole() -> None:
    _, log, offsets = log_of(11)
    told: list[tuple[str, int, int]] = []
    scan_log(log, offsets[1], False, lambda *said: told.append(said), NO_DEFECTS)
    total = 3 * FILE_BYTES - offsets[1]
    assert told == [
        ("checking the log", FILE_BYTES - offsets[1], total),
        ("checking the log", 2 * FILE_BYTES - offsets[1], total),
        ("checking the log", offsets[-1] - offsets[1], total),
    ]


# The mark.


def test_an_end_at_or_above_the_mark_is_fine() -> None:
    _, log, offsets = log_of(3)
    found = LogEnd(offsets[1], 0, True, "a torn record")
    check_against_mark(log, found, offsets[1])
    check_against_mark(log, found, 0)


def test_an_end_below_the_mark_names_file_byte_and_offset() -> None:
    _, log, offsets = log_of(11)
    found = LogEnd(offsets[6], 0, True, "a torn record")
    with pytest.raises(CorruptRecord, match="a torn record") as raised:
        check_against_mark(log, found, offsets[6] + 1)
    assert raised.value.path == f"{DIRECTORY}/{FILE_BYTES:020d}"
    assert raised.value.position == offsets[6] - FILE_BYTES
    assert raised.value.log_offset == offsets[6]
    assert str(offsets[6] + 1) in str(raised.value)
    assert "durable_mark" in raised.value.hint


def test_a_log_without_the_file_at_its_end_names_the_folder() -> None:
    _, log, _ = log_of(3)
    found = LogEnd(FILE_BYTES, 0, True, "the end of the file")
    with pytest.raises(CorruptFile, match=f"ends at {FILE_BYTES}, but 5000 bytes") as raised:
        check_against_mark(log, found, 5000)
    assert raised.value.path == DIRECTORY


# Cutting.


def test_behind_a_cut_there_is_nothing_even_after_a_power_cut() -> None:
    disk, log, offsets = log_of(11)
    kept = disk.files()[f"{DIRECTORY}/{0:020d}"]
    cut_tail(log, offsets[2], NO_DEFECTS)
    assert len(log.files) == 1
    after = disk.power_cut()
    assert after.list_directory(DIRECTORY) == [f"{0:020d}"]
    content = after.read(f"{DIRECTORY}/{0:020d}")
    assert content == kept[: offsets[2]] + bytes(FILE_BYTES - offsets[2])


def test_files_go_before_bytes_do_and_newest_first() -> None:
    disk, log, offsets = log_of(11)
    cut_tail(log, offsets[2], NO_DEFECTS)
    assert calls_of(disk, "remove", "sync_directory", "sync") == [
        ("remove", f"{DIRECTORY}/{2 * FILE_BYTES:020d}"),
        ("remove", f"{DIRECTORY}/{FILE_BYTES:020d}"),
        ("sync_directory", DIRECTORY),
        ("sync", f"{DIRECTORY}/{0:020d}"),
    ]


def test_a_cut_between_two_files_leaves_the_first_whole() -> None:
    disk, log, _ = log_of(11)
    whole = disk.files()[f"{DIRECTORY}/{0:020d}"]
    cut_tail(log, FILE_BYTES, NO_DEFECTS)
    assert disk.power_cut().list_directory(DIRECTORY) == [f"{0:020d}"]
    assert disk.power_cut().read(f"{DIRECTORY}/{0:020d}") == whole


def test_a_cut_at_the_begin_of_the_log_leaves_its_first_file_empty() -> None:
    disk, log, _ = log_of(11)
    cut_tail(log, 0, NO_DEFECTS)
    survivor = disk.power_cut()
    assert survivor.list_directory(DIRECTORY) == [f"{0:020d}"]
    assert not survivor.read(f"{DIRECTORY}/{0:020d}").strip(b"\0")


def test_a_defect_leaves_the_tail() -> None:
    disk, log, offsets = log_of(3)
    before = disk.files()[f"{DIRECTORY}/{0:020d}"]
    cut_tail(log, offsets[1], frozenset({Defect.TAIL_NOT_ZEROED}))
    assert disk.read(f"{DIRECTORY}/{0:020d}") == before


# Writing again.


class WatchedFile:
    """As much of a mapped file as a rewrite uses: it remembers where it was written to, since
    bytes that stay the same show nowhere else."""

    def __init__(self, first_offset: int, size: int) -> None:
        self.first_offset = first_offset
        self.size = size
        self.view = self
        self.disk_file = self
        self.written: list[int] = []
        self.calls: list[str] = []

    def end_offset(self) -> int:
        return self.first_offset + self.size

    def __getitem__(self, position: int) -> int:
        assert 0 <= position < self.size
        return position % 251

    def __setitem__(self, position: int, value: int) -> None:
        assert value == self[position], "a rewrite changes nothing"
        self.written.append(position)
        self.calls.append("write")

    def sync(self) -> None:
        self.calls.append("sync")


class WatchedLog:
    def __init__(self, file_size: int, count: int) -> None:
        self.files = [WatchedFile(number * file_size, file_size) for number in range(count)]

    def rewrite(self, start: int, end: int) -> None:
        rewrite(cast(Any, self), start, end)


@pytest.mark.parametrize("file_size", [5 * 4096, 5 * 4096 + 1000])
@pytest.mark.parametrize(
    ("start", "end"), [(0, 1), (0, 61_000), (4095, 4097), (5000, 30_000), (21_480, 42_960)]
)
def test_a_rewrite_writes_to_every_page_of_its_range(file_size: int, start: int, end: int) -> None:
    log = WatchedLog(file_size, 3)
    log.rewrite(start, end)
    for file in log.files:
        first = max(start - file.first_offset, 0)
        last = min(end - file.first_offset, file_size)
        wanted = set(range(first // 4096, (last - 1) // 4096 + 1)) if first < last else set()
        assert {position // 4096 for position in file.written} >= wanted
        assert file.calls == ["write"] * len(file.written) + ["sync"] * bool(wanted)


def test_a_rewrite_of_nothing_syncs_nothing() -> None:
    log = WatchedLog(4096, 3)
    log.rewrite(5000, 5000)
    assert [file.calls for file in log.files] == [[], [], []]


def test_a_rewrite_leaves_every_byte_as_it_is() -> None:
    disk, log, offsets = log_of(11)
    before = disk.files()
    rewrite(log, offsets[1], offsets[-1])
    assert disk.files() == before
    assert [path[-5:] for _, path in calls_of(disk, "sync")] == ["00000", "04096", "08192"]


# Stores without a mark.


def test_without_a_mark_a_clean_log_is_scanned_from_its_newest_file() -> None:
    _, log, _ = log_of(11)
    assert start_without_mark(log, None) == 2 * FILE_BYTES


def test_a_file_that_opens_with_no_record_is_passed_over() -> None:
    _, log, _ = log_of(11)
    log.create(3 * FILE_BYTES)
    assert start_without_mark(log, None) == 2 * FILE_BYTES


def test_a_file_that_opens_with_a_record_of_another_place_is_passed_over() -> None:
    _, log, _ = log_of(11)
    log.create(3 * FILE_BYTES).view[:] = log.files[0].view
    assert start_without_mark(log, None) == 2 * FILE_BYTES


def test_after_an_unclean_stop_the_checkpoint_must_vouch_for_the_first_record() -> None:
    _, log, _ = log_of(11)  # five in a file: the second begins at 5 s, the third at 10 s
    assert start_without_mark(log, STORED + 10_000) == 2 * FILE_BYTES
    assert start_without_mark(log, STORED + 9_999) == FILE_BYTES
    assert start_without_mark(log, STORED + 4_999) == 0


def test_a_log_that_the_checkpoint_does_not_know_is_scanned_whole() -> None:
    _, log, _ = log_of(11)
    log.remove(log.take_first())
    assert start_without_mark(log, 0) == FILE_BYTES


def test_no_log_begins_at_nothing() -> None:
    assert start_without_mark(FileSequence(SimDisk(), DIRECTORY, FILE_BYTES), None) == 0


# The time of the last record.


def test_the_last_record_of_all_files_tells_the_time() -> None:
    _, log, _ = log_of(11)
    assert last_timestamp(log, -1) == STORED + 10_000


def test_the_last_record_is_found_from_one_before_it() -> None:
    _, log, offsets = log_of(9)
    log.files[1].view[:8] = bytes(8)  # nothing before the place it is told is looked at
    assert last_timestamp(log, offsets[7]) == STORED + 8000


def test_a_file_without_records_tells_no_time() -> None:
    _, log, offsets = log_of(8)
    log.create(2 * FILE_BYTES)
    assert last_timestamp(log, offsets[5]) == STORED + 7000


def test_a_log_without_records_has_no_time() -> None:
    assert last_timestamp(FileSequence(SimDisk(), DIRECTORY, FILE_BYTES), -1) == 0
