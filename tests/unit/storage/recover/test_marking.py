"""Keeping the marks: nothing is said before it is true, and what is true is said in time.

Longer than 500 lines because each of these is small and shares the same few helpers.
"""

import errno
from dataclasses import replace

import pytest

from aerobee.errors import DiskFailed
from aerobee.ports.disk_worker import Lane
from aerobee.protocol.message.durable_mark_slots import NO_CRC, DurableMark
from aerobee.protocol.message.record import RecordWriter
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from aerobee.storage.dispatch.dispatcher import Dispatcher
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.index.batch_consume_queues import BatchConsumeQueues
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.index.derived_files import DerivedFiles, Fingerprint
from aerobee.storage.index.kept_files import KeptFiles
from aerobee.storage.index.key_index import KeyIndex, KeyIndexConfig
from aerobee.storage.recover.checkpoint import Checkpoint
from aerobee.storage.recover.durable_mark import DurableMarkFile
from aerobee.storage.recover.marking import SYNCS_MAX, Marking
from tests.store_kit import SMALL, draft, properties

MARK = "store/durable_mark"
CHECKPOINT = "store/checkpoint"
STORED = 1_700_000_000_000
EVERYTHING = 1 << 40


class MarkingKit:
    """Marks, and a log with queues and index that they can speak of."""

    def __init__(
        self,
        *,
        defects: Defects = NO_DEFECTS,
        config: StorageConfig = SMALL,
        index_units: int = 32,
    ) -> None:
        self.disk = SimDisk()
        self.worker = SimDiskWorker()
        self.clock = SimClock()
        self.log = FileSequence(self.disk, "store/commitlog", 4096)
        self.log.create(0)
        self.end = 0
        index = KeyIndex.open(self.disk, "store/index", KeyIndexConfig(16, index_units))
        queues = ConsumeQueues(self.disk, "store/consumequeue", 8)
        batch_queues = BatchConsumeQueues(self.disk, "store/batchconsumequeue", 8)
        self.derived = DerivedFiles(
            queues, batch_queues, index, KeptFiles(self.disk, "store/compacted")
        )
        self.dispatcher = Dispatcher(self.log, queues, batch_queues, index, ())
        self.checkpoint = Checkpoint.open(self.disk, CHECKPOINT)
        self.marking = Marking(
            self.disk,
            DurableMarkFile.open(self.disk, MARK),
            self.checkpoint,
            self.worker,
            config,
            defects,
        )
        self.count = 0
        self.disk.faults.calls.clear()

    def dispatch(self, count: int = 1) -> int:
        """So many records more, dispatched, not synced; where the log ends then."""
        writer = RecordWriter(SMALL.store_host, True)
        for _ in range(count):
            message = draft(text=properties(KEYS="k"))
            record = writer.encode(message, self.count, self.end, STORED + self.count)
            self.log.files[0].view[self.end : self.end + len(record)] = record
            self.end += len(record)
            self.count += 1
        self.dispatcher.run(self.end, EVERYTHING)
        return self.end

    def flush(self) -> None:
        """The log is on the disk, and the marks are told."""
        self.log.files[0].disk_file.sync()
        self.marking.note_flushed(self.end, STORED + self.count - 1)

    def step(self, ms: int) -> None:
        self.marking.step(self.derived, self.dispatcher, self.clock.advance(ms))

    def finish(self) -> None:
        self.worker.run_all()
        self.worker.collect()

    def durable(self) -> DurableMark:
        """The mark that a power cut now would leave."""
        return DurableMarkFile.open(self.disk.power_cut(), MARK).mark

    def synced(self) -> list[str]:
        """What was synced since the last call, in order."""
        calls, self.disk.faults.calls[:] = list(self.disk.faults.calls), []
        return [call.path for call in calls if call.name in ("sync", "sync_directory")]


# The start.


def test_what_recovery_found_is_on_the_disk_at_once() -> None:
    kit = MarkingKit()
    mark = DurableMark(5000, 4000, 3, 20, 10, 100)
    kit.marking.start_at(mark, STORED + 2, STORED + 1)
    assert kit.marking.mark == kit.durable() == mark
    assert kit.marking.dispatched_durably == 4000
    fields = Checkpoint.open(kit.disk.power_cut(), CHECKPOINT).fields
    assert fields == (STORED + 2, STORED + 1, STORED + 1, 0, 0, 0)


