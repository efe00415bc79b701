"""The log of a replica: the bytes of its master's log, whatever pieces they come in.

Longer than 500 lines because copying, refusing and beginning share the same small master.
"""

import contextlib
import random
import struct
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aerobee.errors import DiskFailed, DiskFull, Misuse, RawRecordRefused, StoreBusy
from aerobee.protocol.message.durable_mark_slots import NO_CRC
from aerobee.protocol.message.record import MAGIC_FILLER
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.config import MIB, FlushMode
from aerobee.storage.recover.durable_mark import DurableMarkFile
from aerobee.storage.store import Store
from tests.replica_kit import feed, log_bytes, raw_records
from tests.store_kit import (
    INNER_BATCH,
    PREPARED,
    ROOT,
    SMALL,
    SMALL_SYNC,
    StoreKit,
    batch_draft,
    bodies_of,
    contents,
    draft,
    offsets_of,
    properties,
)

FILE_BYTES = SMALL.log_file_bytes
COPIED = ("commitlog", "consumequeue", "batchconsumequeue", "index")


def filled_master(seed: int = 1, count: int = 60, *, record_crc: bool = True) -> StoreKit:
    """A store with everything that a log can have: batches, halves, inner batches, rolled files."""
    dice = random.Random(seed)
    kit = StoreKit(config=replace(SMALL, record_crc=record_crc))
    inner = 0
    for number in range(count):
        kit.clock.advance(dice.randrange(50))
        topic = dice.choice([b"Orders", b"Trades", b"%RETRY%g"])
        text = properties(TAGS=f"t{number % 3}", KEYS=f"k{number % 5} other", UNIQ_KEY=f"{number}")
        kind = dice.randrange(10)
        if kind == 0:
            kit.append(batch_draft(topic, 1, [b"one", b"two", b"three"], keys="batch"))
        elif kind == 1:
            kit.append(draft(topic, 0, b"half", text, sys_flag=PREPARED))
        elif kind == 2:
            inner_text = properties(INNER_BASE=f"{2 * inner}", INNER_NUM="2", KEYS="inner")
            kit.append(draft(b"Inner", 2, b"two in one", inner_text, sys_flag=INNER_BATCH))
            inner += 1
        else:
            body = dice.randbytes(dice.choice([0, 10, 300, 1500]))
            kit.append(draft(topic, dice.randrange(2), body, text))
    return kit


def closed_files(kit: StoreKit) -> dict[str, bytes]:
    """All that a store has made, once it is closed."""
    kit.store.close()
    return {
        path: content
        for folder in COPIED
        for path, content in contents(kit.disk, f"{ROOT}/{folder}").items()
    }


def filler(size: int) -> bytes:
    return struct.pack(">ii", size, MAGIC_FILLER).ljust(size, b"\0")


def mark_on(disk: SimDisk) -> DurableMarkFile:
    return DurableMarkFile.open(disk, f"{ROOT}/durable_mark")


# Copying.


@pytest.mark.parametrize("record_crc", [True, False])
@pytest.mark.parametrize("mode", FlushMode)
@pytest.mark.parametrize("seed", range(4))
def test_a_replica_fed_in_any_pieces_has_the_files_of_its_master(
    seed: int, mode: FlushMode, record_crc: bool
) -> None:
    master = filled_master(seed, record_crc=record_crc)
    data = log_bytes(master.store)
    dice = random.Random(seed)
    replica = StoreKit(config=replace(master.config, flush_mode=mode))
    done = come = 0
    while come < len(data):
        come = min(come + dice.randrange(1, 900), len(data))
        done += replica.store.append_raw(done, memoryview(data)[done:come])
        if dice.random() < 0.5:
            replica.store.dispatch()
        if dice.random() < 0.2:
            replica.settle()
    assert done == len(data) == replica.store.end_offset
    assert closed_files(replica) == closed_files(master)


