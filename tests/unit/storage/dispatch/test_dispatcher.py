"""Dispatch: what each kind of record leaves in queues and index, and how far one scan goes."""

import struct

import pytest

from aerobee.errors import CorruptRecord
from aerobee.model.names import SCHEDULE_TOPIC
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import RecordWriter
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.commit.commit_log import CommitLog
from aerobee.storage.commit.log_files import LogFiles
from aerobee.storage.defects import NO_DEFECTS
from aerobee.storage.dispatch.dispatcher import Dispatcher
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.index.batch_consume_queues import BatchConsumeQueues
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.index.key_index import KeyIndex, KeyIndexConfig
from tests.store_kit import (
    COMMITTED,
    INNER_BATCH,
    PREPARED,
    ROLLED_BACK,
    contents,
    draft,
    properties,
)

HOST = bytes(8)
NOW = 1_700_000_000_000
LEVELS_MS = (1000, 5000, 60_000)
SCHEDULE = SCHEDULE_TOPIC.encode()
EVER = 1 << 60


class DispatchKit:
    """A log of 4 KiB files, written by hand, and the dispatcher that reads it."""

    def __init__(self, *, with_index: bool = True, with_crc: bool = False) -> None:
        self.disk = SimDisk()
        files = LogFiles(
            FileSequence(self.disk, "store/commitlog", 4096), SimDiskWorker(), 0, NO_DEFECTS
        )
        self.log = CommitLog(files, RecordWriter(HOST, with_crc), 4088)
        self.log.start_at(0, 0)
        self.queues = ConsumeQueues(self.disk, "store/consumequeue", 4)
        self.batch_queues = BatchConsumeQueues(self.disk, "store/batchconsumequeue", 4)
        self.index = (
            KeyIndex.open(self.disk, "store/index", KeyIndexConfig(8, 16)) if with_index else None
        )
        self.dispatcher = self.new_dispatcher()

    def new_dispatcher(self, levels_ms: tuple[int, ...] = LEVELS_MS) -> Dispatcher:
        return Dispatcher(self.log.sequence, self.queues, self.batch_queues, self.index, levels_ms)

    def append(self, message: MessageDraft, queue_offset: int = 0) -> int:
        return self.log.append(message, queue_offset, NOW)

    def run(self, records_max: int = EVER) -> int:
        return self.dispatcher.run(self.log.end_offset(), records_max)

    def unit(
        self, topic: bytes = b"Orders", queue_id: int = 0, offset: int = 0
    ) -> tuple[int, int, int] | None:
        queue = self.queues.find(topic, queue_id)
        return None if queue is None else queue.unit(offset)

    def tag_of(self, message: MessageDraft) -> int:
        """The third field of the unit that a message gets."""
        self.append(message)
        self.run()
        unit = self.unit(message.topic)
        assert unit is not None
        return unit[2]

    def found(self, key: bytes, topic: bytes = b"Orders") -> list[int]:
        assert self.index is not None
        return self.index.find(topic, key, 0, EVER, 64)


def test_a_record_gets_its_unit_and_its_keys() -> None:
    kit = DispatchKit()
    text = properties(KEYS="one two", UNIQ_KEY="AC11", TAGS="red")
    first = kit.append(draft(text=text))
    second = kit.append(draft(queue_id=3), 0)
    assert kit.run() == 2
    assert kit.unit() == (first, second - first, tag_code(b"red"))
    assert kit.unit(queue_id=3) == (second, kit.log.end_offset() - second, 0)
    for key in (b"one", b"two", b"AC11", b"T#red"):
        assert kit.found(key) == [first], key
    assert kit.found(b"red") == []
    assert kit.dispatcher.offset == kit.log.end_offset()
    assert kit.dispatcher.last_timestamp == NOW


def test_without_an_index_queues_are_fed_alone() -> None:
    kit = DispatchKit(with_index=False)
    kit.append(draft(text=properties(KEYS="k")))
    assert kit.run() == 1
    assert kit.unit() is not None
    assert contents(kit.disk, "store/index") == {}


# Transactions.