def test_a_start_whose_sync_fails_is_told() -> None:
    kit = MarkingKit()
    kit.disk.faults.fail_sync(MARK)
    with pytest.raises(OSError, match="sync"):
        kit.marking.start_at(DurableMark(1), 0, 0)


# The mark of the log.


def test_a_flush_is_in_the_mark_at_once_and_on_the_disk_later() -> None:
    kit = MarkingKit()
    end = kit.dispatch()
    kit.flush()
    assert kit.marking.mark.flushed == end
    assert kit.checkpoint.fields.log_timestamp_ms == STORED
    assert kit.durable().flushed == 0
    kit.step(1000)
    kit.finish()
    assert kit.durable().flushed == end


def test_the_mark_is_synced_at_most_once_an_interval() -> None:
    kit = MarkingKit()
    kit.dispatch()
    kit.flush()
    kit.step(1000)
    kit.finish()
    assert kit.synced()[-2:] == [MARK, CHECKPOINT]
    end = kit.dispatch()
    kit.flush()
    kit.step(999)
    assert kit.worker.pending() == 0
    kit.step(1)
    kit.finish()
    assert kit.durable().flushed == end


def test_a_mark_that_did_not_change_is_not_synced() -> None:
    kit = MarkingKit()
    kit.marking.start_at(DurableMark(), 0, 0)
    kit.step(60_000)
    assert kit.worker.pending() == 0


def test_one_sync_of_the_mark_is_under_way_at_a_time() -> None:
    kit = MarkingKit()
    kit.dispatch()
    kit.flush()
    kit.step(1000)
    end = kit.dispatch()
    kit.flush()
    kit.step(1000)
    assert kit.worker.pending() == 1
    kit.finish()
    assert kit.durable().flushed < end
    kit.step(1000)
    kit.finish()
    assert kit.durable().flushed == end


def test_what_is_noted_during_a_sync_is_not_in_it() -> None:
    kit = MarkingKit()
    first = kit.dispatch()
    kit.flush()
    kit.step(1000)
    kit.dispatch()
    kit.flush()
    kit.worker.run_all()
    assert kit.durable().flushed == first


# Checkpoints.


def test_a_checkpoint_is_remembered_only_after_its_files_are_synced() -> None:
    kit = MarkingKit()
    end = kit.dispatch(3)
    kit.flush()
    kit.synced()
    kit.step(5000)
    assert kit.marking.mark.dispatched == 0
    kit.worker.run_next()
    synced = kit.synced()
    assert any("consumequeue/Orders/0/" in path for path in synced)
    assert any(path.startswith("store/index/") for path in synced)
    assert {"store/consumequeue", "store/consumequeue/Orders", "store/index"} <= set(synced)
    assert MARK not in synced
    assert kit.marking.mark.dispatched == 0
    kit.worker.collect()
    assert kit.marking.mark == DurableMark(end, end, 1, 3, 3)


def test_a_checkpoint_speaks_of_what_was_there_when_it_began() -> None:
    kit = MarkingKit()
    end = kit.dispatch(3)
    kit.flush()
    kit.step(5000)
    kit.dispatch(2)
    kit.flush()
    kit.finish()
    assert kit.marking.mark[1:5] == (end, 1, 3, 3)
    assert kit.checkpoint.fields.queue_timestamp_ms == STORED + 2
    assert kit.checkpoint.fields.log_timestamp_ms == STORED + 4


def test_rocketmq_is_told_to_dispatch_from_where_the_newest_index_file_begins() -> None:
    kit = MarkingKit(index_units=6)
    kit.dispatch(3)
    kit.flush()
    kit.step(5000)
    kit.finish()
    assert kit.checkpoint.fields.queue_log_offset == 1  # record 0; 0 would say nothing
    starts = [kit.end]
    while len(kit.derived.index.paths) < 2:  # type: ignore[union-attr]
        starts.append(kit.dispatch())
    kit.flush()
    kit.step(5000)
    kit.finish()
    assert kit.checkpoint.fields.queue_log_offset == starts[-2]
    again = Checkpoint.open(kit.disk, CHECKPOINT)
    assert again.fields.queue_log_offset == starts[-2]


def test_a_checkpoint_waits_for_the_log_that_it_points_at() -> None:
    kit = MarkingKit()
    end = kit.dispatch(2)
    kit.step(5000)
    kit.finish()
    assert kit.marking.mark.dispatched == 0
    assert kit.checkpoint.fields.queue_timestamp_ms == 0
    kit.marking.note_flushed(end - 1, STORED)
    assert kit.marking.mark.dispatched == 0
    kit.marking.note_flushed(end, STORED + 1)
    assert kit.marking.mark.dispatched == end


