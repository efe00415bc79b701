"""The log after each kind of stop: what is dropped, scanned, cut, kept and believed."""

import struct
from dataclasses import replace
from typing import Any

import pytest

from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.protocol.message.durable_mark_slots import NO_CRC, DurableMark
from aerobee.protocol.message.record import MAGIC_FILLER
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from aerobee.storage.recover.abort_flag import LastStop
from aerobee.storage.recover.checkpoint import Checkpoint, CheckpointFields
from aerobee.storage.recover.durable_mark import DurableMarkFile
from aerobee.storage.recover.recovery import RecoveredLog, recover_log
from tests.store_kit import SMALL, StoreKit, draft

DIRECTORY = "store/commitlog"
FILE_BYTES = 4096
STORED = 1_700_000_000_000
CLEAN, OURS, OTHERS = LastStop.CLEAN, LastStop.OURS_UNCLEAN, LastStop.OTHERS_UNCLEAN


def path_of(number: int) -> str:
    return f"{DIRECTORY}/{number * FILE_BYTES:020d}"


class LogKit:
    """A log of eleven messages in three files, one a second, and how it was left."""

    def __init__(self, **changes: Any) -> None:
        kit = StoreKit(config=replace(SMALL, **changes))
        self.offsets = []
        for number in range(11):
            self.offsets.append(kit.append(draft(body=str(number).encode().ljust(700))))
            kit.clock.advance(1000)
        self.end = kit.store.end_offset
        kit.store.close()
        self.disk = kit.disk.power_cut()
        self.told: list[str] = []

    def recover(
        self,
        last_stop: LastStop,
        mark: DurableMark | None,
        *,
        config: StorageConfig = SMALL,
        checkpoint_ms: int = 0,
        defects: Defects = NO_DEFECTS,
    ) -> RecoveredLog:
        """With this mark, or with none that was ever written."""
        if self.disk.exists("mark"):
            self.disk.remove("mark")
        mark_file = DurableMarkFile.open(self.disk, "mark")
        if mark is not None:
            mark_file.write(mark)
            mark_file.begin_sync()
            mark_file.sync()
            mark_file.close()
            mark_file = DurableMarkFile.open(self.disk, "mark")
        checkpoint = Checkpoint.open(self.disk, "checkpoint")
        checkpoint.write(CheckpointFields(checkpoint_ms, checkpoint_ms))
        self.disk.faults.calls.clear()
        return recover_log(
            self.disk,
            DIRECTORY,
            config,
            last_stop,
            mark_file,
            checkpoint,
            lambda what, done, total: self.told.append(what),
            defects,
        )

    def damage(self, offset: int) -> None:
        """One bit of the record at an offset, on the disk."""
        path = path_of(offset // FILE_BYTES)
        content = bytearray(self.disk.read(path))
        content[offset % FILE_BYTES + 100] ^= 1
        self.disk.replace(path, bytes(content))

    def calls(self, name: str) -> list[str]:
        return [call.path for call in self.disk.faults.calls if call.name == name]


# Clean stops.


def test_after_a_clean_stop_nothing_is_read_or_written() -> None:
    kit = LogKit()
    before = kit.disk.files()
    log = kit.recover(CLEAN, DurableMark(flushed=kit.end, crc_from=0))
    assert log.state == (0, kit.end, kit.end, True, True)
    assert (log.last_timestamp, log.crc_from) == (0, 0)
    assert {path: kit.disk.files()[path] for path in before} == before
    for name in ("sync", "sync_directory", "drop_cache", "remove"):
        assert kit.calls(name) == []


def test_what_another_program_added_before_its_clean_stop_is_kept() -> None:
    kit = LogKit()
    log = kit.recover(CLEAN, DurableMark(flushed=kit.offsets[7], crc_from=0))
    assert log.state.end_offset == kit.end
    assert log.state.scan_start == kit.offsets[7]
    assert log.last_timestamp == STORED + 10_000
    assert kit.calls("sync") != []


def test_a_file_made_ahead_that_nothing_is_in_is_removed() -> None:
    kit = LogKit()
    kit.disk.create(path_of(3), FILE_BYTES).sync()
    kit.disk.sync_directory(DIRECTORY)
    log = kit.recover(CLEAN, DurableMark(flushed=kit.end, crc_from=0))
    assert log.state.end_offset == kit.end
    assert log.sequence.end_offset() == 3 * FILE_BYTES
    assert not kit.disk.power_cut().exists(path_of(3))


# Unclean stops.


def test_damage_above_the_mark_ends_the_log_there_for_good() -> None:
    kit = LogKit()
    kit.damage(kit.offsets[6])
    log = kit.recover(OURS, DurableMark(flushed=kit.offsets[6], crc_from=0))
    assert log.state == (0, kit.offsets[6], kit.offsets[6], False, True)
    after = kit.disk.power_cut()
    assert after.list_directory(DIRECTORY) == [f"{0:020d}", f"{FILE_BYTES:020d}"]
    assert not after.read(path_of(1))[kit.offsets[6] - FILE_BYTES :].strip(b"\0")


def test_what_is_whole_above_the_mark_is_kept_and_synced_again() -> None:
    kit = LogKit()
    log = kit.recover(OURS, DurableMark(flushed=kit.offsets[3], crc_from=0))
    assert log.state.end_offset == kit.end
    assert log.last_timestamp == STORED + 10_000
    assert set(kit.calls("sync")) == {path_of(0), path_of(1), path_of(2)}
    assert kit.told == ["checking the log"] * 3


@pytest.mark.parametrize("last_stop", [OURS, OTHERS])
def test_damage_below_the_mark_is_told_by_place_and_nothing_changed(last_stop: LastStop) -> None:
    kit = LogKit()
    damaged = kit.offsets[5]
    kit.damage(damaged)
    before = kit.disk.files()
    with pytest.raises(CorruptRecord) as raised:
        kit.recover(last_stop, DurableMark(flushed=kit.offsets[6], crc_from=0))
    assert raised.value.path == path_of(1)
    assert raised.value.log_offset == damaged
    assert raised.value.position == damaged - FILE_BYTES
    assert {path: kit.disk.files()[path] for path in before} == before


def test_damage_in_files_before_the_mark_s_is_left_for_reads_to_find() -> None:
    kit = LogKit()
    kit.damage(kit.offsets[2])
    log = kit.recover(OURS, DurableMark(flushed=kit.offsets[6], crc_from=0))
    assert log.state.end_offset == kit.end


def test_a_planted_cut_in_the_middle_would_lose_what_was_on_the_disk() -> None:
    kit = LogKit()
    kit.damage(kit.offsets[5])
    mark = DurableMark(flushed=kit.offsets[6], crc_from=0)
    log = kit.recover(OURS, mark, defects=frozenset({Defect.MIDDLE_OF_LOG_CUT}))
    assert log.state.end_offset == kit.offsets[5]


@pytest.mark.parametrize("last_stop", [CLEAN, OURS, OTHERS])
def test_a_missing_last_file_below_the_mark_is_told_and_nothing_changed(
    last_stop: LastStop,
) -> None:
    kit = LogKit()
    kit.disk.remove(path_of(2))
    before = kit.disk.files()
    with pytest.raises(CorruptFile, match=f"ends at {2 * FILE_BYTES}, but {kit.end}") as raised:
        kit.recover(last_stop, DurableMark(flushed=kit.end))
    assert raised.value.path == DIRECTORY
    assert {path: kit.disk.files()[path] for path in before} == before


def test_a_missing_file_in_the_middle_is_told_by_name() -> None:
    kit = LogKit()
    kit.disk.remove(path_of(1))
    with pytest.raises(CorruptFile, match="missing") as raised:
        kit.recover(CLEAN, DurableMark(flushed=kit.end))
    assert raised.value.path == path_of(2)


def test_a_file_of_another_size_is_told_by_name() -> None:
    kit = LogKit()
    with pytest.raises(CorruptFile, match="4096 bytes where every file has 8192"):
        kit.recover(CLEAN, DurableMark(), config=replace(SMALL, log_file_bytes=8192))


def test_a_mark_older_than_the_oldest_file_is_no_harm() -> None:
    kit = LogKit()
    kit.disk.remove(path_of(0))
    log = kit.recover(OURS, DurableMark(flushed=kit.offsets[2], crc_from=0))
    assert log.state[:3] == (FILE_BYTES, kit.end, FILE_BYTES)


def test_an_empty_folder_is_an_empty_log() -> None:
    kit = LogKit()
    for number in range(3):
        kit.disk.remove(path_of(number))
    log = kit.recover(CLEAN, None)
    assert log.state == (0, 0, 0, True, False)
    assert log.sequence.files == []


# The cache.


def with_lost_write(kit: LogKit) -> None:
    """A record that the cache shows and the disk never got: its sync has failed."""
    file = kit.disk.open(path_of(2))
    file.view[kit.end - 2 * FILE_BYTES :] = bytes(3 * FILE_BYTES - kit.end)
    last = kit.offsets[10] - 2 * FILE_BYTES
    record = bytes(file.view[last : kit.end - 2 * FILE_BYTES])
    file.view[last : last + len(record)] = bytes(len(record))
    file.sync()
    file.view[last : last + len(record)] = record
    kit.disk.faults.fail_sync("*")
    with pytest.raises(OSError, match="sync"):
        file.sync()
    file.close()


def test_bytes_that_only_the_cache_has_are_not_believed_after_an_unclean_stop() -> None:
    kit = LogKit()
    with_lost_write(kit)
    log = kit.recover(OURS, DurableMark(flushed=kit.offsets[7], crc_from=0))
    assert log.state.end_offset == kit.offsets[10]


def test_only_files_that_reach_above_the_mark_are_read_anew() -> None:
    kit = LogKit()
    kit.recover(OURS, DurableMark(flushed=kit.offsets[6]))
    assert kit.calls("drop_cache") == [path_of(1), path_of(2)]


def test_a_defect_believes_the_cache() -> None:
    kit = LogKit()
    with_lost_write(kit)
    mark = DurableMark(flushed=kit.offsets[7], crc_from=0)
    defects = frozenset({Defect.CACHE_TRUSTED_AFTER_CRASH})
    log = kit.recover(OURS, mark, defects=defects)
    assert log.state.end_offset == kit.end
    assert kit.calls("drop_cache") == []


# Stores without a mark.


def test_without_a_mark_a_clean_log_is_scanned_from_its_newest_file() -> None:
    kit = LogKit()
    log = kit.recover(CLEAN, None)
    assert log.state == (0, kit.end, 2 * FILE_BYTES, True, False)
    assert log.last_timestamp == STORED + 10_000


def test_without_a_mark_an_unclean_log_is_scanned_from_what_the_checkpoint_vouches_for() -> None:
    kit = LogKit()
    log = kit.recover(OTHERS, None, checkpoint_ms=STORED + 5000 + 3000)
    assert log.state == (0, kit.end, FILE_BYTES, False, False)
    log = kit.recover(OTHERS, None, checkpoint_ms=STORED + 5000 + 2999)
    assert log.state.scan_start == 0


def test_without_a_mark_damage_ends_the_log() -> None:
    kit = LogKit()
    kit.damage(kit.offsets[6])
    assert kit.recover(OTHERS, None).state.end_offset == kit.offsets[6]


def test_a_filler_that_does_not_reach_the_end_of_its_file_ends_the_log() -> None:
    kit = LogKit()
    content = bytearray(kit.disk.read(path_of(0)))
    end = kit.offsets[4]
    content[end:] = struct.pack(">ii", 16, MAGIC_FILLER) + bytes(FILE_BYTES - end - 8)
    kit.disk.replace(path_of(0), bytes(content))
    assert kit.recover(OTHERS, None).state.end_offset == end


# The record CRC.


def test_a_record_without_crc_above_our_mark_is_torn() -> None:
    kit = LogKit(record_crc=False)
    log = kit.recover(OURS, DurableMark(flushed=kit.offsets[6], crc_from=kit.offsets[6]))
    assert log.state.end_offset == kit.offsets[6]


@pytest.mark.parametrize("last_stop", [CLEAN, OTHERS])
def test_records_of_another_program_need_no_crc(last_stop: LastStop) -> None:
    kit = LogKit(record_crc=False)
    mark = DurableMark(flushed=kit.offsets[6], crc_from=kit.offsets[6])
    log = kit.recover(last_stop, mark)
    assert log.state.end_offset == kit.end
    assert log.crc_from == kit.end


def test_records_from_before_the_crc_was_switched_on_need_none() -> None:
    kit = LogKit(record_crc=False)
    log = kit.recover(OURS, DurableMark(flushed=kit.offsets[6]))
    assert log.state.end_offset == kit.end
    assert log.crc_from == kit.end


def test_from_where_on_records_have_a_crc_is_kept() -> None:
    kit = LogKit()
    log = kit.recover(OURS, DurableMark(flushed=kit.offsets[6], crc_from=kit.offsets[2]))
    assert log.crc_from == kit.offsets[2]


def test_without_the_crc_in_new_records_none_needs_it() -> None:
    kit = LogKit()
    config = replace(SMALL, record_crc=False)
    log = kit.recover(CLEAN, DurableMark(flushed=kit.end, crc_from=0), config=config)
    assert log.crc_from == NO_CRC


def test_a_new_store_has_a_crc_from_its_first_record_on() -> None:
    kit = LogKit()
    kit.disk = SimDisk()
    assert kit.recover(CLEAN, None).crc_from == 0
