"""Queues and index after a stop: what is believed of them, and from where they are fed again."""

from dataclasses import replace
from typing import Any

import pytest

from aerobee.errors import CorruptFile
from aerobee.protocol.message.durable_mark_slots import DurableMark
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.index.derived_files import NO_COUNT
from aerobee.storage.read.record_reader import RecordReader
from aerobee.storage.recover.derived_recovery import DispatchStart, LogState, open_derived
from aerobee.storage.recover.durable_mark import DurableMarkFile
from tests.store_kit import ROOT, SMALL, StoreKit, batch_draft, draft, offsets_of, properties

MESSAGES = 12
CUT = 7  # messages that an older mark vouches for


class DerivedKit:
    """A store that was closed well, and what a start could know of it."""

    def __init__(self, **changes: Any) -> None:
        self.config = replace(SMALL, **changes)
        kit = StoreKit(config=self.config)
        self.offsets: list[int] = []
        for number in range(MESSAGES):
            topic = b"Orders" if number % 3 else b"Trades"
            text = properties(KEYS=f"key{number}")
            self.offsets.append(kit.append(draft(topic, 0, b"body", text)))
            if number == CUT - 1:
                kit.settle()
                self.older = DurableMarkFile.open(kit.disk.kill(), f"{ROOT}/durable_mark").mark
        self.end = kit.store.end_offset
        kit.store.close()
        self.disk = kit.disk.kill()
        self.mark = DurableMarkFile.open(self.disk, f"{ROOT}/durable_mark").mark

    def open(
        self,
        mark: DurableMark,
        *,
        was_clean: bool = True,
        has_mark: bool = True,
        end: int | None = None,
        scan_start: int = 0,
        min_offset: int = 0,
        config: StorageConfig | None = None,
        defects: Defects = NO_DEFECTS,
    ) -> DispatchStart:
        end = self.end if end is None else end
        state = LogState(min_offset, end, scan_start, was_clean, has_mark)
        log = FileSequence(self.disk, f"{ROOT}/commitlog", SMALL.log_file_bytes)
        log.load()
        timestamps = RecordReader(log).store_timestamp_at
        config = self.config if config is None else config
        return open_derived(self.disk, ROOT, config, state, mark, {}, timestamps, defects)

    def counts(self, start: DispatchStart) -> dict[bytes, int]:
        return {queue.topic: queue.max_offset for queue in start.derived.queues.all()}


def index_files(disk: SimDisk) -> list[str]:
    return disk.list_directory(f"{ROOT}/index")


# With a mark.


def test_what_the_mark_vouches_for_whole_is_believed_whole() -> None:
    kit = DerivedKit()
    before = kit.disk.files()
    start = kit.open(kit.mark)
    assert (start.offset, start.queues_from) == (kit.end, kit.end)
    assert start.mark == kit.mark
    assert kit.counts(start) == {b"Orders": 8, b"Trades": 4}
    assert start.derived.index is not None
    assert start.derived.index.unit_count == MESSAGES
    assert kit.disk.files() == before


@pytest.mark.parametrize("was_clean", [False, True])
def test_an_older_mark_cuts_queues_and_index_back(was_clean: bool) -> None:
    kit = DerivedKit()
    start = kit.open(kit.older, was_clean=was_clean)
    assert start.offset == start.queues_from == kit.offsets[CUT]
    assert kit.counts(start) == {b"Orders": 4, b"Trades": 3}
    assert start.derived.index is not None
    assert start.derived.index.unit_count == CUT
    assert start.mark == kit.older


def test_units_of_a_log_that_was_cut_go_with_it() -> None:
    kit = DerivedKit()
    end = kit.offsets[CUT]
    start = kit.open(kit.mark, was_clean=False, end=end)
    assert start.offset == start.queues_from == end
    assert kit.counts(start) == {b"Orders": 4, b"Trades": 3}
    assert start.derived.index is not None
    assert start.derived.index.unit_count == CUT
    assert start.mark == kit.older._replace(flushed=kit.mark.flushed)


def test_a_log_that_was_cut_has_queues_built_again_that_were_not_whole_before() -> None:
    kit = DerivedKit()
    end = kit.offsets[CUT]
    start = kit.open(kit.mark._replace(unit_total=11), was_clean=False, end=end)
    assert (start.offset, start.queues_from) == (0, 0)
    assert start.derived.queues.all() == []


