"""Ranges of the log for replicas: bytes up to its end, its last record, its records one by one."""

from dataclasses import replace

import pytest

from aerobee.errors import CorruptRecord
from aerobee.storage.config import FlushMode
from tests.replica_kit import log_bytes, raw_records
from tests.store_kit import PREPARED, ROOT, SMALL, SMALL_SYNC, StoreKit, draft

FILE_BYTES = SMALL.log_file_bytes


def rolled(count: int = 12) -> tuple[StoreKit, list[int]]:
    """A log of three files, and the log offsets of its records."""
    kit = StoreKit()
    offsets = [kit.append(draft(body=b"%d" % number * 600)) for number in range(count)]
    assert offsets[-1] > 2 * FILE_BYTES
    return kit, offsets


# Slices.


def test_a_slice_lies_in_one_file_within_the_limit_and_the_log() -> None:
    kit, _ = rolled()
    store = kit.store
    end = store.end_offset
    whole = b"".join(
        kit.disk.kill().files()[f"{ROOT}/commitlog/{n * FILE_BYTES:020d}"] for n in (0, 1, 2)
    )
    for offset in range(0, end, 97):
        for limit in (1, 100, FILE_BYTES, 1 << 40):
            part = store.log_slices(offset, limit)
            file_end = offset - offset % FILE_BYTES + FILE_BYTES
            assert len(part) == min(limit, file_end - offset, end - offset)
            assert part == whole[offset : offset + len(part)]


def test_outside_the_log_there_is_an_empty_slice() -> None:
    kit, _ = rolled()
    end = kit.store.end_offset
    for offset in (-1, end, end + 1, 1 << 50):
        assert len(kit.store.log_slices(offset, 10)) == 0
    for limit in (0, -1):
        assert len(kit.store.log_slices(0, limit)) == 0


def test_a_slice_shows_what_is_not_on_the_disk_yet() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    kit.append(draft())
    assert kit.store.flushed_offset == 0
    assert len(kit.store.log_slices(0, 1000)) == kit.store.end_offset


def test_a_slice_outlives_its_file() -> None:
    kit = StoreKit(config=replace(SMALL, retention_ms=1, delete_interval_ms=0))
    for number in range(12):
        kit.append(draft(body=b"%d" % number * 600))
    part = kit.store.log_slices(0, FILE_BYTES)
    before = bytes(part)
    for _ in range(40):
        kit.step(100_000)
        kit.worker.run_all()
    assert kit.store.min_offset > 0
    assert not kit.disk.exists(f"{ROOT}/commitlog/{0:020d}")
    assert part == before
    assert len(kit.store.log_slices(0, 10)) == 0
    assert log_bytes(kit.store)[:8] == bytes(kit.store.log_slices(kit.store.min_offset, 8))


# Records.


def test_every_record_of_a_log_is_found_file_by_file() -> None:
    kit, offsets = rolled()
    ranges = kit.store.log_range
    begins = ranges.file_begins()
    assert begins == [0, FILE_BYTES, 2 * FILE_BYTES]
    found = [offset for begin in begins for offset in ranges.records_in(begin)]
    assert found == offsets
    assert list(ranges.records_in(FILE_BYTES + 5)) == list(ranges.records_in(FILE_BYTES))
    for offset in (-1, 1 << 50):
        assert list(ranges.records_in(offset)) == []


def test_a_log_without_records_has_none() -> None:
    ranges = StoreKit().store.log_range
    assert ranges.last_record() is None
    assert ranges.file_begins() == []
    assert list(ranges.records_in(0)) == []
    assert ranges.own_record(0) is None


@pytest.mark.parametrize("mode", FlushMode)
def test_the_last_record_is_found_before_and_after_dispatch(mode: FlushMode) -> None:
    kit = StoreKit(config=replace(SMALL, flush_mode=mode))
    for number in range(30):
        topic = b"Orders" if number % 4 else b"Trades"
        sys_flag = PREPARED if number % 5 == 0 else 0
        offset = kit.append(draft(topic, 0, b"x" * (number * 37 % 900), sys_flag=sys_flag))
        assert kit.store.log_range.last_record() == offset
        if number % 3 == 0:
            kit.settle()
            assert kit.store.log_range.last_record() == offset
    again = kit.reopen()
    assert again.store.log_range.last_record() == offset


def test_the_last_record_of_a_log_that_ends_with_a_file_lies_in_that_file() -> None:
    kit, offsets = rolled()
    second = [offset for offset in offsets if offset < FILE_BYTES][-1]
    replica = StoreKit()
    replica.store.append_raw(0, kit.store.log_slices(0, FILE_BYTES))
    assert replica.store.end_offset == FILE_BYTES
    assert replica.store.log_range.last_record() == second
    assert replica.store.log_range.file_begins() == [0]
    after = StoreKit(replica.disk.kill())
    assert after.store.end_offset == FILE_BYTES
    assert after.store.log_range.last_record() == second