def test_while_a_checkpoint_waits_no_other_begins() -> None:
    kit = MarkingKit()
    kit.dispatch(2)
    kit.step(5000)
    kit.finish()
    kit.dispatch(2)
    kit.step(5000)
    assert kit.worker.pending() == 0
    kit.flush()
    kit.step(5000)
    kit.finish()
    assert kit.marking.mark.dispatched == kit.end


def test_a_checkpoint_comes_once_an_interval() -> None:
    kit = MarkingKit(config=replace(SMALL, mark_interval_ms=1 << 40))
    kit.dispatch()
    kit.flush()
    kit.step(4999)
    assert kit.worker.pending() == 0
    kit.step(1)
    assert kit.worker.pending(Lane.BACKGROUND) == 1
    kit.finish()
    kit.dispatch()
    kit.flush()
    kit.step(4999)
    assert kit.worker.pending() == 0


def test_a_checkpoint_comes_earlier_if_much_was_dispatched() -> None:
    kit = MarkingKit(config=replace(SMALL, mark_interval_ms=1 << 40, checkpoint_bytes=1000))
    kit.dispatch()
    kit.flush()
    kit.step(1)
    assert kit.worker.pending() == 0
    kit.dispatch(10)
    kit.flush()
    kit.step(1)
    assert kit.worker.pending() == 1


def test_without_anything_new_there_is_no_checkpoint() -> None:
    kit = MarkingKit()
    end = kit.dispatch()
    kit.flush()
    kit.step(5000)
    kit.finish()
    kit.step(5000)
    kit.finish()
    kit.synced()
    kit.step(60_000)
    assert kit.worker.pending() == 0
    assert kit.marking.mark.dispatched == end


def test_what_is_dispatched_durably_rises_only_after_the_mark_is_synced() -> None:
    kit = MarkingKit()
    end = kit.dispatch()
    kit.flush()
    kit.step(5000)
    kit.finish()
    assert kit.marking.mark.dispatched == end
    assert kit.marking.dispatched_durably == 0
    kit.step(1000)
    kit.worker.run_all()
    assert kit.marking.dispatched_durably == 0
    kit.worker.collect()
    assert kit.marking.dispatched_durably == end == kit.durable().dispatched


def test_times_of_derived_files_do_not_go_back() -> None:
    kit = MarkingKit()
    kit.marking.start_at(DurableMark(), STORED + 500, STORED + 400)
    kit.dispatch()
    kit.flush()
    kit.step(5000)
    kit.finish()
    assert kit.checkpoint.fields.queue_timestamp_ms == STORED + 400


# Blocking.


def test_a_checkpoint_now_is_on_the_disk_when_it_returns() -> None:
    kit = MarkingKit()
    end = kit.dispatch(3)
    kit.flush()
    kit.marking.checkpoint_now(kit.derived, kit.dispatcher)
    assert kit.durable() == DurableMark(end, end, 1, 3, 3)
    assert kit.marking.dispatched_durably == end
    assert kit.worker.pending() == 0


def test_a_checkpoint_now_waits_for_one_and_for_a_mark_sync_under_way() -> None:
    kit = MarkingKit()
    kit.dispatch(3)
    kit.flush()
    kit.step(5000)
    assert kit.worker.pending() == 2
    end = kit.dispatch(2)
    kit.flush()
    kit.marking.checkpoint_now(kit.derived, kit.dispatcher)
    assert kit.durable() == DurableMark(end, end, 1, 5, 5)


def test_a_sync_now_leaves_nothing_for_later() -> None:
    kit = MarkingKit()
    end = kit.dispatch()
    kit.flush()
    kit.marking.sync_now()
    assert kit.durable().flushed == end
    kit.step(1000)
    assert kit.worker.pending() == 0


# Failures.


def test_a_failed_checkpoint_is_the_last_and_changes_no_mark() -> None:
    kit = MarkingKit()
    kit.dispatch()
    kit.flush()
    before = kit.marking.mark
    kit.disk.faults.fail_sync("store/consumequeue/*")
    kit.step(5000)
    kit.finish()
    assert isinstance(kit.marking.failure, OSError)
    assert kit.marking.mark == before
    kit.dispatch()
    kit.step(60_000)
    assert kit.worker.pending() == 0