def test_a_replica_fed_byte_by_byte_has_the_files_of_its_master() -> None:
    master = filled_master(7, 20)
    data = log_bytes(master.store)
    replica = StoreKit()
    feed(replica.store, data, 0, [1] * len(data))
    replica.settle()
    assert closed_files(replica) == closed_files(master)


def test_bytes_of_many_files_are_appended_in_one_call() -> None:
    master = filled_master()
    data = log_bytes(master.store)
    assert len(data) > 3 * FILE_BYTES
    replica = StoreKit()
    assert replica.store.append_raw(0, memoryview(data)) == len(data)
    assert closed_files(replica) == closed_files(master)


def test_large_runs_go_past_the_mapping_and_are_the_same_bytes() -> None:
    config = replace(SMALL, log_file_bytes=MIB)
    master = StoreKit(config=config)
    for number in range(40):
        master.append(draft(body=b"%d" % number * 40_000))
    data = log_bytes(master.store)
    replica = StoreKit(config=config)
    replica.disk.faults.calls.clear()
    feed(replica.store, data, 0, [300_000] * 10)
    assert [call for call in replica.disk.faults.calls if call.name == "write"]
    assert replica.store._log.is_large
    assert log_bytes(replica.store) == data


def test_a_copied_message_is_read_like_any_other() -> None:
    replica = StoreKit()
    data = raw_records(5, 0)
    replica.store.append_raw(0, memoryview(data))
    assert [queue.topic for queue in replica.store.dispatch()] == [b"Orders"]
    assert bodies_of(replica.store) == [b"0", b"1", b"2", b"3", b"4"]
    assert len(replica.store.records_by_key(b"Orders", b"key3", 0, 1 << 50, 10)) == 1


def test_sync_a_copied_message_is_visible_once_it_is_on_the_disk() -> None:
    replica = StoreKit(config=SMALL_SYNC)
    replica.store.append_raw(0, memoryview(raw_records(2, 0)))
    replica.store.dispatch()
    assert bodies_of(replica.store) == []
    replica.settle()
    assert bodies_of(replica.store) == [b"0", b"1"]
    assert replica.store.flushed_offset == replica.store.end_offset


def test_offsets_that_a_queue_gives_out_follow_the_copied_messages() -> None:
    replica = StoreKit()
    replica.store.append_raw(0, memoryview(raw_records(3, 0)))
    replica.store.dispatch()
    assert offsets_of(replica.store.queue(b"Orders", 0)) == (0, 3, 3)


def test_a_replica_that_is_opened_again_goes_on_as_a_master() -> None:
    replica = StoreKit()
    replica.store.append_raw(0, memoryview(raw_records(3, 0)))
    promoted = replica.reopen()
    promoted.append(draft(body=b"mine"))
    promoted.step()
    assert bodies_of(promoted.store) == [b"0", b"1", b"2", b"mine"]
    assert promoted.store.queue(b"Orders", 0).max_offset == 4  # type: ignore[union-attr]


def test_store_timestamps_follow_those_of_the_records() -> None:
    replica = StoreKit()
    replica.store.append_raw(0, memoryview(raw_records(3, 0)))
    assert replica.store._log.last_timestamp == 1_700_000_000_002


# Refusing.


def test_bytes_that_do_not_begin_at_the_end_of_the_log_are_misuse() -> None:
    replica = StoreKit()
    data = raw_records(2, 0)
    replica.store.append_raw(0, memoryview(data))
    for offset in (0, len(data) - 1, len(data) + 1, FILE_BYTES, -FILE_BYTES):
        with pytest.raises(Misuse, match=f"log offset {offset}; the log ends at {len(data)}"):
            replica.store.append_raw(offset, memoryview(data))
    assert replica.store.end_offset == len(data)


@pytest.mark.parametrize(
    "view",
    [memoryview(bytes(16)).cast("i"), memoryview(bytes(16))[::2]],
    ids=["of numbers", "with gaps"],
)
def test_a_view_of_anything_but_bytes_is_misuse(view: memoryview) -> None:
    with pytest.raises(Misuse, match="bytes that lie together"):
        StoreKit().store.append_raw(0, view)


