"""Opening a store: its lock, its order of promises, and what a start that fails leaves behind."""

import struct
from dataclasses import replace

import pytest

from aerobee.errors import CorruptFile, StoreLocked
from aerobee.ports.disk import Disk, DiskFile
from aerobee.sim.disk import SimDisk, SimDiskFile
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.sim.faults import PowerCut
from aerobee.storage.config import MIB, FlushMode, StorageConfig
from aerobee.storage.defects import NO_DEFECTS
from aerobee.storage.opening import StoreParts, open_parts
from aerobee.storage.recover.checkpoint import CheckpointFields
from aerobee.storage.recover.durable_mark import DurableMarkFile
from tests.store_kit import (
    PREPARED,
    ROOT,
    SMALL,
    StoreKit,
    bodies_of,
    contents,
    draft,
    offsets_of,
    properties,
)

WIDE = replace(SMALL, queue_file_units=200, index_slots=50, index_units=500, log_file_bytes=1 << 16)


def opened(disk: Disk, config: StorageConfig = SMALL) -> StoreParts:
    return open_parts(disk, ROOT, config, SimDiskWorker(), lambda *_: None, NO_DEFECTS)


def written(count: int, config: StorageConfig = SMALL) -> SimDisk:
    """The disk of a store that was stopped cleanly."""
    kit = StoreKit(config=config)
    kit.append_many(count // 2, b"Other", 1)
    kit.append_many(count)
    kit.store.close()
    return kit.disk


def remove_folder(disk: SimDisk, folder: str) -> None:
    for path in contents(disk, folder):
        disk.remove(path)


def checkpoint_of(disk: SimDisk) -> CheckpointFields:
    return CheckpointFields(*struct.unpack_from(">6q", disk.read(f"{ROOT}/checkpoint")))


def test_a_new_directory_becomes_an_empty_store() -> None:
    disk = SimDisk()
    parts = opened(disk)
    assert (parts.log.min_offset(), parts.log.end_offset()) == (0, 0)
    assert parts.derived.queues.all() == []
    assert parts.crc_from == 0
    assert sorted(contents(disk)) == [
        f"{ROOT}/abort",
        f"{ROOT}/checkpoint",
        f"{ROOT}/commitlog/00000000000000000000",
        f"{ROOT}/durable_mark",
        f"{ROOT}/lock",
    ]


def test_a_store_is_open_once_at_a_time() -> None:
    kit = StoreKit()
    with pytest.raises(StoreLocked, match="another process has the store store open"):
        opened(kit.disk)
    kit.store.close()
    opened(kit.disk)


def test_a_start_that_fails_leaves_the_store_unlocked_and_as_it_was() -> None:
    disk = written(10)
    before = contents(disk)
    for _ in range(2):
        with pytest.raises(CorruptFile, match="4096 bytes where every file has 8192"):
            opened(disk, replace(SMALL, log_file_bytes=8192))
    assert contents(disk) == before


def test_a_power_cut_in_a_start_leaves_the_store_unlocked() -> None:
    disk = written(10)
    disk.faults.power_cut_at(5)
    with pytest.raises(PowerCut):
        opened(disk)
    opened(disk.power_cut())


def test_a_store_of_rocketmq_that_failed_to_open_once_is_still_one_without_a_mark() -> None:
    """A mark that promises nothing must not stand for one that promises that nothing is there."""
    disk = written(60)
    disk.remove(f"{ROOT}/durable_mark")
    folder = f"{ROOT}/consumequeue/Other"
    remove_folder(disk, folder)
    disk.remove_directory(f"{folder}/1")
    disk.remove_directory(folder)
    with pytest.raises(CorruptFile):
        opened(disk, replace(SMALL, queue_file_units=9))
    kit = StoreKit(disk)
    assert len(bodies_of(kit.store)) == 60
    assert bodies_of(kit.store, b"Other", 1) == [], "a deleted topic came back"


# The order of promises.


def test_the_mark_is_on_the_disk_before_the_abort_flag_and_that_before_any_derived_file() -> None:
    disk = written(20)
    remove_folder(disk, f"{ROOT}/consumequeue")
    disk.faults.calls.clear()
    opened(disk)
    calls = [(call.name, call.path.removeprefix(f"{ROOT}/")) for call in disk.faults.calls]
    marked = calls.index(("sync", "durable_mark"))
    flagged = calls.index(("replace.write", "abort"))
    made = [
        i for i, (name, path) in enumerate(calls) if name == "create_sparse" and "queue/" in path
    ]
    assert marked < flagged < min(made)
    assert max(i for i, call in enumerate(calls) if call == ("sync", "durable_mark")) > max(made)


def test_while_queues_are_made_again_the_mark_does_not_vouch_for_them() -> None:
    """Their ends may be on the disk and a sector in the middle not: nothing else would tell."""
    disk = written(150, WIDE)
    remove_folder(disk, f"{ROOT}/consumequeue")
    opened(disk, WIDE)
    for survivor in disk.crash_states():
        kit = StoreKit(survivor, WIDE)
        assert len(bodies_of(kit.store)) == 150, survivor.origin
        assert len(bodies_of(kit.store, b"Other", 1)) == 75, survivor.origin


def test_while_the_index_is_made_again_the_mark_does_not_vouch_for_it() -> None:
    disk = written(150, WIDE)
    remove_folder(disk, f"{ROOT}/index")
    parts = opened(disk, WIDE)
    for survivor in disk.crash_states():
        kit = StoreKit(survivor, WIDE)
        for number in range(0, 150, 10):
            assert kit.store.records_by_key(b"Orders", b"key%d" % number, 0, 1 << 60, 8)
    mark = DurableMarkFile.open(disk, f"{ROOT}/durable_mark").mark
    assert mark.dispatched == parts.dispatcher.offset
    assert mark.index_count == parts.derived.fingerprint().index_count > 100


def test_nothing_is_dispatched_again_after_a_clean_stop() -> None:
    disk = written(40)
    before = contents(disk)
    parts = opened(disk)
    assert parts.dispatcher.offset == parts.log.end_offset()
    after = contents(disk)
    changed = {path for path in after if before.get(path) != after[path]}
    assert changed == {f"{ROOT}/abort", f"{ROOT}/durable_mark"}


def test_progress_is_told_while_the_log_is_checked_and_dispatched() -> None:
    kit = StoreKit()
    kit.append_many(60)
    told: list[tuple[str, int, int]] = []
    worker = SimDiskWorker()
    open_parts(kit.disk.kill(), ROOT, SMALL, worker, lambda *seen: told.append(seen), NO_DEFECTS)
    words = {what for what, _, _ in told}
    assert words == {"checking the log", "building queues and index"}
    assert all(0 <= done <= total for _, done, total in told)


# What goes on where it stopped.


def test_queue_offsets_go_on_where_they_stopped() -> None:
    kit = StoreKit()
    kit.append_many(11)
    again = kit.reopen()
    assert offsets_of(again.store.queue(b"Orders", 0)) == (0, 11, 11)
    again.append_many(2)
    again.store.dispatch()
    assert offsets_of(again.store.queue(b"Orders", 0)) == (0, 13, 13)


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("sys_flag", [0, PREPARED])
def test_store_timestamps_do_not_go_back_over_a_restart(is_clean: bool, sys_flag: int) -> None:
    """The newest record may be one that no queue knows, and the wall clock may be wrong by then."""
    kit = StoreKit()
    kit.append(draft())
    kit.clock.advance(1000)
    newest = kit.clock.now().wall_ms
    kit.append(draft(b"Half", 0, b"newest", sys_flag=sys_flag))
    if is_clean:
        kit.store.close()
    else:
        kit.disk = kit.disk.kill()
    kit.clock.jump_wall(-999)
    again = StoreKit(kit.disk, clock=kit.clock)
    offset = again.append(draft())
    again.store.dispatch()
    record = again.store.record_at(offset)
    assert record is not None
    assert struct.unpack_from(">q", record, 56)[0] == newest


def test_the_times_in_the_checkpoint_survive_a_start_without_appends() -> None:
    kit = StoreKit()
    kit.append_many(3)
    stored = kit.clock.now().wall_ms
    again = kit.reopen()
    again.store.close()
    fields = checkpoint_of(again.disk)
    assert fields.log_timestamp_ms == stored
    assert fields.queue_timestamp_ms == stored
    assert fields.index_timestamp_ms == stored


def test_times_in_the_checkpoint_do_not_run_ahead_of_queues_that_are_made_again() -> None:
    disk = written(20)
    remove_folder(disk, f"{ROOT}/consumequeue")
    n = 0
    while True:
        n += 1
        trial = disk.kill()
        trial.faults.power_cut_at(n)
        try:
            opened(trial)
        except PowerCut:
            survivor = trial.power_cut()
            is_made = bool(contents(survivor, f"{ROOT}/consumequeue"))
            flagged = survivor.exists(f"{ROOT}/abort")
            if flagged and not is_made:
                assert checkpoint_of(survivor).queue_timestamp_ms == 0, n
            continue
        break


def test_keys_of_a_store_that_was_opened_without_an_index_are_found_once_it_has_one() -> None:
    kit = StoreKit(config=replace(SMALL, index_enabled=False))
    kit.append(draft(text=properties(KEYS="k")))
    assert kit.store.records_by_key(b"Orders", b"k", 0, 1 << 60, 8) == []
    again = kit.reopen(index_enabled=True)
    assert len(again.store.records_by_key(b"Orders", b"k", 0, 1 << 60, 8)) == 1


class WarmFile(SimDiskFile):
    """Remembers what it was warmed for."""

    warmed = (0, 0)

    def warm(self, start: int, end: int) -> None:
        WarmFile.warmed = (start, end)


class WarmDisk(SimDisk):
    def create(self, path: str, size: int) -> DiskFile:
        super().create(path, size)
        return WarmFile(self, path, self._names.find(path))


@pytest.mark.parametrize(("mode", "warmed"), [(FlushMode.ASYNC, 16), (FlushMode.SYNC, 1)])
def test_a_new_log_file_is_warmed_less_where_somebody_waits_for_its_first_sync(
    mode: FlushMode, warmed: int
) -> None:
    opened(WarmDisk(), replace(SMALL, log_file_bytes=20 * MIB, flush_mode=mode))
    assert WarmFile.warmed == (0, warmed * MIB)