def test_a_failed_sync_of_the_mark_is_the_last() -> None:
    kit = MarkingKit()
    kit.dispatch()
    kit.flush()
    kit.disk.faults.fail_sync(MARK)
    kit.step(1000)
    kit.finish()
    assert isinstance(kit.marking.failure, OSError)
    assert kit.marking.dispatched_durably == 0
    kit.dispatch()
    kit.flush()
    kit.step(60_000)
    assert kit.worker.pending() == 0


def test_a_checkpoint_now_that_fails_is_raised() -> None:
    kit = MarkingKit()
    kit.dispatch()
    kit.flush()
    kit.disk.faults.fail_sync("store/index/*")
    with pytest.raises(DiskFailed, match="a checkpoint failed"):
        kit.marking.checkpoint_now(kit.derived, kit.dispatcher)
    assert kit.durable().dispatched == 0


def test_a_checkpoint_without_room_for_an_index_file_can_be_tried_again() -> None:
    kit = MarkingKit()
    kit.dispatch()
    kit.flush()
    calls = len(kit.disk.faults.calls)
    kit.disk.faults.fail_call(1, errno.ENOSPC)
    with pytest.raises(OSError, match="No space"):
        kit.step(5000)
    assert len(kit.disk.faults.calls) == calls + 1
    assert kit.marking.failure is None
    kit.step(5000)
    kit.finish()
    assert kit.marking.mark.dispatched == kit.end


def test_a_defect_puts_the_checkpoint_ahead_of_its_data() -> None:
    kit = MarkingKit(defects=frozenset({Defect.CHECKPOINT_AHEAD_OF_DATA}))
    end = kit.dispatch()
    kit.step(5000)
    assert kit.marking.mark.dispatched == end
    kit.synced()
    kit.worker.run_next()
    assert kit.synced() == []


def test_after_closing_neither_file_is_held() -> None:
    kit = MarkingKit()
    kit.marking.close()
    with pytest.raises(ValueError, match="closed"):
        kit.checkpoint.sync()