def test_what_comes_before_a_damaged_record_is_appended_and_it_is_not() -> None:
    replica = StoreKit()
    data = bytearray(raw_records(3, 0, body=b"a body"))
    second = len(data) // 3
    data[data.index(b"a body", second)] ^= 1
    with pytest.raises(RawRecordRefused, match="does not match its checksum") as refused:
        replica.store.append_raw(0, memoryview(data))
    assert refused.value.offset == second == replica.store.end_offset
    assert refused.value.finding == "a record that does not match its checksum"
    assert "damaged there" in refused.value.hint
    assert replica.store._log.sequence.files[0].view[second:] == bytes(FILE_BYTES - second)
    good = raw_records(3, 0, body=b"a body")
    assert replica.store.append_raw(second, memoryview(good)[second:]) == len(good) - second


@pytest.mark.parametrize("left_over", [-100, 100])
def test_a_filler_of_another_size_names_the_setting_that_differs(left_over: int) -> None:
    replica = StoreKit()
    data = raw_records(3, 0)
    wrong = filler(FILE_BYTES - len(data) + left_over)
    with pytest.raises(RawRecordRefused, match="a filler of the wrong size") as refused:
        replica.store.append_raw(0, memoryview(data + wrong))
    assert "mappedFileSizeCommitLog, here 4096," in refused.value.hint
    assert replica.store.end_offset == len(data)


def test_a_record_that_crosses_the_end_of_a_file_names_the_setting_that_differs() -> None:
    replica = StoreKit()
    data = raw_records(8, 0, body=bytes(600))
    with pytest.raises(RawRecordRefused, match="does not fit into the log file") as refused:
        replica.store.append_raw(0, memoryview(data))
    assert "mappedFileSizeCommitLog" in refused.value.hint
    assert 0 < refused.value.offset == replica.store.end_offset < FILE_BYTES


def test_a_file_that_is_all_filler_is_refused() -> None:
    replica = StoreKit()
    with pytest.raises(RawRecordRefused, match="a filler of the wrong size"):
        replica.store.append_raw(0, memoryview(filler(FILE_BYTES)))
    with pytest.raises(RawRecordRefused, match="a filler of the wrong size"):
        replica.store.append_raw(FILE_BYTES, memoryview(filler(FILE_BYTES)))
    assert replica.store.end_offset == 0


def test_while_appends_are_refused_so_are_raw_ones() -> None:
    replica = StoreKit()
    replica.store.append_raw(0, memoryview(raw_records(1, 0)))
    end = replica.store.end_offset
    replica.disk.faults.fail_sync("*/commitlog/*")
    for _ in range(3):
        replica.step(1000)
        replica.worker.run_all()
    replica.step()
    with pytest.raises(DiskFailed):
        replica.store.append_raw(end, memoryview(raw_records(1, end)))
    assert replica.store.end_offset == end


def test_while_a_topic_is_being_deleted_raw_records_wait() -> None:
    replica = StoreKit()
    replica.store.append_raw(0, memoryview(raw_records(2, 0)))
    replica.settle()
    end = replica.store.end_offset
    next_life = memoryview(raw_records(1, end))
    replica.store.delete_topic(b"Orders")
    with pytest.raises(StoreBusy, match="being deleted"):
        replica.store.append_raw(end, next_life)
    replica.settle()
    assert replica.store.append_raw(end, next_life) == len(next_life)
    replica.settle()
    assert bodies_of(replica.store) == [b"0"]
    assert bodies_of(StoreKit(replica.disk.kill()).store) == [b"0"]


def test_without_room_for_the_next_file_the_records_before_it_are_appended() -> None:
    master = filled_master()
    data = log_bytes(master.store)
    replica = StoreKit()
    replica.disk.capacity_bytes = replica.disk.used_bytes()
    with pytest.raises(DiskFull):
        replica.store.append_raw(0, memoryview(data))
    end = replica.store.end_offset
    assert 0 < end < FILE_BYTES
    assert log_bytes(replica.store) == data[:end]
    replica.disk.capacity_bytes = 1 << 40
    for _ in range(3):  # the next file is tried again after a while
        replica.step(1000)
        replica.worker.run_all()
    replica.step()
    assert replica.store.append_raw(end, memoryview(data)[end:]) == len(data) - end
    assert closed_files(replica) == closed_files(master)


