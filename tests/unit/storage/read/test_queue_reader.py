"""Reading a queue: which records, in which slices, within which limits, and believed how far.

Longer than 500 lines because slices and copies are compared on one rig.
"""

import struct

import pytest

from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.protocol.java_hash import tag_code
from aerobee.protocol.record import RecordWriter
from aerobee.protocol.reply_buffer import ReplyBuffer
from aerobee.protocol.stored_message import decode_records
from aerobee.service.filters.sql_compiler import compile_sql
from aerobee.sim.disk import SimDisk, SimDiskFile
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.commit.commit_log import CommitLog
from aerobee.storage.commit.log_files import LogFiles
from aerobee.storage.defects import NO_DEFECTS
from aerobee.storage.dispatch.dispatcher import Dispatcher
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.index.batch_consume_queues import BatchConsumeQueues
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.read import queue_reader
from aerobee.storage.read.queue_reader import UNITS_SCANNED_MIN, QueueRead, QueueReader, ReadStatus
from tests.store_kit import draft, properties

EVER = 1 << 40
NOW = 1_700_000_000_000


class ReadKit:
    """A log of 4 KiB files, queues fed from it, and a reader that finds all of it hot."""

    def __init__(self, *, with_crc: bool = True) -> None:
        self.disk = SimDisk()
        sequence = FileSequence(self.disk, "log", 4096)
        files = LogFiles(sequence, SimDiskWorker(), 0, NO_DEFECTS)
        self.log = CommitLog(files, RecordWriter(bytes(8), with_crc), 4088)
        self.log.start_at(0, 0)
        self.queues = ConsumeQueues(self.disk, "queues", 4)
        batch_queues = BatchConsumeQueues(self.disk, "batches", 4)
        self.dispatcher = Dispatcher(sequence, self.queues, batch_queues, None, ())
        self.reader = QueueReader(sequence)
        self.next_offsets: dict[bytes, int] = {}

    def put(self, topic: bytes = b"Orders", body: bytes = b"body", tag: str = "") -> int:
        """One message, dispatched and readable; its log offset."""
        offset = self.next_offsets.get(topic, 0)
        self.next_offsets[topic] = offset + 1
        text = properties(TAGS=tag) if tag else b""
        log_offset = self.log.append(draft(topic, 0, body, text), offset, NOW)
        self.dispatcher.run(self.log.end_offset(), EVER)
        self.reader.readable_to = self.reader.dispatched_to = self.dispatcher.offset
        return log_offset

    def queue(self, topic: bytes = b"Orders") -> ConsumeQueue:
        return self.queues.find_or_make(topic, 0)

    def read(
        self,
        offset: int = 0,
        count_max: int = 1000,
        bytes_max: int = EVER,
        tags: tuple[bytes, ...] | None = None,
        topic: bytes = b"Orders",
    ) -> QueueRead:
        codes = None if tags is None else frozenset(tag_code(tag) for tag in tags)
        return self.reader.read(self.queue(topic), offset, count_max, bytes_max, codes)


def offsets(read: QueueRead) -> list[int]:
    """Queue offsets of the records that a read found."""
    data = b"".join(read.slices)
    assert (len(data), read.size) == (read.size, sum(len(part) for part in read.slices))
    messages = decode_records(data)
    assert len(messages) == read.count
    return [message.queue_offset for message in messages]


def filled(count: int, *, apart: bool = False) -> ReadKit:
    """So many messages with tags a, b, c in turn; `apart`: with another queue's in between."""
    kit = ReadKit()
    for number in range(count):
        kit.put(body=str(number).encode(), tag="abc"[number % 3])
        if apart:
            kit.put(b"Other")
    return kit


def test_whether_it_is_compiled_is_told() -> None:
    assert queue_reader.is_compiled() in (True, False)


# Where an offset is.


def test_an_empty_queue_has_no_message() -> None:
    kit = ReadKit()
    for offset in (0, 5):
        read = kit.read(offset)
        assert (read.status, read.next_offset) == (ReadStatus.NO_MESSAGE_IN_QUEUE, 0)
        assert (read.slices, read.count) == ([], 0)