def test_a_defect_leaves_units_of_a_log_that_was_cut() -> None:
    kit = DerivedKit()
    defects = frozenset({Defect.QUEUE_NOT_CUT_WITH_LOG})
    mark = kit.mark._replace(dispatched=kit.offsets[CUT])
    start = kit.open(mark, was_clean=False, defects=defects)
    assert kit.counts(start) == {b"Orders": 8, b"Trades": 4}


@pytest.mark.parametrize("changed", [{"queue_count": 3}, {"unit_total": 11}])
@pytest.mark.parametrize("was_clean", [False, True])
def test_queues_that_do_not_match_the_mark_are_built_again(
    changed: dict[str, int], was_clean: bool
) -> None:
    kit = DerivedKit()
    start = kit.open(kit.mark._replace(**changed), was_clean=was_clean)
    assert (start.offset, start.queues_from) == (0, 0)
    assert start.derived.queues.all() == []
    assert not kit.disk.exists(f"{ROOT}/consumequeue/Orders")
    assert start.derived.index is not None
    assert start.derived.index.unit_count == MESSAGES


def test_until_queues_are_built_again_the_mark_believes_none() -> None:
    kit = DerivedKit()
    start = kit.open(kit.mark._replace(unit_total=11))
    assert start.mark.unit_total == NO_COUNT
    assert start.mark.index_count == MESSAGES


def test_a_queue_that_is_missing_has_all_built_again() -> None:
    kit = DerivedKit()
    folder = f"{ROOT}/consumequeue/Trades/0"
    for name in kit.disk.list_directory(folder):
        kit.disk.remove(f"{folder}/{name}")
    start = kit.open(kit.mark)
    assert (start.offset, start.queues_from) == (0, 0)


def test_what_is_built_again_begins_where_the_log_does() -> None:
    kit = DerivedKit()
    begin = kit.offsets[2]
    start = kit.open(kit.mark._replace(unit_total=11), min_offset=begin)
    assert (start.offset, start.queues_from) == (begin, begin)


def test_a_mark_below_the_log_is_raised_to_its_begin() -> None:
    kit = DerivedKit()
    assert kit.open(kit.older, min_offset=kit.offsets[9]).offset == kit.offsets[9]


# The index alone.


@pytest.mark.parametrize("was_clean", [False, True])
def test_an_index_that_is_missing_is_built_again_and_the_queues_are_left(was_clean: bool) -> None:
    kit = DerivedKit()
    for name in index_files(kit.disk):
        kit.disk.remove(f"{ROOT}/index/{name}")
    start = kit.open(kit.mark, was_clean=was_clean)
    assert (start.offset, start.queues_from) == (0, kit.end)
    assert kit.counts(start) == {b"Orders": 8, b"Trades": 4}
    assert start.mark.index_count == NO_COUNT
    assert start.mark.unit_total == kit.mark.unit_total


def test_an_index_with_too_few_units_is_built_again() -> None:
    kit = DerivedKit()
    start = kit.open(kit.mark._replace(index_count=MESSAGES + 1))
    assert (start.offset, start.queues_from) == (0, kit.end)
    assert start.derived.index is not None
    assert start.derived.index.unit_count == 0
    assert index_files(kit.disk.power_cut()) == []


@pytest.mark.parametrize("was_clean", [False, True])
def test_an_index_that_the_mark_does_not_vouch_for_is_built_again(was_clean: bool) -> None:
    kit = DerivedKit()
    start = kit.open(kit.mark._replace(index_count=NO_COUNT), was_clean=was_clean)
    assert (start.offset, start.queues_from) == (0, kit.end)
    assert start.derived.index is not None
    assert start.derived.index.unit_count == 0
    assert index_files(kit.disk) == []


def test_an_index_of_damaged_head_is_built_again() -> None:
    kit = DerivedKit()
    (name,) = index_files(kit.disk)
    kit.disk.open(f"{ROOT}/index/{name}").view[:40] = b"\xff" * 40
    start = kit.open(kit.mark)
    assert (start.offset, start.queues_from) == (0, kit.end)


def test_an_index_that_another_program_went_on_with_is_cut_back() -> None:
    kit = DerivedKit()
    start = kit.open(kit.older)
    assert start.derived.index is not None
    assert start.derived.index.end_offset < kit.offsets[CUT]
    assert start.derived.index.find(b"Orders", b"key11", 0, 1 << 60, 10) == []


