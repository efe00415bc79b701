"""A log that is cut while its store is opened: where it may be, what is saved, what is left."""

from dataclasses import replace
from typing import Any

import pytest

from aerobee.errors import CorruptRecord, DiskFull, Misuse, StorageError
from aerobee.protocol.message.durable_mark_slots import NO_CRC
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.config import StorageConfig
from aerobee.storage.recover.checkpoint import Checkpoint
from aerobee.storage.recover.durable_mark import DurableMarkFile
from aerobee.storage.recover.log_cut import FOLDER, is_cut_at
from aerobee.storage.store import Store
from tests.replica_kit import log_bytes, raw_records
from tests.store_kit import ROOT, SMALL, StoreKit, bodies_of, contents, draft, properties

FILE_BYTES = SMALL.log_file_bytes
COUNT = 16


class CutKit:
    """A closed store with a log of four files, two queues and an index of two files."""

    def __init__(self, **changes: Any) -> None:
        self.config = replace(SMALL, **changes)
        kit = StoreKit(config=self.config)
        self.offsets = []
        for number in range(COUNT):
            kit.clock.advance(1000)
            topic = b"Orders" if number < 9 or number % 2 else b"Trades"
            text = properties(KEYS=f"k{number} all more", TAGS="t")
            self.offsets.append(kit.append(draft(topic, 0, b"%d" % number * 450, text)))
        self.log = log_bytes(kit.store)
        self.clock = kit.clock
        self.killed: SimDisk = kit.disk.kill()
        kit.store.close()
        self.disk: SimDisk = kit.disk

    def open(self, cut_at: int | None, disk: SimDisk | None = None) -> Store:
        disk = self.disk if disk is None else disk
        return Store.open(disk, ROOT, self.config, SimDiskWorker(), cut_at=cut_at)

    def bodies(self, store: Store) -> list[bytes]:
        return bodies_of(store) + bodies_of(store, b"Trades")


def rebuilt(config: StorageConfig, log: bytes) -> dict[str, bytes]:
    """The derived files of a store that never had more than this log."""
    kit = StoreKit(config=config)
    kit.store.append_raw(0, memoryview(log))
    kit.store.close()
    return derived_files(kit.disk)


def derived_files(disk: SimDisk) -> dict[str, bytes]:
    return {
        path: content
        for folder in ("consumequeue", "batchconsumequeue", "index")
        for path, content in contents(disk, f"{ROOT}/{folder}").items()
    }


@pytest.mark.parametrize("kept", range(1, COUNT + 1))
def test_a_log_that_was_cut_is_what_it_would_be_if_it_had_never_been_longer(kept: int) -> None:
    kit = CutKit()
    cut_at = len(kit.log) if kept == COUNT else kit.offsets[kept]
    store = kit.open(cut_at)
    assert (store.end_offset, store.flushed_offset) == (cut_at, cut_at)
    assert log_bytes(store) == kit.log[:cut_at]
    expected = [b"%d" % number * 450 for number in range(kept)]
    assert sorted(kit.bodies(store)) == sorted(expected)
    assert len(store.records_by_key(b"Orders", b"all", 0, 1 << 50, 64)) == sum(
        1 for number in range(kept) if number < 9 or number % 2
    )
    store.close()
    assert derived_files(kit.disk) == rebuilt(kit.config, kit.log[:cut_at])
    assert sorted(kit.bodies(kit.open(None))) == sorted(expected)


def test_a_cut_builds_nothing_again_that_is_there() -> None:
    kit = CutKit()
    told: list[str] = []
    Store.open(
        kit.disk,
        ROOT,
        kit.config,
        SimDiskWorker(),
        progress=lambda what, done, total: told.append(what),
        cut_at=kit.offsets[10],
    )
    assert "building queues and index" not in told


@pytest.mark.parametrize("kept", [3, 10, 15])
def test_the_tail_is_saved_as_it_was(kept: int) -> None:
    kit = CutKit()
    cut_at, end = kit.offsets[kept], len(kit.log)
    kit.open(cut_at)
    saved = contents(kit.disk.power_cut(), f"{ROOT}/{FOLDER}")
    assert saved == {f"{ROOT}/{FOLDER}/{cut_at:020d}-{end:020d}": kit.log[cut_at:]}