@pytest.mark.parametrize(
    ("offset", "status", "next_offset"),
    [
        (-1, ReadStatus.OFFSET_TOO_SMALL, 4),
        (0, ReadStatus.OFFSET_TOO_SMALL, 4),
        (3, ReadStatus.OFFSET_TOO_SMALL, 4),
        (4, ReadStatus.FOUND, 9),
        (8, ReadStatus.FOUND, 9),
        (9, ReadStatus.OFFSET_OVERFLOW_ONE, 9),
        (10, ReadStatus.OFFSET_OVERFLOW_BADLY, 9),
        (1 << 50, ReadStatus.OFFSET_OVERFLOW_BADLY, 9),
    ],
)
def test_an_offset_outside_the_queue_is_told_where_to_go(
    offset: int, status: ReadStatus, next_offset: int
) -> None:
    kit = filled(9)
    kit.queue().hide_before(4)
    read = kit.read(offset)
    assert (read.status, read.next_offset) == (status, next_offset)
    assert (read.min_offset, read.max_offset) == (4, 9)
    assert read.count == (9 - offset if status is ReadStatus.FOUND else 0)


def test_a_queue_of_which_all_is_hidden_waits_for_the_next_message() -> None:
    kit = filled(3)
    kit.queue().hide_before(3)
    assert kit.read(3).status == ReadStatus.OFFSET_OVERFLOW_ONE
    assert kit.read(2).status == ReadStatus.OFFSET_TOO_SMALL


# Slices and limits.


def test_records_that_touch_are_one_slice_of_the_log_itself() -> None:
    kit = filled(5)
    read = kit.read()
    assert offsets(read) == [0, 1, 2, 3, 4]
    assert len(read.slices) == 1
    assert not read.is_cold
    kit.log.sequence.files[0].view[0:1] = b"\xff"
    assert read.slices[0][0] == 0xFF, "no copy"


def test_records_apart_are_slices_of_their_own() -> None:
    kit = filled(4, apart=True)
    read = kit.read()
    assert offsets(read) == [0, 1, 2, 3]
    assert len(read.slices) == 4


def test_a_slice_ends_with_its_file() -> None:
    kit = ReadKit()
    places = [kit.put(body=b"x" * 700) for _ in range(12)]
    read = kit.read()
    assert offsets(read) == list(range(12))
    assert len(read.slices) == len({place // 4096 for place in places}) > 2


def test_records_that_touch_over_the_end_of_a_file_are_two_slices() -> None:
    """A log of which a file has no filler: the next record begins where the last one ends."""
    kit = ReadKit()
    kit.put(body=b"x" * 3900)
    end = kit.log.end_offset()
    kit.put(body=b"y")
    queue = kit.queue()
    # As if the first record filled its file to the last byte.
    kit.log.sequence.files[0].view[0:4] = struct.pack(">i", 4096)
    units = queue.sequence.files[0].view
    units[8:12] = struct.pack(">i", 4096)
    read = kit.read()
    assert [len(part) for part in read.slices] == [4096, kit.log.end_offset() - 4096]
    assert end < 4096


@pytest.mark.parametrize("count_max", [1, 2, 4, 5, 9, 10, 1000])
def test_no_more_messages_than_asked_for(count_max: int) -> None:
    kit = filled(10)
    read = kit.read(2, count_max)
    assert offsets(read) == list(range(2, min(10, 2 + count_max)))
    assert read.next_offset == min(10, 2 + count_max)


def test_nothing_asked_for_is_nothing_found() -> None:
    read = filled(3).read(1, 0)
    assert (read.status, read.count, read.next_offset) == (ReadStatus.NO_MATCHED_MESSAGE, 0, 1)


def test_no_more_bytes_than_asked_for_but_always_one_message() -> None:
    kit = ReadKit()
    sizes = []
    for number in range(6):
        start = kit.put(body=b"x" * (100 * number))
        sizes.append(kit.log.end_offset() - start)
    for bytes_max in (0, 1, sizes[0], sizes[0] + sizes[1] - 1, sizes[0] + sizes[1], sum(sizes)):
        read = kit.read(0, 100, bytes_max)
        expected = 1
        while expected < 6 and sum(sizes[: expected + 1]) <= bytes_max:
            expected += 1
        assert offsets(read) == list(range(expected)), bytes_max
        assert read.next_offset == expected


def test_reading_on_from_each_answer_gives_every_message_once() -> None:
    kit = filled(30, apart=True)
    for count_max, bytes_max in [(1, EVER), (7, EVER), (100, 500), (3, 300)]:
        seen: list[int] = []
        read = kit.read(0, count_max, bytes_max)
        while read.status == ReadStatus.FOUND:
            seen += offsets(read)
            read = kit.read(read.next_offset, count_max, bytes_max)
        assert seen == list(range(30))
        assert read.status == ReadStatus.OFFSET_OVERFLOW_ONE


# Filters.


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ((b"a",), [0, 3, 6, 9]),
        ((b"a", b"c"), [0, 2, 3, 5, 6, 8, 9]),
        ((b"b", b"x"), [1, 4, 7]),
        ((b"x",), []),
        ((), []),
    ],
)
def test_only_messages_whose_tag_passes(tags: tuple[bytes, ...], expected: list[int]) -> None:
    read = filled(10).read(0, 100, EVER, tags)
    assert offsets(read) == expected
    assert read.status == (ReadStatus.FOUND if expected else ReadStatus.NO_MATCHED_MESSAGE)
    assert read.next_offset == 10