@pytest.mark.parametrize(
    ("sys_flag", "is_queued", "is_indexed"),
    [
        (0, True, True),
        (PREPARED, False, True),
        (COMMITTED, True, True),
        (ROLLED_BACK, False, False),
    ],
)
def test_what_readers_may_see_of_a_transaction(
    sys_flag: int, is_queued: bool, is_indexed: bool
) -> None:
    kit = DispatchKit()
    kit.append(draft(text=properties(KEYS="k"), sys_flag=sys_flag))
    kit.run()
    assert (kit.unit() is not None) == is_queued
    assert (kit.found(b"k") == [0]) == is_indexed
    assert len(kit.dispatcher.take_touched()) == is_queued


# Delayed messages.


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("1", NOW + 1000),
        ("2", NOW + 5000),
        ("3", NOW + 60_000),
        ("4", NOW + 60_000),
        ("999999999", NOW + 60_000),
        ("01", NOW + 1000),
        ("0", tag_code(b"red")),
        ("-1", tag_code(b"red")),
        ("x", tag_code(b"red")),
        ("9999999999", tag_code(b"red")),
    ],
)
def test_a_delayed_message_has_its_due_time_in_place_of_a_tag(level: str, expected: int) -> None:
    text = properties(TAGS="red", DELAY=level)
    assert DispatchKit().tag_of(draft(SCHEDULE, 0, b"later", text)) == expected


def test_a_delay_counts_only_in_the_topic_where_delayed_messages_wait() -> None:
    text = properties(TAGS="red", DELAY="1")
    for topic in (b"Orders", b"SCHEDULE_TOPIC_" + b"XXXY", b"x" * 19):
        assert DispatchKit().tag_of(draft(topic, 0, b"", text)) == tag_code(b"red")
    without = properties(TAGS="red")
    assert DispatchKit().tag_of(draft(SCHEDULE, 0, b"", without)) == tag_code(b"red")


def test_without_delay_levels_a_delay_is_a_second() -> None:
    kit = DispatchKit()
    kit.dispatcher = kit.new_dispatcher(())
    assert kit.tag_of(draft(SCHEDULE, 0, b"", properties(DELAY="2"))) == NOW + 1000


# Properties text, as clients write it.


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        (b"", b""),
        (b"TAGS\x01red\x02", b"red"),
        (b"TAGS\x01red", b"red"),
        (b"a\x01b\x02TAGS\x01red\x02c\x01d\x02", b"red"),
        (b"TAGS\x01one\x02TAGS\x01two\x02", b"two"),
        (b"TAGS\x01one\x02TAGS\x01\x02", b"one"),
        (b"TAGS\x01\x02", b""),
        (b"TAGS\x02", b""),
        (b"TAGS", b""),
        (b"TAGS\x01", b""),
        (b"\x01red\x02TAGS\x01x\x02", b"x"),
        (b"\x02\x02TAGS\x01x\x02\x02", b"x"),
        (b"TAGS\x01a\x01b\x02", b"a\x01b"),
        (b"junk\x02TAGS\x01x\x02", b"x"),
        (b"TAGSX\x01no\x02", b""),
        (b"XTAGS\x01no\x02", b""),
        (b"TAG\x01no\x02", b""),
        (b"tags\x01no\x02", b""),
        ("TAGS\x01标签\x02".encode(), "标签".encode()),
    ],
)
def test_the_tag_is_found_wherever_it_stands(text: bytes, tag: bytes) -> None:
    assert DispatchKit().tag_of(draft(text=text)) == tag_code(tag)


@pytest.mark.parametrize(
    "text",
    [
        b"KEYZ\x01k\x02",
        b"KEY\x01k\x02",
        b"UNIQ_KEZ\x01k\x02",
        b"UNIX_KEY\x01k\x02",
        b"uniq_key\x01k\x02",
        b"UNIQ_KEY2\x01k\x02",
        b"KEYS\x01\x02",
    ],
)
def test_names_that_only_resemble_ours_are_not_indexed(text: bytes) -> None:
    kit = DispatchKit()
    kit.append(draft(text=text))
    kit.run()
    assert kit.found(b"k") == []
    assert kit.index is not None
    assert kit.index.end_offset == -1