def test_a_checkpoint_of_very_many_files_is_one_sync() -> None:
    kit = MarkingKit()
    kit.dispatch()
    kit.flush()
    for number in range(SYNCS_MAX // 2):
        kit.derived.queues.find_or_make(b"Topic-%d" % number, 0).append(0, 0, 10, 0)
    kit.step(5000)
    kit.finish()
    assert "sync_all" in [call.name for call in kit.disk.faults.calls]
    assert "sync_directory" not in [call.name for call in kit.disk.faults.calls]
    names = kit.disk.power_cut().list_directory("store/consumequeue")
    assert len(names) == SYNCS_MAX // 2 + 1
    assert kit.marking.mark.queue_count == SYNCS_MAX // 2 + 1


# Queues that are subtracted.


def share(count: int, total: int, first: int = 0) -> Fingerprint:
    return Fingerprint(count, total, 0, first)


def test_queues_are_subtracted_from_the_mark_and_from_a_checkpoint_that_waits() -> None:
    kit = MarkingKit()
    first = kit.dispatch(3)
    kit.flush()
    kit.step(5000)
    kit.finish()
    second = kit.dispatch(4)
    kit.step(5000)
    kit.finish()
    shares = {first: share(1, 2), second: share(1, 5)}
    assert kit.marking.subtract(shares.__getitem__) == 1
    assert kit.marking.mark == DurableMark(first, first, 0, 1, 3)
    assert kit.marking.subtract({first: share(0, 1), second: share(0, 1)}.__getitem__) == 2
    assert kit.marking.mark == DurableMark(first, first, 0, 0, 3)
    kit.flush()
    assert kit.marking.mark == DurableMark(second, second, 0, 1, 7)


def test_a_subtraction_does_not_go_below_zero() -> None:
    kit = MarkingKit()
    kit.marking.start_at(DurableMark(0, 0, 1, 5, 0, 0, 2), 0, 0)
    kit.marking.subtract(lambda log_offset: share(2, 6, 3))
    assert kit.marking.mark == DurableMark(crc_from=0)


def test_a_mark_is_synced_at_once_after_a_subtraction() -> None:
    kit = MarkingKit()
    kit.marking.start_at(DurableMark(0, 0, 2, 8), 0, 0)
    kit.marking.sync_subtractions()
    assert kit.worker.pending() == 0, "nothing was subtracted"
    assert kit.marking.subtract(lambda log_offset: share(1, 5)) == 1
    assert kit.durable().unit_total == 8
    kit.marking.sync_subtractions()
    assert kit.marking.subtract(lambda log_offset: share(1, 2)) == 2
    kit.marking.sync_subtractions()
    assert kit.worker.pending() == 1, "one sync at a time"
    kit.worker.run_all()
    assert (kit.marking.durable_subtraction, kit.durable().unit_total) == (0, 3)
    kit.worker.collect()
    assert kit.marking.durable_subtraction == 1, "what came during a sync is not in it"
    kit.marking.sync_subtractions()
    kit.finish()
    assert (kit.marking.durable_subtraction, kit.durable().unit_total) == (2, 1)
    kit.marking.sync_subtractions()
    assert kit.worker.pending() == 0


def test_a_sync_of_the_mark_that_fails_makes_no_subtraction_durable() -> None:
    kit = MarkingKit()
    kit.marking.subtract(lambda log_offset: share(0, 0))
    kit.disk.faults.fail_sync(MARK)
    kit.marking.sync_subtractions()
    kit.finish()
    assert isinstance(kit.marking.failure, OSError)
    kit.marking.sync_subtractions()
    assert (kit.marking.durable_subtraction, kit.worker.pending()) == (0, 0)


def test_a_checkpoint_now_makes_every_subtraction_durable() -> None:
    kit = MarkingKit()
    kit.dispatch()
    kit.flush()
    kit.marking.subtract(lambda log_offset: share(0, 0))
    kit.marking.checkpoint_now(kit.derived, kit.dispatcher)
    assert kit.marking.durable_subtraction == 1


def test_while_it_is_held_no_checkpoint_begins() -> None:
    kit = MarkingKit(config=replace(SMALL, mark_interval_ms=1 << 40))
    kit.dispatch()
    kit.flush()
    kit.marking.is_held = True
    kit.step(60_000)
    assert kit.worker.pending() == 0
    kit.marking.is_held = False
    kit.step(0)
    assert kit.worker.pending() == 1


# A log that comes from elsewhere.


def test_the_record_crc_is_given_up_on_the_disk_at_once() -> None:
    kit = MarkingKit()
    kit.marking.start_at(DurableMark(crc_from=100), 0, 0)
    end = kit.dispatch()
    kit.flush()
    kit.marking.give_up_crc()
    assert kit.durable() == DurableMark(flushed=end, crc_from=NO_CRC)
    kit.dispatch()
    kit.flush()
    assert kit.marking.mark.crc_from == NO_CRC


def test_the_record_crc_is_given_up_behind_a_sync_that_is_under_way() -> None:
    kit = MarkingKit()
    kit.marking.start_at(DurableMark(crc_from=100), 0, 0)
    kit.dispatch()
    kit.flush()
    kit.step(1000)
    assert kit.worker.pending(Lane.BACKGROUND) > 0
    kit.marking.give_up_crc()
    assert kit.durable().crc_from == NO_CRC
    kit.finish()
    kit.step(1000)
    kit.finish()
    assert kit.durable().crc_from == NO_CRC


@pytest.mark.parametrize("is_under_way", [False, True])
def test_a_record_crc_that_cannot_be_given_up_ends_the_marks(is_under_way: bool) -> None:
    kit = MarkingKit()
    kit.marking.start_at(DurableMark(crc_from=100), 0, 0)
    kit.dispatch()
    kit.flush()
    kit.disk.faults.fail_sync(MARK)
    if is_under_way:
        kit.step(1000)
    with pytest.raises(DiskFailed, match="the durable mark could not be written"):
        kit.marking.give_up_crc()
    assert kit.marking.failure is not None
    assert kit.durable().crc_from == 100
    with pytest.raises(DiskFailed):
        kit.marking.give_up_crc()


def test_a_log_that_begins_anew_has_nothing_on_the_disk() -> None:
    kit = MarkingKit()
    kit.marking.start_at(DurableMark(flushed=4096, crc_from=4096), STORED, STORED)
    kit.dispatch()
    kit.flush()
    kit.step(5000)  # a checkpoint is under way
    kit.marking.begin_anew()
    mark = kit.durable()
    assert (mark.flushed, mark.dispatched, mark.crc_from) == (0, 0, 4096)
    assert Checkpoint.open(kit.disk.power_cut(), CHECKPOINT).fields == (0, 0, 0, 0, 0, 0)
    kit.finish()
    kit.marking.note_flushed(1 << 20, STORED)
    said = kit.marking.mark
    assert said == mark._replace(flushed=1 << 20), "a checkpoint of what was before has no say"