def test_limits_count_what_passes_the_filter() -> None:
    read = filled(10).read(1, 2, EVER, (b"a",))
    assert offsets(read) == [3, 6]
    assert read.next_offset == 7


def test_a_filter_looks_at_800_units_and_no_further() -> None:
    kit = ReadKit()
    for number in range(UNITS_SCANNED_MIN + 5):
        kit.put(body=b"", tag="a" if number == UNITS_SCANNED_MIN + 2 else "b")
    read = kit.read(0, 10, EVER, (b"a",))
    assert (read.status, read.next_offset) == (ReadStatus.NO_MATCHED_MESSAGE, UNITS_SCANNED_MIN)
    assert offsets(kit.read(read.next_offset, 10, EVER, (b"a",))) == [UNITS_SCANNED_MIN + 2]
    further = kit.read(0, UNITS_SCANNED_MIN + 4, EVER, (b"a",))
    assert offsets(further) == [UNITS_SCANNED_MIN + 2]


# Gaps.


@pytest.mark.parametrize("tags", [None, (b"a", b"b", b"c")])
def test_a_gap_is_stepped_over(tags: tuple[bytes, ...] | None) -> None:
    kit = filled(3)
    kit.next_offsets[b"Orders"] = 7
    kit.put(tag="b")
    kit.reader.hot_from = EVER
    kit.reader.crc_from = 0
    for start, expected in [(0, [0, 1, 2]), (4, [7]), (6, [7])]:
        read = kit.read(start, tags=tags)
        assert offsets(read) == expected if start else offsets(read)[:3] == expected
    assert kit.read(3, 1, EVER, tags).next_offset == 8
    within = kit.read(3, 1000, EVER, (b"x",))
    assert within.status == ReadStatus.MESSAGE_WAS_REMOVING
    assert within.next_offset == 8


def test_a_read_of_nothing_but_a_gap_says_that_messages_are_gone() -> None:
    kit = filled(2)
    kit.next_offsets[b"Orders"] = 5
    kit.put()
    kit.queue().truncate_to(kit.queue().unit(5)[0], is_torn=False)  # type: ignore[index]
    read = kit.read(3)
    assert (read.status, read.next_offset, read.count) == (ReadStatus.MESSAGE_WAS_REMOVING, 5, 0)


# What may be read, and what is believed.


def test_nothing_is_read_beyond_what_is_readable() -> None:
    kit = filled(5)
    unit = kit.queue().unit(3)
    assert unit is not None
    kit.reader.readable_to = unit[0] + unit[1] - 1
    read = kit.read(1)
    assert offsets(read) == [1, 2]
    assert read.next_offset == 3
    kit.reader.dispatched_to = unit[0] + unit[1]
    at_the_end = kit.read(3)
    assert (at_the_end.status, at_the_end.next_offset) == (ReadStatus.OFFSET_OVERFLOW_ONE, 3)
    filtered = kit.read(2, tags=(b"x",))
    assert (filtered.status, filtered.next_offset) == (ReadStatus.NO_MATCHED_MESSAGE, 3)