@settings(max_examples=60)
@given(
    st.integers(0, 5),
    st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(1, 255)), min_size=1, max_size=3),
    st.lists(st.integers(0, 2000), max_size=8),
)
def test_whatever_bytes_come_a_start_finds_all_that_was_appended(
    seed: int, flips: list[tuple[int, int]], sizes: list[int]
) -> None:
    data = bytearray(log_bytes(filled_master(seed, 15).store))
    for place, value in flips:
        data[place % len(data)] ^= value
    replica = StoreKit()
    with contextlib.suppress(RawRecordRefused):
        feed(replica.store, bytes(data), 0, sizes)
    end = replica.store.end_offset
    assert log_bytes(replica.store) == data[:end]
    assert StoreKit(replica.disk.kill()).store.end_offset == end
    replica.store.close()
    assert StoreKit(replica.disk).store.end_offset == end


# Records without the record CRC.


def test_after_a_crash_records_without_the_record_crc_are_kept() -> None:
    replica = StoreKit(config=SMALL_SYNC)
    ours = raw_records(2, 0)
    data = ours + raw_records(2, len(ours), first=2, with_crc=False)
    replica.store.append_raw(0, memoryview(data))
    after = StoreKit(replica.disk.kill(), SMALL_SYNC)
    assert after.store.end_offset == len(data)
    assert bodies_of(after.store) == [b"0", b"1", b"2", b"3"]


def test_records_without_the_record_crc_that_were_synced_survive_a_power_cut() -> None:
    replica = StoreKit(config=SMALL_SYNC)
    data = raw_records(4, 0, with_crc=False)
    replica.store.append_raw(0, memoryview(data))
    replica.step()
    replica.worker.run_all()
    replica.store.flush_soon(replica.clock.now())
    assert replica.store.flushed_offset == len(data)
    for survivor in replica.disk.crash_states():
        after = StoreKit(survivor, SMALL_SYNC)
        assert after.store.end_offset == len(data), survivor.origin
        assert bodies_of(after.store) == [b"0", b"1", b"2", b"3"], survivor.origin


def test_old_records_without_the_record_crc_are_read_and_not_called_damaged() -> None:
    replica = StoreKit(config=replace(SMALL, hot_bytes=0))
    replica.store.append_raw(0, memoryview(raw_records(4, 0, with_crc=False)))
    replica.settle()
    assert bodies_of(replica.store) == [b"0", b"1", b"2", b"3"]
    assert replica.store.record_at(0) is not None
    again = replica.reopen()
    assert bodies_of(again.store) == [b"0", b"1", b"2", b"3"]
    end = again.store.end_offset
    again.store.append_raw(end, memoryview(raw_records(1, end, first=4, with_crc=False)))
    again.settle()
    assert len(bodies_of(StoreKit(again.disk.kill(), again.config).store)) == 5


def test_the_mark_gives_up_the_record_crc_before_the_first_record_without_it() -> None:
    replica = StoreKit()
    ours = raw_records(2, 0)
    replica.store.append_raw(0, memoryview(ours))
    assert mark_on(replica.disk.power_cut()).mark.crc_from == 0
    theirs = raw_records(2, len(ours), with_crc=False)
    replica.store.append_raw(len(ours), memoryview(theirs))
    assert mark_on(replica.disk.power_cut()).mark.crc_from == NO_CRC
    assert replica.store.compaction.crc_from == NO_CRC
    syncs = [call for call in replica.disk.faults.calls if call.path.endswith("durable_mark")]
    replica.store.append_raw(
        replica.store.end_offset,
        memoryview(raw_records(1, replica.store.end_offset, with_crc=False)),
    )
    assert syncs == [
        call for call in replica.disk.faults.calls if call.path.endswith("durable_mark")
    ]