def test_without_an_index_none_is_opened_or_touched() -> None:
    kit = DerivedKit()
    before = kit.disk.files()
    start = kit.open(kit.mark, config=replace(SMALL, index_enabled=False))
    assert start.derived.index is None
    assert start.offset == kit.end
    assert kit.disk.files() == before


def test_a_deleted_topic_does_not_rise_when_only_the_index_is_built() -> None:
    kit = StoreKit()
    for number in range(6):
        kit.append(draft(b"Gone" if number % 2 else b"Kept", text=properties(KEYS="k")))
    kit.settle()
    kit.store._queues.remove_topic(b"Gone")
    kit.append(draft(b"Kept"))
    kit.settle()
    kit.store.close()
    for name in index_files(kit.disk):
        kit.disk.remove(f"{ROOT}/index/{name}")
    after = StoreKit(kit.disk)
    gone = after.store.queue(b"Gone", 0)
    assert gone is None or gone.max_offset == 0
    assert not kit.disk.exists(f"{ROOT}/consumequeue/Gone")
    assert offsets_of(after.store.queue(b"Kept", 0)) == (0, 4, 4)
    assert len(after.store.records_by_key(b"Kept", b"k", 0, 1 << 60, 10)) == 3


# Without a mark: RocketMQ wrote it last.


def test_after_anothers_clean_stop_its_queues_are_believed() -> None:
    kit = DerivedKit()
    start = kit.open(DurableMark(), has_mark=False)
    assert (start.offset, start.queues_from) == (kit.end, kit.end)
    assert start.mark[:5] == kit.mark._replace(flushed=0)[:5]


def test_after_anothers_clean_stop_records_behind_its_queues_are_fed() -> None:
    kit = DerivedKit()
    kit.open(kit.older, was_clean=False).derived.close()
    start = kit.open(DurableMark(), has_mark=False)
    assert start.offset == kit.offsets[CUT]


def test_anothers_clean_stop_without_an_index_has_it_built() -> None:
    kit = DerivedKit()
    for name in index_files(kit.disk):
        kit.disk.remove(f"{ROOT}/index/{name}")
    start = kit.open(DurableMark(), has_mark=False)
    assert (start.offset, start.queues_from) == (0, kit.end)


def test_after_anothers_unclean_stop_queues_are_believed_up_to_where_the_scan_began() -> None:
    kit = DerivedKit()
    scan_start = kit.offsets[CUT]
    start = kit.open(DurableMark(), has_mark=False, was_clean=False, scan_start=scan_start)
    assert (start.offset, start.queues_from) == (0, scan_start)
    assert kit.counts(start) == {b"Orders": 4, b"Trades": 3}
    assert start.derived.index is not None
    assert start.derived.index.unit_count == 0


def test_after_anothers_unclean_stop_the_index_does_not_matter_if_there_is_none() -> None:
    kit = DerivedKit()
    scan_start = kit.offsets[CUT]
    config = replace(SMALL, index_enabled=False)
    start = kit.open(
        DurableMark(), has_mark=False, was_clean=False, scan_start=scan_start, config=config
    )
    assert start.offset == scan_start


def test_a_queue_file_of_the_wrong_size_is_told_after_a_clean_stop() -> None:
    kit = DerivedKit()
    kit.disk.replace(f"{ROOT}/consumequeue/Orders/0/{0:020d}", b"short")
    with pytest.raises(CorruptFile):
        kit.open(kit.mark)


def test_a_queue_file_of_the_wrong_size_is_forgiven_after_a_crash() -> None:
    kit = DerivedKit()
    kit.disk.replace(f"{ROOT}/consumequeue/Orders/0/{0:020d}", b"short")
    start = kit.open(kit.mark, was_clean=False)
    assert (start.offset, start.queues_from) == (0, 0)


def test_batches_are_counted_with_the_queues() -> None:
    kit = StoreKit()
    kit.append(batch_draft(b"Orders", 0, [b"a", b"b", b"c"]))
    inner = properties(INNER_BASE="0", INNER_NUM="2")
    kit.append(draft(b"Batches", 0, b"two in one", inner, sys_flag=0x80))
    kit.store.close()
    mark = DurableMarkFile.open(kit.disk, f"{ROOT}/durable_mark").mark
    assert (mark.queue_count, mark.unit_total) == (2, 5)
    assert kit.disk.list_directory(f"{ROOT}/batchconsumequeue/Batches/0") == [f"{0:020d}"]