def test_a_unit_that_points_beyond_the_log_is_damage() -> None:
    kit = filled(2)
    kit.queue().sequence.files[0].view[20:28] = struct.pack(">q", 1 << 40)
    with pytest.raises(CorruptFile, match="queue offset 1 does not point at its record") as caught:
        kit.read()
    assert caught.value.path == "queues/Orders/0"


@pytest.mark.parametrize("value", [-(1 << 63), -1])
def test_a_unit_that_points_before_the_log_is_damage(value: int) -> None:
    kit = filled(2)
    kit.queue().sequence.files[0].view[20:28] = struct.pack(">q", value)
    with pytest.raises(CorruptFile, match="queue offset 1"):
        kit.read()


@pytest.mark.parametrize(
    ("position", "value"),
    [
        (0, struct.pack(">q", 0)),  # another record of the same queue
        (0, struct.pack(">q", 1)),  # the middle of one
        (8, struct.pack(">i", 100)),  # another size
        (8, struct.pack(">i", 0)),
        (8, struct.pack(">i", -5)),
        (8, struct.pack(">i", 4097)),
        (8, struct.pack(">i", 4090)),  # it fits in a file, but not in what is left of this one
    ],
)
def test_a_unit_that_is_not_of_its_record_is_damage_in_hot_log_and_in_old(
    position: int, value: bytes
) -> None:
    for hot_from in (0, EVER):
        kit = filled(3, apart=True)
        kit.reader.hot_from = hot_from
        kit.queue().sequence.files[0].view[20 + position : 20 + position + len(value)] = value
        with pytest.raises((CorruptFile, CorruptRecord)):
            kit.read()


def test_a_unit_of_another_queues_record_is_damage_in_old_log() -> None:
    kit = filled(3, apart=True)
    kit.reader.hot_from = EVER
    other = kit.queue(b"Other").unit(1)
    assert other is not None
    kit.queue().sequence.files[0].view[20:32] = struct.pack(">qi", *other[:2])
    with pytest.raises(CorruptFile, match="queue offset 1"):
        kit.read()


def test_a_light_queue_may_point_at_records_of_other_queues() -> None:
    kit = filled(2)
    unit = kit.queue().unit(1)
    assert unit is not None
    light = kit.queues.find_or_make(b"%LMQ%mine", 0)
    light.append(0, *unit)
    kit.reader.hot_from = EVER
    assert kit.read(topic=b"%LMQ%mine").count == 1


def damage_body(kit: ReadKit, log_offset: int) -> None:
    kit.log.sequence.files[0].view[log_offset + 88] ^= 1


def test_old_records_at_hand_are_checked_before_they_are_shown() -> None:
    kit = filled(3, apart=True)
    kit.reader.hot_from = EVER
    assert offsets(kit.read()) == [0, 1, 2]
    unit = kit.queue().unit(1)
    assert unit is not None
    damage_body(kit, unit[0])
    with pytest.raises(CorruptRecord, match="does not match its checksum") as caught:
        kit.read()
    assert (caught.value.log_offset, caught.value.path) == (unit[0], f"log/{0:020}")
    assert offsets(kit.read(2)) == [2], "others can still be read"
    kit.reader.hot_from = unit[0]
    assert kit.read(1).count == 2, "hot log is believed"
    with pytest.raises(CorruptRecord):
        kit.read(0)


def test_from_some_offset_on_an_old_record_without_its_crc_is_damage() -> None:
    kit = ReadKit(with_crc=False)
    kit.put()
    second = kit.put()
    kit.reader.hot_from = EVER
    kit.reader.crc_from = EVER
    assert kit.read().count == 2
    kit.reader.crc_from = second
    assert kit.read(0, 1).count == 1
    with pytest.raises(CorruptRecord):
        kit.read(1)


def test_cold_records_are_not_touched_and_can_be_checked_later() -> None:
    kit = filled(3, apart=True)
    kit.reader.hot_from = EVER
    unit = kit.queue().unit(1)
    assert unit is not None
    damage_body(kit, unit[0])
    kit.disk.faults.make_cold("log/*")
    read = kit.read()
    assert (read.status, read.count, read.is_cold) == (ReadStatus.FOUND, 3, True)
    with pytest.raises(CorruptRecord):
        read.verify(0)
    good = kit.read(2)
    assert good.is_cold
    good.verify(0)