def test_a_delay_whose_name_differs_in_its_last_letter_is_none() -> None:
    text = properties(DELAZ="1", DELA="1", DELAYS="1")
    assert DispatchKit().tag_of(draft(SCHEDULE, 0, b"", text)) == 0


# Batches as one record.


def test_a_record_that_holds_a_batch_goes_to_the_batch_queue_alone() -> None:
    kit = DispatchKit()
    text = properties(INNER_BASE="7", INNER_NUM="3", TAGS="red", KEYS="k")
    kit.append(draft(b"Batches", 2, b"...", text, sys_flag=INNER_BATCH))
    kit.run()
    queue = kit.batch_queues.find(b"Batches", 2)
    assert queue is not None
    assert queue.find(8) == (0, kit.log.end_offset(), tag_code(b"red"), NOW, 7, 3)
    assert kit.unit(b"Batches", 2) is None
    assert kit.found(b"k", b"Batches") == [0]
    assert contents(kit.disk, "store/consumequeue") == {}


# How far it goes.


def test_a_scan_goes_on_over_the_end_of_a_file() -> None:
    kit = DispatchKit()
    offsets = [kit.append(draft(body=b"x" * 1200), number) for number in range(10)]
    assert kit.run() == 10
    queue = kit.queues.find(b"Orders", 0)
    assert queue is not None
    units = [queue.unit(number) for number in range(10)]
    assert [unit[0] for unit in units if unit is not None] == offsets
    assert kit.run() == 0


def test_a_scan_stops_after_so_many_records_and_goes_on_from_there() -> None:
    kit = DispatchKit()
    offsets = [kit.append(draft(body=b"x" * 900), number) for number in range(1, 9)]
    size = offsets[1]
    assert offsets[4] == 4096, "the fifth record opens the second file"
    assert (kit.run(3), kit.dispatcher.offset) == (3, offsets[3])
    assert (kit.run(1), kit.dispatcher.offset) == (1, offsets[3] + size)
    assert (kit.run(1), kit.dispatcher.offset) == (1, 4096 + size)
    assert (kit.run(100), kit.dispatcher.offset) == (3, kit.log.end_offset())


def test_a_scan_stops_where_it_is_told() -> None:
    kit = DispatchKit()
    kit.append(draft())
    middle = kit.log.end_offset()
    kit.append(draft(), 1)
    assert kit.dispatcher.run(middle, EVER) == 1
    assert kit.dispatcher.offset == middle
    assert kit.unit(offset=1) is None
    assert kit.run() == 1


def test_a_scan_of_no_log_does_nothing() -> None:
    kit = DispatchKit()
    assert kit.run() == 0
    kit.append(draft())
    kit.dispatcher.start_at(1 << 20, 0)
    assert kit.dispatcher.run(1 << 21, EVER) == 0


def test_dispatching_again_changes_nothing() -> None:
    kit = DispatchKit()
    for number in range(9):
        kit.append(draft(text=properties(KEYS=f"k{number} k", TAGS="t")), number)
    kit.run()
    assert kit.index is not None
    kit.index.sync_targets()
    before = contents(kit.disk)
    kit.dispatcher.start_at(0, 0)
    assert kit.run() == 9
    kit.index.sync_targets()
    assert contents(kit.disk) == before


def test_records_before_a_given_offset_go_to_the_index_alone() -> None:
    """Their topic may have been deleted since: it must not come back with the index."""
    kit = DispatchKit()
    kit.append(draft(b"Gone", 0, b"", properties(KEYS="k")))
    middle = kit.append(draft(b"Here", 0, b"", properties(KEYS="k")))
    kit.dispatcher.start_at(0, middle)
    kit.run()
    assert kit.unit(b"Gone") is None
    assert kit.unit(b"Here") is not None
    assert kit.found(b"k", b"Gone") == [0]
    assert not kit.disk.exists("store/consumequeue/Gone")


