from dataclasses import replace

import pytest

from aerobee.errors import Misuse
from aerobee.model.flags import CompressionType, with_compression_type
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import LogOffset
from aerobee.pipeline.arrow import message_columns as c
from aerobee.pipeline.arrow.message_columns import MessageColumns
from aerobee.pipeline.log_table.log_walk import (
    ALWAYS_MS,
    ENDED,
    FULL,
    SPECIAL,
    WRONG,
    LogTableWalk,
)
from aerobee.protocol.message.record import FILLER, TORN, UNKNOWN_MAGIC
from aerobee.protocol.message.record_check import MISPLACED, UNSOUND, WRONG_FILLER
from aerobee.protocol.message.stored_message import encode_record
from tests.log_table_kit import filler, message

BASE = 5000
END = BASE + 10_000
"""Of the file in which it all is."""
FAR = 2**62


def records(*messages: StoredMessage, base: int = BASE) -> bytes:
    data = b""
    for one in messages:
        placed = replace(one, log_offset=LogOffset(base + len(data)))
        data += encode_record(placed, with_crc=True)
    return data


def walking(
    *topics: bytes, start: int = 0, end: int = ALWAYS_MS, rows: int = 9
) -> tuple[LogTableWalk, MessageColumns]:
    columns = MessageColumns(c.OFFSET, rows, 1 << 20)
    return LogTableWalk(columns, frozenset(topics), start, end), columns


def offsets(columns: MessageColumns) -> list[int]:
    columns.begin_again()
    return columns.offset.finish().cast("q").tolist()


def test_records_that_begin_before_the_end_are_taken_whole() -> None:
    data = records(*map(message, range(5)))
    size = len(data) // 5
    walk, columns = walking()
    assert walk.take(memoryview(data), 0, 2 * size + 1, BASE, END) == ENDED
    assert (walk.position, offsets(columns)) == (3 * size, [0, 1, 2])
    assert walk.take(memoryview(data), walk.position, len(data), BASE, END) == ENDED
    assert offsets(columns) == [3, 4]
    assert walk.store_timestamp == 4


def test_only_the_topics_and_times_that_are_wanted_are_taken_and_all_are_checked() -> None:
    topics = ["a", "bb", "a", "ab", "bb", "a"]
    data = records(*(message(n, topic=topic) for n, topic in enumerate(topics)))
    for walk, columns, expected in (
        (*walking(b"a"), [0, 2, 5]),
        (*walking(b"bb", b"ab"), [1, 3, 4]),
        (*walking(b"a", start=1, end=5), [2]),
        (*walking(start=2, end=4), [2, 3]),
    ):
        assert walk.take(memoryview(data), 0, len(data), BASE, END) == ENDED
        assert offsets(columns) == expected
    bad = bytearray(data)
    bad[len(records(message(0))) + 30] ^= 1
    walk, _ = walking(b"nothing")
    assert walk.take(memoryview(bad), 0, len(bad), BASE, END) == WRONG


def test_it_stops_where_the_columns_are_full_and_where_a_record_needs_more_than_copying() -> None:
    flag = with_compression_type(0, CompressionType.ZLIB)
    data = records(message(0), message(1), message(2, sys_flag=flag), message(3))
    walk, columns = walking(rows=2)
    assert walk.take(memoryview(data), 0, len(data), BASE, END) == FULL
    assert offsets(columns) == [0, 1]
    assert walk.take(memoryview(data), walk.position, len(data), BASE, END) == SPECIAL
    assert (
        walk.take(memoryview(data), walk.position + walk.record_size, len(data), BASE, END) == ENDED
    )
    assert offsets(columns) == [3]
    walk, _ = walking(b"other")
    assert walk.take(memoryview(data), 0, len(data), BASE, END) == ENDED  # nobody needs to open it


def test_what_is_no_sound_record_is_named_and_not_passed() -> None:
    good = records(message(0))
    unsound = bytearray(good)
    unsound[100] ^= 1
    for data, expected in (
        (bytes(unsound), UNSOUND),
        (records(message(0), base=BASE + 1), MISPLACED),
        (bytes(200), UNKNOWN_MAGIC),
        (good[:-1], TORN),
        (filler(50), WRONG_FILLER),
        (filler(END - BASE), FILLER),
        (filler(END - BASE)[:8], FILLER),
    ):
        walk, columns = walking()
        assert walk.take(memoryview(data), 0, len(data), BASE, END) == WRONG
        assert (walk.position, walk.finding, columns.rows) == (0, expected, 0)


@pytest.mark.parametrize("lost", [1, 3])
def test_a_record_without_the_record_crc_that_ends_in_a_zero_is_being_written(lost: int) -> None:
    whole = encode_record(message(0, log_offset=BASE), with_crc=False)
    data = whole[:-lost] + bytes(lost)
    walk, _ = walking()
    assert walk.take(memoryview(whole), 0, len(whole), BASE, END) == ENDED
    assert walk.take(memoryview(data), 0, len(data), BASE, END) == WRONG
    assert walk.finding == UNSOUND
    after = records(message(1), base=BASE + len(data))
    assert walk.find(memoryview(whole + after), 0, BASE, FAR) == 0
    assert walk.find(memoryview(data + after), 0, BASE, FAR) == len(data)


@pytest.mark.parametrize("garbage", [b"", b"\xda", b"x" * 7, b"\xda\xa3\x20\xa7" * 9, bytes(60)])
def test_the_next_sound_record_is_found_behind_anything(garbage: bytes) -> None:
    size = len(garbage)
    data = garbage + records(message(0), base=BASE + size)
    walk, _ = walking()
    assert walk.find(memoryview(data), 0, BASE, FAR) == size
    assert walk.find(memoryview(data), size, BASE, FAR) == size
    assert walk.find(memoryview(data), size + 1, BASE, FAR) == -1


def test_a_record_inside_a_body_is_none_unless_it_says_it_is_there() -> None:
    inner = records(message(7), base=0)
    data = records(message(0, inner), message(1))
    walk, _ = walking()
    assert walk.find(memoryview(data), 1, BASE, FAR) == len(records(message(0, inner)))


def test_one_that_goes_on_behind_the_view_may_be_a_record_if_the_log_has_room_for_it() -> None:
    data = records(message(0))
    walk, _ = walking()
    assert walk.find(memoryview(data[:-1]), 0, BASE, BASE + len(data)) == 0
    assert (walk.finding, walk.record_size) == (TORN, len(data))
    assert walk.find(memoryview(data[:-1]), 0, BASE, BASE + len(data) - 1) == -1
    assert walk.find(memoryview(data[:36]), 0, BASE, FAR) == 0
    assert walk.find(memoryview(data[:35]), 0, BASE, FAR) == -1


def test_places_outside_the_view_are_refused() -> None:
    walk, _ = walking()
    view = memoryview(bytes(10))
    for position, end in ((-1, 5), (11, 11), (0, 11)):
        with pytest.raises(Misuse):
            walk.take(view, position, end, BASE, END)
    for position in (-1, 11):
        with pytest.raises(Misuse):
            walk.find(view, position, BASE, FAR)