def test_a_cold_read_knows_that_its_slices_are_longer_than_their_records() -> None:
    kit = filled(3)
    kit.reader.hot_from = EVER
    kit.disk.faults.make_cold("log/*")
    unit = kit.queue().unit(2)
    assert unit is not None
    kit.queue().sequence.files[0].view[48:52] = struct.pack(">i", unit[1] - 1)
    read = kit.read()
    assert read.is_cold
    with pytest.raises(CorruptFile, match="queue offset 2"):
        read.verify(0)


def test_a_read_without_messages_has_nothing_to_check() -> None:
    kit = filled(3)
    kit.read(3).verify(0)
    kit.read(0, tags=(b"x",)).verify(0)
    QueueRead(ReadStatus.NO_MATCHED_LOGIC_QUEUE, 0, 0, 0).verify(0)


# Whether old records are in memory.


def asked(kit: ReadKit) -> int:
    return sum(call.name == "is_resident" for call in kit.disk.faults.calls)


def test_messages_that_lie_apart_in_one_file_are_asked_about_in_one_call() -> None:
    kit = filled(5, apart=True)
    kit.reader.hot_from = EVER
    assert len(kit.log.sequence.files) == 1
    assert kit.read().count == 5
    assert asked(kit) == 1


def test_messages_in_two_files_are_asked_about_one_by_one() -> None:
    kit = filled(20, apart=True)
    kit.reader.hot_from = EVER
    assert len(kit.log.sequence.files) == 2
    assert not kit.read().is_cold
    assert asked(kit) == 20
    kit.disk.faults.make_cold("log/*4096")
    assert kit.read().is_cold
    assert not kit.read(0, 3).is_cold


def test_if_only_what_lies_between_is_cold_the_read_is_not() -> None:
    kit = filled(3, apart=True)
    kit.reader.hot_from = EVER
    file = kit.log.sequence.files[0]
    path = file.disk_file.path
    between = 0

    class HalfCold(SimDiskFile):
        def is_resident(self, start: int, end: int) -> bool:
            nonlocal between
            is_whole = end - start > 200
            between += is_whole
            return not is_whole

    warm = MappedFile(HalfCold(kit.disk, path, kit.disk._names.find(path)), file.first_offset)
    kit.log.sequence.files[0] = warm
    read = kit.read()
    assert (read.count, read.is_cold, between) == (3, False, 1)


def copied(
    kit: ReadKit,
    offset: int = 0,
    count_max: int = 100,
    bytes_max: int = EVER,
    tags: tuple[bytes, ...] | None = None,
    topic: bytes = b"Orders",
) -> bytes:
    """What a copy appends behind what is there."""
    output = ReplyBuffer()
    output.append(b"before")
    codes = None if tags is None else frozenset(map(tag_code, tags))
    count = kit.reader.copy(kit.queue(topic), offset, count_max, bytes_max, codes, output)
    data = output.take()
    assert data.startswith(b"before")
    assert count == len(decode_records(data[6:]))
    return data[6:]


@pytest.mark.parametrize("tags", [None, (b"a",), (b"b", b"a"), (b"none",)])
@pytest.mark.parametrize("count_max", [1, 3, 100])
@pytest.mark.parametrize("bytes_max", [1, 400, EVER])
@pytest.mark.parametrize("hot_from", [0, EVER])
def test_a_copy_is_what_a_read_shows(
    tags: tuple[bytes, ...] | None, count_max: int, bytes_max: int, hot_from: int
) -> None:
    kit = ReadKit()
    kit.reader.hot_from = hot_from
    for number in range(60):
        kit.put(b"Orders", b"%d" % number, tag="abc"[number % 3])
        if number % 4 == 0:
            kit.put(b"Others")
    for offset in (0, 1, 7, 58):
        codes = None if tags is None else frozenset(map(tag_code, tags))
        read = kit.reader.read(kit.queue(), offset, count_max, bytes_max, codes)
        assert copied(kit, offset, count_max, bytes_max, tags) == b"".join(read.slices)
        if read.count:
            assert kit.reader.next_offset == read.next_offset