def test_queues_are_told_once_between_two_looks() -> None:
    kit = DispatchKit()
    for number in range(3):
        kit.append(draft(b"a"), number)
        kit.append(draft(b"b"), number)
    kit.run()
    assert [queue.topic for queue in kit.dispatcher.take_touched()] == [b"a", b"b"]
    assert kit.dispatcher.take_touched() == []
    kit.append(draft(b"b"), 3)
    kit.run()
    assert [queue.topic for queue in kit.dispatcher.take_touched()] == [b"b"]


# Damage.


def damaged(position: int, value: bytes, *, with_crc: bool = False) -> tuple[DispatchKit, int]:
    """Three records, one byte run of the second overwritten; where that one begins."""
    kit = DispatchKit(with_crc=with_crc)
    kit.append(draft())
    second = kit.append(draft(), 1)
    kit.append(draft(), 2)
    kit.log.sequence.files[0].view[second + position : second + position + len(value)] = value
    return kit, second


@pytest.mark.parametrize(
    ("position", "value", "finding"),
    [
        (4, bytes(4), "no record"),
        (0, bytes(4), "a torn record"),
        (0, struct.pack(">i", 1 << 20), "a torn record"),
        (84, struct.pack(">i", 3), "a record whose parts do not add up"),
        (12, struct.pack(">i", -1), "queue id -1 is not in"),
        (95, b"/", "a topic may not be called"),
    ],
)
def test_damage_is_named_and_nothing_behind_it_is_dispatched(
    position: int, value: bytes, finding: str
) -> None:
    kit, second = damaged(position, value)
    for _ in range(2):
        with pytest.raises(CorruptRecord, match=finding) as caught:
            kit.run()
        assert caught.value.path == f"store/commitlog/{0:020}"
        assert caught.value.position == caught.value.log_offset == second
        assert kit.dispatcher.offset == second
    assert kit.unit() is not None
    assert kit.unit(offset=1) is None


@pytest.mark.parametrize(
    ("position", "value", "finding"),
    [
        (28, struct.pack(">q", 5), "a record that belongs elsewhere"),
        (20, struct.pack(">q", 5), "a record that does not match its checksum"),
        (88, b"A", "a record that does not match its checksum"),
    ],
)
def test_records_that_nobody_has_looked_at_are_checked(
    position: int, value: bytes, finding: str
) -> None:
    kit, second = damaged(position, value, with_crc=True)
    kit.dispatcher.check_before(second + 1, 0)
    with pytest.raises(CorruptRecord, match=finding) as caught:
        kit.run()
    assert caught.value.log_offset == second
    unchecked, second = damaged(position, value, with_crc=True)
    unchecked.dispatcher.check_before(second, 0)
    assert unchecked.run() == 3


def test_from_some_offset_on_a_record_without_its_crc_is_damaged() -> None:
    kit, second = damaged(0, b"")
    kit.dispatcher.check_before(EVER, second)
    with pytest.raises(CorruptRecord, match="checksum") as caught:
        kit.run()
    assert caught.value.log_offset == second


def test_without_room_for_a_queue_file_the_record_is_dispatched_later() -> None:
    kit = DispatchKit(with_index=False)
    kit.append(draft())
    second = kit.append(draft(b"Other"))
    kit.disk.capacity_bytes = 4096 + 80
    with pytest.raises(OSError, match="disk full"):
        kit.run()
    assert kit.dispatcher.offset == second
    assert kit.unit() is not None
    kit.disk.capacity_bytes = 1 << 20
    assert kit.run() == 1
    assert kit.unit(b"Other") is not None


def test_offsets_to_give_out_follow_units_that_nobody_gave_out_here() -> None:
    kit = DispatchKit()
    for number in range(3):
        kit.append(draft(b"copied"), number)
    kit.run()
    (queue,) = kit.dispatcher.take_touched()
    assert (queue.max_offset, queue.next_offset) == (3, 3)
    queue.next_offset = 9  # given out, not dispatched yet
    kit.append(draft(b"copied"), 3)
    kit.run()
    assert kit.dispatcher.take_touched() == [queue]
    assert (queue.max_offset, queue.next_offset) == (4, 9)