def test_a_cut_is_told_from_a_log_that_has_grown_since_and_from_one_that_was_not_cut() -> None:
    kit = CutKit()
    cut_at, end = kit.offsets[10], len(kit.log)
    assert not is_cut_at(kit.disk, ROOT, end)
    kit.disk.replace(f"{ROOT}/{FOLDER}/{end:020d}-{end + 9:020d}.new", b"unfinished")
    assert not is_cut_at(kit.disk, ROOT, end)
    kit.open(cut_at)
    assert is_cut_at(kit.disk, ROOT, cut_at)
    assert not is_cut_at(kit.disk, ROOT, end)


def test_a_log_may_be_cut_where_a_file_begins() -> None:
    kit = CutKit()
    store = kit.open(2 * FILE_BYTES)
    assert store.end_offset == 2 * FILE_BYTES
    assert log_bytes(store) == kit.log[: 2 * FILE_BYTES]
    store.close()
    assert kit.open(None).end_offset == 2 * FILE_BYTES


def test_a_log_may_be_cut_before_a_filler() -> None:
    kit = CutKit()
    last = [offset for offset in kit.offsets if offset < FILE_BYTES][-1]
    cut_at = last + int.from_bytes(kit.log[last : last + 4], "big")
    assert cut_at < FILE_BYTES
    assert kit.open(cut_at).end_offset == cut_at


def test_a_cut_at_the_end_of_the_log_is_none() -> None:
    kit = CutKit()
    before = kit.disk.files()
    store = kit.open(len(kit.log))
    assert store.end_offset == len(kit.log)
    store.close()
    assert kit.disk.files().keys() == before.keys()
    assert not kit.disk.exists(f"{ROOT}/{FOLDER}")


def test_what_is_appended_after_a_cut_takes_the_place_of_the_tail() -> None:
    kit = CutKit()
    store = kit.open(kit.offsets[5])
    store.append(draft(body=b"instead"), 1 << 41)
    store.dispatch()
    assert bodies_of(store)[5:] == [b"instead"]
    assert bodies_of(store, b"Trades") == []
    store.close()
    assert bodies_of(kit.open(None))[5:] == [b"instead"]


@pytest.mark.parametrize("was_killed", [False, True])
def test_store_timestamps_go_on_from_the_last_record_that_is_left(was_killed: bool) -> None:
    kit = CutKit()
    disk = kit.killed if was_killed else kit.disk
    store = kit.open(kit.offsets[5], disk)
    assert store._log.last_timestamp == store._parts.records.store_timestamp_at(kit.offsets[4])


@pytest.mark.parametrize("abort", [b"", b"4711"])
def test_a_log_of_another_program_is_cut_too(abort: bytes) -> None:
    kit = CutKit(record_crc=False)
    kit.disk.remove(f"{ROOT}/durable_mark")
    if abort:
        kit.disk.replace(f"{ROOT}/abort", abort)
    cut_at = kit.offsets[5]
    store = kit.open(cut_at)
    assert bodies_of(store) == [b"%d" % number * 450 for number in range(5)]
    store.close()
    assert derived_files(kit.disk) == rebuilt(kit.config, kit.log[:cut_at])


# What cannot be cut.


@pytest.mark.parametrize("beyond", [1, FILE_BYTES, 1 << 40])
def test_a_log_cannot_be_cut_behind_its_end(beyond: int) -> None:
    kit = CutKit()
    before = kit.disk.files()
    with pytest.raises(Misuse, match=f"cannot be cut at {len(kit.log) + beyond}: it holds 0 to"):
        kit.open(len(kit.log) + beyond)
    assert kit.disk.files() == before
    assert len(kit.bodies(kit.open(None))) == COUNT


@pytest.mark.parametrize("cut_at", [-1, 0])
def test_of_a_log_something_must_be_left(cut_at: int) -> None:
    kit = CutKit()
    before = kit.disk.files()
    with pytest.raises(Misuse, match=f"cannot be cut at {cut_at}"):
        kit.open(cut_at)
    assert kit.disk.files() == before


@pytest.mark.parametrize("shift", [-1, 1, 8])
def test_a_log_cannot_be_cut_inside_a_record(shift: int) -> None:
    kit = CutKit()
    before = kit.disk.files()
    for offset in kit.offsets[1:]:
        with pytest.raises(Misuse, match="no record ends there"):
            kit.open(offset + shift)
    assert kit.disk.files() == before
    assert len(kit.bodies(kit.open(None))) == COUNT


def test_a_log_cannot_be_cut_inside_a_filler() -> None:
    kit = CutKit()
    with pytest.raises(Misuse, match="no record ends there"):
        kit.open(FILE_BYTES - 1)