@pytest.mark.parametrize("hot_from", [0, EVER])
def test_nothing_is_copied_outside_the_queue(hot_from: int) -> None:
    kit = ReadKit()
    kit.reader.hot_from = hot_from
    kit.put()
    assert copied(kit, -1) == b""
    assert copied(kit, 1) == b""
    assert copied(kit, 2) == b""


def test_nothing_is_copied_unchecked_that_is_not_hot() -> None:
    kit = filled(3)
    second = kit.queue().unit(1)
    assert second is not None
    kit.reader.hot_from = second[0]
    assert kit.reader.copy_hot(kit.queue(), 0, 9, EVER, None, ReplyBuffer()) == 0
    assert len(decode_records(copied(kit, 0))) == 3
    damage_body(kit, second[0])
    assert copied(kit, 0) == b""
    assert kit.reader.copy(kit.queue(), 1, 9, EVER, None, ReplyBuffer()) == 2  # it is believed


def test_nothing_is_copied_that_is_not_readable() -> None:
    kit = filled(3)
    second = kit.queue().unit(1)
    assert second is not None
    kit.reader.readable_to = second[0] + second[1]
    assert copied(kit, 1) == b""
    assert len(decode_records(copied(kit, 1, count_max=1))) == 1


def test_old_messages_that_are_damaged_or_cold_are_not_copied() -> None:
    kit = filled(4, apart=True)
    kit.reader.hot_from = EVER
    unit = kit.queue().unit(1)
    assert unit is not None
    damage_body(kit, unit[0])
    assert copied(kit) == b""
    assert len(decode_records(copied(kit, 2))) == 2
    kit.disk.faults.make_cold("log/*")
    assert copied(kit, 2) == b""


@pytest.mark.parametrize("hot_from", [0, EVER])
def test_a_unit_that_is_not_of_its_record_copies_nothing(hot_from: int) -> None:
    kit = ReadKit()
    kit.reader.hot_from = hot_from
    for _ in range(3):
        kit.put()
    file = kit.queue().find(1)
    assert file is not None
    struct.pack_into(">i", file.view, 20 + 8, 50)
    assert copied(kit, 0) == b""
    assert len(decode_records(copied(kit, 2))) == 1


# Filters by properties.


def choosing(kit: ReadKit, expression: str, offset: int = 0, count_max: int = 1000) -> QueueRead:
    chosen = compile_sql(expression)
    return kit.reader.read(kit.queue(), offset, count_max, EVER, None, chosen)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("expression", ["TAGS = 'a'", "TAGS <> 'a'", "TAGS IN ('a', 'c')", "TRUE"])
def test_only_messages_that_a_filter_chooses(expression: str, apart: bool) -> None:
    kit = filled(9, apart=apart)
    chosen = compile_sql(expression)
    expected = [
        number for number in range(9) if chosen.matches_text(properties(TAGS="abc"[number % 3]))
    ]
    read = choosing(kit, expression)
    assert (read.status, offsets(read), read.next_offset) == (ReadStatus.FOUND, expected, 9)
    output = ReplyBuffer()
    count = kit.reader.copy_hot(kit.queue(), 0, 1000, EVER, None, output, chosen)
    assert (count, kit.reader.next_offset) == (len(expected), 9)
    assert output.take() == b"".join(read.slices)


def test_a_filter_ends_where_the_limits_are() -> None:
    kit = filled(12)
    read = choosing(kit, "TAGS = 'b'", 2, 2)
    assert (offsets(read), read.next_offset) == ([4, 7], 8)
    none = choosing(kit, "TAGS = 'x'", 2)
    assert (none.status, none.count, none.next_offset) == (ReadStatus.NO_MATCHED_MESSAGE, 0, 12)
    output = ReplyBuffer()
    nothing = compile_sql("FALSE")
    assert kit.reader.copy_hot(kit.queue(), 0, 10, EVER, None, output, nothing) == 0
    assert output.position == 0


def test_a_filter_looks_at_so_many_messages_and_no_further() -> None:
    kit = filled(130)
    slow = " OR ".join(["TAGS = 'x'"] * 256)
    read = choosing(kit, slow)
    assert (read.status, read.next_offset) == (ReadStatus.NO_MATCHED_MESSAGE, 100)
    assert choosing(kit, slow, 100).next_offset == 130


