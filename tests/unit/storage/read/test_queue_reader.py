"""Reading a queue: which records, in which slices, within which limits, and believed how far."""

import struct

import pytest

from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.protocol.message.property_filter import PropertyFilter
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.filters.sql_compiler import compile_sql
from aerobee.storage.read.queue_read import QueueRead, ReadStatus
from aerobee.storage.read.queue_reader import UNITS_SCANNED_MIN
from tests.read_kit import EVER, NOW, ReadKit, filled, offsets
from tests.store_kit import draft, properties

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


def copied(
    kit: ReadKit,
    offset: int = 0,
    count_max: int = 100,
    bytes_max: int = EVER,
    tags: tuple[bytes, ...] | None = None,
    topic: bytes = b"Orders",
    chosen: PropertyFilter | None = None,
) -> bytes:
    """What a copy appends behind what is there."""
    output = ReplyBuffer()
    output.append(b"before")
    codes = None if tags is None else frozenset(map(tag_code, tags))
    count = kit.reader.copy(kit.queue(topic), offset, count_max, bytes_max, codes, output, chosen)
    data = output.take()
    assert data.startswith(b"before")
    assert count == len(decode_records(data[6:]))
    return data[6:]


@pytest.mark.parametrize("tags", [None, (b"a",), (b"b", b"a"), (b"none",)])
@pytest.mark.parametrize("count_max", [1, 3, 100])
@pytest.mark.parametrize("bytes_max", [1, 400, EVER])
@pytest.mark.parametrize(
    ("hot_from", "expression"),
    [(0, ""), (EVER, ""), (0, "TAGS = 'a'"), (0, "TAGS <> 'c'"), (0, "TAGS = 'none'")],
)
def test_a_copy_is_what_a_read_shows(
    tags: tuple[bytes, ...] | None, count_max: int, bytes_max: int, hot_from: int, expression: str
) -> None:
    """Of the twins `QueueReader.copy_hot` and `QueueReader._collect`."""
    chosen = compile_sql(expression) if expression else None
    kit = ReadKit()
    kit.reader.hot_from = hot_from
    for number in range(60):
        kit.put(b"Orders", b"%d" % number, tag="abc"[number % 3])
        if number % 4 == 0:
            kit.put(b"Others")
    for offset in (0, 1, 7, 58):
        codes = None if tags is None else frozenset(map(tag_code, tags))
        read = kit.reader.read(kit.queue(), offset, count_max, bytes_max, codes, chosen)
        found = copied(kit, offset, count_max, bytes_max, tags, chosen=chosen)
        assert found == b"".join(read.slices)
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
    kit.damage_body(second[0])
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
    kit.damage_body(unit[0])
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