def test_a_promoted_replica_demands_the_record_crc_of_its_own_records_again() -> None:
    replica = StoreKit()
    theirs = raw_records(2, 0, with_crc=False)
    replica.store.append_raw(0, memoryview(theirs))
    promoted = replica.reopen()
    assert mark_on(promoted.disk.power_cut()).mark.crc_from == len(theirs)


def test_a_mark_that_cannot_be_synced_keeps_the_record_out() -> None:
    replica = StoreKit()
    replica.disk.faults.fail_sync("*/durable_mark")
    with pytest.raises(DiskFailed, match="the durable mark could not be written"):
        replica.store.append_raw(0, memoryview(raw_records(1, 0, with_crc=False)))
    assert replica.store.end_offset == 0
    replica.step()
    assert replica.store.failure is not None


# Beginning elsewhere.


def begun_at(offset: int, config: object = SMALL) -> tuple[StoreKit, bytes]:
    replica = StoreKit(config=config)  # type: ignore[arg-type]
    data = raw_records(3, offset)
    assert replica.store.append_raw(offset, memoryview(data)) == len(data)
    return replica, data


def test_an_empty_store_begins_where_the_bytes_do() -> None:
    replica, data = begun_at(5 * FILE_BYTES)
    store = replica.store
    assert (store.min_offset, store.end_offset) == (5 * FILE_BYTES, 5 * FILE_BYTES + len(data))
    assert replica.disk.list_directory(f"{ROOT}/commitlog") == [f"{5 * FILE_BYTES:020d}"]
    replica.settle()
    assert bodies_of(store) == [b"0", b"1", b"2"]
    assert store.flushed_offset == store.dispatched_offset == store.end_offset
    again = replica.reopen()
    assert (again.store.min_offset, again.store.end_offset) == (
        5 * FILE_BYTES,
        5 * FILE_BYTES + len(data),
    )
    assert bodies_of(again.store) == [b"0", b"1", b"2"]


def test_a_replica_of_a_master_without_its_first_files_has_the_rest_of_its_files() -> None:
    master = filled_master(3, 80)
    data = log_bytes(master.store)
    start = 2 * FILE_BYTES
    replica = StoreKit()
    feed(replica.store, data[start:], start, [700] * 3)
    replica.settle()
    files, expected = closed_files(replica), closed_files(master)
    for path, content in files.items():
        if "/commitlog/" in path:
            assert content == expected[path]
    assert len(files) > 3
    assert not [path for path in files if path.endswith(f"/commitlog/{0:020d}")]


def test_bytes_without_a_whole_record_begin_nothing() -> None:
    replica = StoreKit()
    data = raw_records(1, FILE_BYTES)
    assert replica.store.append_raw(FILE_BYTES, memoryview(data)[:-1]) == 0
    assert (replica.store.min_offset, replica.store.end_offset) == (0, 0)
    with pytest.raises(RawRecordRefused):
        replica.store.append_raw(FILE_BYTES, memoryview(bytes(100)))
    assert (replica.store.min_offset, replica.store.end_offset) == (0, 0)


def test_a_store_begins_at_no_offset_inside_a_file() -> None:
    replica = StoreKit()
    with pytest.raises(RawRecordRefused, match="inside a log file") as refused:
        replica.store.append_raw(100, memoryview(raw_records(1, 100)))
    assert refused.value.offset == 100
    assert "mappedFileSizeCommitLog another one than 4096" in refused.value.hint