def test_a_log_cannot_be_cut_below_what_compaction_has_kept() -> None:
    kit = CutKit()
    store = kit.open(None)
    store.compaction.set(b"Orders", True)
    worker: Any = store._worker
    for _ in range(200):
        store.step(kit.clock.advance(100_000))
        worker.run_all()
    (kept,) = store._parts.derived.kept.all()
    log_end = kept[2].log_end
    store.close()
    before = kit.disk.files()
    below = [offset for offset in kit.offsets if offset < log_end][-1]
    with pytest.raises(StorageError, match=f"Orders is compacted up to {log_end}"):
        kit.open(below)
    assert kit.disk.files() == before
    assert kit.open(log_end).end_offset == log_end


def test_without_room_for_the_tail_nothing_is_cut() -> None:
    kit = CutKit()
    kit.disk.capacity_bytes = kit.disk.used_bytes() + 1000
    with pytest.raises(DiskFull):
        kit.open(kit.offsets[3])
    kit.disk.capacity_bytes = 1 << 40
    assert kit.disk.list_directory(f"{ROOT}/{FOLDER}") == []
    assert len(kit.bodies(kit.open(None))) == COUNT
    assert kit.open(kit.offsets[3], kit.disk.kill()).end_offset == kit.offsets[3]


def test_without_a_saved_tail_nothing_is_cut() -> None:
    kit = CutKit()
    kit.disk.faults.fail_sync(f"*/{FOLDER}/*")
    with pytest.raises(OSError, match="sync"):
        kit.open(kit.offsets[3])
    assert kit.disk.list_directory(f"{ROOT}/{FOLDER}") == []
    assert len(kit.bodies(kit.open(None))) == COUNT


def test_damage_below_the_mark_is_reported_and_nothing_is_cut() -> None:
    kit = CutKit()
    store = kit.open(None)
    del store
    disk = kit.disk.kill()
    path = f"{ROOT}/commitlog/{kit.offsets[15] // FILE_BYTES * FILE_BYTES:020d}"
    disk.open(path).view[kit.offsets[15] % FILE_BYTES + 200] ^= 1
    disk.open(path).sync()
    before = disk.files()
    with pytest.raises(CorruptRecord):
        kit.open(kit.offsets[3], disk)
    assert disk.files() == before


# Marks.


def test_the_record_crc_is_demanded_from_the_cut_on() -> None:
    kit = StoreKit()
    theirs = raw_records(4, 0, with_crc=False)
    kit.store.append_raw(0, memoryview(theirs))
    kit.store.close()
    cut_at = len(raw_records(2, 0, with_crc=False))
    store = Store.open(kit.disk, ROOT, SMALL, SimDiskWorker(), cut_at=cut_at)
    assert bodies_of(store) == [b"0", b"1"]
    assert _mark(kit.disk).crc_from == cut_at


def test_records_of_a_master_without_the_record_crc_may_follow_a_cut() -> None:
    kit = StoreKit()
    cut_at = kit.append_many(4)[1]
    kit.store.close()
    store = Store.open(kit.disk, ROOT, SMALL, SimDiskWorker(), cut_at=cut_at)
    store.append_raw(cut_at, memoryview(raw_records(2, cut_at, first=1, with_crc=False)))
    store.step(kit.clock.now())
    assert bodies_of(store) == [b"0", b"1", b"2"]


def test_a_store_that_writes_no_record_crc_demands_none_after_a_cut() -> None:
    kit = CutKit(record_crc=False)
    store = kit.open(kit.offsets[5])
    assert _mark(kit.disk).crc_from == NO_CRC
    store.append(draft(body=b"instead"), 1 << 41)
    store.sync()
    assert bodies_of(kit.open(None, kit.disk.power_cut()))[5:] == [b"instead"]


def test_the_checkpoint_of_rocketmq_vouches_for_nothing_behind_the_cut() -> None:
    kit = CutKit()
    stored_ms = Checkpoint.open(kit.disk.kill(), f"{ROOT}/checkpoint").fields.log_timestamp_ms
    kit.open(kit.offsets[5])
    fields = Checkpoint.open(kit.disk.power_cut(), f"{ROOT}/checkpoint").fields
    cut_ms = stored_ms - (COUNT - 5) * 1000
    assert fields.log_timestamp_ms <= cut_ms
    assert fields.queue_timestamp_ms <= cut_ms
    assert fields.index_timestamp_ms <= cut_ms
    assert fields.queue_log_offset <= kit.offsets[5]


def _mark(disk: SimDisk) -> Any:
    return DurableMarkFile.open(disk.power_cut(), f"{ROOT}/durable_mark").mark