def test_a_filter_is_asked_about_no_record_that_is_none() -> None:
    kit = filled(3)
    view = kit.disk.open("log/" + 20 * "0").view
    # The size of the first message's body: its parts do not add up any more.
    struct.pack_into(">i", view, 84, 1_000_000)
    with pytest.raises(CorruptFile):
        choosing(kit, "TAGS = 'a'")
    with pytest.raises(CorruptFile):
        kit.reader.copy_hot(
            kit.queue(), 0, 10, EVER, None, ReplyBuffer(), compile_sql("TAGS = 'a'")
        )


def test_what_is_old_is_told_from_where_it_is_not() -> None:
    kit = filled(4)
    third = kit.log.append(draft(b"Orders", 0, b"x"), 4, NOW)
    kit.dispatcher.run(kit.log.end_offset(), EVER)
    kit.reader.hot_from = third
    queue = kit.queue()
    assert [kit.reader.is_old_at(queue, offset) for offset in (-1, 0, 3, 4, 5)] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_of_old_records_a_filter_chooses_after_they_were_checked() -> None:
    kit = filled(9, apart=True)
    kit.reader.hot_from = EVER
    read = kit.read(1)
    read.choose(compile_sql("TAGS <> 'a'"), 3, EVER)
    assert (read.status, offsets(read), read.next_offset) == (ReadStatus.FOUND, [1, 2, 4], 5)
    read = kit.read(1)
    read.choose(compile_sql("TAGS = 'b'"), 100, read.size // 8 + 1)
    assert (offsets(read), read.next_offset) == ([1], 4)
    read = kit.read(1)
    read.choose(compile_sql("TAGS = 'x'"), 100, EVER)
    assert (read.status, read.slices, read.next_offset) == (ReadStatus.NO_MATCHED_MESSAGE, [], 9)
    assert not read.is_cold


def test_nothing_is_chosen_of_a_read_that_found_nothing() -> None:
    kit = filled(2)
    read = kit.read(2)
    read.choose(compile_sql("TRUE"), 10, EVER)
    assert (read.status, read.next_offset) == (ReadStatus.OFFSET_OVERFLOW_ONE, 2)


def test_where_a_filter_has_just_chosen_nothing_it_is_not_asked_again() -> None:
    kit = filled(9)
    kit.put(b"Other", tag="x")
    queue, output = kit.queue(), ReplyBuffer()
    rare, other = compile_sql("TAGS > 1"), compile_sql("TAGS > 1")
    assert kit.reader.copy_hot(queue, 2, 10, EVER, None, output, rare) == 0
    kit.put(tag="1.5")
    asked = rare.faults
    assert asked == 7
    read = kit.reader.read(queue, 2, 10, EVER, None, rare)
    assert (read.status, read.next_offset) == (ReadStatus.NO_MATCHED_MESSAGE, 9)
    assert (read.min_offset, read.max_offset, rare.faults) == (0, 10, asked)
    # Anything else is looked at.
    assert kit.reader.read(queue, 3, 10, EVER, None, rare).next_offset == 10
    assert kit.reader.read(queue, 2, 10, EVER, None, other).next_offset == 10
    assert kit.reader.read(kit.queue(b"Other"), 0, 10, EVER, None, rare).next_offset == 1
    assert rare.faults > asked
    assert other.faults == 8


def test_a_filter_looks_at_so_many_bytes_of_properties_and_no_further() -> None:
    kit = ReadKit()
    for _ in range(200):
        kit.put(tag="x" * 1000)
    # 64 names: 64 KiB, or 65 messages and one more.
    many = " OR ".join(f"p{number} = 'x'" for number in range(64))
    read = choosing(kit, many)
    assert read.status == ReadStatus.NO_MATCHED_MESSAGE
    assert 60 < read.next_offset < 70
    chosen = compile_sql(many)
    assert kit.reader.copy_hot(kit.queue(), 0, 9, EVER, None, ReplyBuffer(), chosen) == 0
    assert kit.reader.next_offset == read.next_offset
    kit.reader.hot_from = EVER
    old = kit.read()
    old.choose(compile_sql(many), 9, EVER)
    assert (old.status, old.next_offset) == (ReadStatus.NO_MATCHED_MESSAGE, read.next_offset)