def test_wherever_a_begin_is_cut_the_store_opens_and_begins_again() -> None:
    start, number, is_over = 3 * FILE_BYTES, 0, False
    data = raw_records(3, start)
    while not is_over:
        number += 1
        replica = StoreKit(config=SMALL_SYNC)
        first = len(replica.disk.faults.calls)
        replica.store.append_raw(start, memoryview(data))
        replica.settle()
        is_over = number > len(replica.disk.faults.calls) - first
        replica = StoreKit(config=SMALL_SYNC)
        replica.disk.faults.power_cut_at(number)
        promised = 0
        try:
            replica.store.append_raw(start, memoryview(data))
            replica.settle()
            promised = replica.store.flushed_offset
        except PowerCut:
            pass
        for survivor in replica.disk.crash_states(random_count=2):
            after = StoreKit(survivor, SMALL_SYNC)
            assert after.store.end_offset >= promised, (number, survivor.origin)
            if after.store.end_offset == after.store.min_offset:
                assert after.store.append_raw(start, memoryview(data)) == len(data)
            after.settle()
            assert bodies_of(after.store) == [b"0", b"1", b"2"], (number, survivor.origin)
    assert number > 10


def test_a_store_that_began_elsewhere_and_lost_its_records_can_begin_again() -> None:
    replica = StoreKit()
    replica.store.append_raw(5 * FILE_BYTES, memoryview(raw_records(1, 5 * FILE_BYTES)))
    after = StoreKit(replica.disk.power_cut())
    assert after.store.min_offset == after.store.end_offset == 5 * FILE_BYTES
    after.settle()
    for start in (2 * FILE_BYTES, 9 * FILE_BYTES):
        data = raw_records(2, start)
        twin = StoreKit(after.disk.kill())
        twin.settle()
        twin.step(twin.config.checkpoint_interval_ms)  # with a checkpoint under way
        assert twin.store.append_raw(start, memoryview(data)) == len(data)
        twin.settle()
        assert bodies_of(twin.store) == [b"0", b"1"]
        for survivor in twin.disk.crash_states(random_count=2):
            assert bodies_of(StoreKit(survivor).store) == [b"0", b"1"], survivor.origin


@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_store_that_knows_messages_of_another_log_begins_nowhere_else(is_compacted: bool) -> None:
    kit = StoreKit()
    kit.store.compaction.set(b"Orders", is_compacted)
    kit.append_many(60)
    for _ in range(50):
        kit.step(100_000)
        kit.worker.run_all()
    kit.store.close()
    # Somebody removed the log; the key index, or what compaction kept, is still there.
    spared = f"{ROOT}/compacted/" if is_compacted else f"{ROOT}/index/"
    for path in list(kit.disk.files()):
        if not path.startswith(spared):
            kit.disk.remove(path)
    store = StoreKit(kit.disk).store
    assert store.min_offset == store.end_offset == 0
    with pytest.raises(Misuse, match="the log ends at 0"):
        store.append_raw(9 * FILE_BYTES, memoryview(raw_records(1, 9 * FILE_BYTES)))


def test_retention_leaves_a_record_in_the_log_of_a_replica_that_ends_with_a_file() -> None:
    config = replace(SMALL, retention_ms=1, delete_interval_ms=0)
    master = StoreKit(config=config)
    for _ in range(2):
        master.append(draft(body=bytes(3000)))
    replica = StoreKit(config=config)
    replica.store.append_raw(0, master.store.log_slices(0, FILE_BYTES))
    for _ in range(60):
        replica.step(100_000)
        replica.worker.run_all()
    assert (replica.store.min_offset, replica.store.end_offset) == (0, FILE_BYTES)
    with pytest.raises(Misuse, match="the log ends at 4096"):
        replica.store.append_raw(9 * FILE_BYTES, memoryview(raw_records(1, 9 * FILE_BYTES)))


def test_a_first_file_that_cannot_be_made_ends_the_store() -> None:
    replica = StoreKit()
    replica.disk.faults.fail_sync(f"*/{FILE_BYTES:020d}")
    data = raw_records(1, FILE_BYTES)
    with pytest.raises(DiskFailed, match="the first commit log file could not be made"):
        replica.store.append_raw(FILE_BYTES, memoryview(data))
    replica.step()
    assert replica.store.failure is not None
    after: Store = StoreKit(replica.disk.kill()).store
    assert after.append_raw(FILE_BYTES, memoryview(data)) == len(data)