def test_one_finds_the_own_record_also_before_consumers_may() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    offset = kit.append(draft(body=b"early"))
    kit.append(draft())
    record = kit.store.log_range.own_record(offset)
    assert record is not None
    assert b"early" in bytes(record)
    assert len(record) == kit.store.log_range.records_in(0)[1]
    assert kit.store.record_at(offset) is None
    assert kit.store.log_range.own_record(kit.store.end_offset) is None


def test_a_damaged_own_record_is_reported_and_not_compared() -> None:
    kit, offsets = rolled()
    file = kit.store._log.sequence.files[1]
    damaged = next(offset for offset in offsets if offset > FILE_BYTES)
    position = damaged - FILE_BYTES
    file.view[position + 100] ^= 1
    with pytest.raises(CorruptRecord, match="checksum") as found:
        kit.store.log_range.own_record(damaged)
    assert (found.value.position, found.value.log_offset) == (position, damaged)
    assert damaged in list(kit.store.log_range.records_in(FILE_BYTES))
    file.view[position + 4] ^= 1  # the magic
    with pytest.raises(CorruptRecord, match="found no record"):
        kit.store.log_range.records_in(FILE_BYTES)


def test_a_last_record_behind_damage_is_reported() -> None:
    kit, _ = rolled()
    kit.store._log.sequence.files[-1].view[4] ^= 1
    with pytest.raises(CorruptRecord) as found:
        kit.store.log_range.last_record()
    assert found.value.log_offset == 2 * FILE_BYTES


def test_the_last_record_is_not_looked_for_before_the_newest_that_a_queue_knows() -> None:
    kit, offsets = rolled()
    kit.settle()
    kit.store._log.sequence.files[-1].view[4] ^= 1
    assert offsets[-1] > 2 * FILE_BYTES
    assert kit.store.log_range.last_record() == offsets[-1]


def test_a_queue_that_points_at_no_record_does_not_hide_the_last_one() -> None:
    kit, offsets = rolled()
    kit.settle()
    queue = kit.store.queue(b"Orders", 0)
    assert queue is not None
    file = queue.sequence.files[-1]
    position = (queue.max_offset - 1) * 20 - file.first_offset
    file.view[position : position + 8] = (offsets[-1] - 3).to_bytes(8, "big")
    assert kit.store.log_range.last_record() == offsets[-1]


def test_a_record_without_the_record_crc_is_damaged_only_where_all_have_one() -> None:
    replica = StoreKit()
    theirs = raw_records(1, 0, with_crc=False)
    replica.store.append_raw(0, memoryview(theirs))
    record = replica.store.log_range.own_record(0)
    assert record is not None
    assert bytes(record) == theirs
    replica.store._records.crc_from = 0
    with pytest.raises(CorruptRecord):
        replica.store.log_range.own_record(0)


# Boundaries.


def test_a_limit_is_taken_back_to_the_end_of_a_record() -> None:
    kit, offsets = rolled()
    ranges = kit.store.log_range
    ends = [*offsets[1:], kit.store.end_offset]
    for index, start in enumerate(offsets[:4]):
        for end in (end for end in ends[index:4] if end < FILE_BYTES):
            assert ranges.record_end(start, end) == end
            assert ranges.record_end(start, end + 1) == end


def test_a_record_larger_than_the_limit_is_taken_whole() -> None:
    kit, offsets = rolled()
    assert kit.store.log_range.record_end(offsets[1], offsets[1] + 1) == offsets[2]


def test_a_filler_comes_alone_or_not_at_all() -> None:
    kit, offsets = rolled()
    ranges = kit.store.log_range
    first_of_second = next(offset for offset in offsets if offset >= FILE_BYTES)
    last_of_first = offsets[offsets.index(first_of_second) - 1]
    filler = ranges.record_end(last_of_first, FILE_BYTES)
    assert last_of_first < filler < FILE_BYTES
    assert ranges.record_end(filler, filler + 1) == FILE_BYTES
    assert ranges.record_end(filler, FILE_BYTES + 100) == FILE_BYTES


def test_a_damaged_record_is_no_boundary() -> None:
    kit, offsets = rolled()
    kit.store.log_slices(offsets[1], 8)[:4] = b"\xff\xff\xff\xff"
    with pytest.raises(CorruptRecord):
        kit.store.log_range.record_end(offsets[0], offsets[3])
