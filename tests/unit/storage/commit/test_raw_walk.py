"""The bytes of another log that may be appended: whole, sound records in their place."""

import struct

import pytest

from aerobee.errors import Misuse
from aerobee.protocol.message.record import (
    CRC_PROPERTY_BYTES,
    MAGIC_FILLER,
    SIZES_DISAGREE,
    UNKNOWN_MAGIC,
    RecordWriter,
)
from aerobee.protocol.message.record_check import MISPLACED, UNSOUND, WRONG_FILLER
from aerobee.storage.commit.raw_walk import (
    CROSSING,
    FILLER,
    INCOMPLETE,
    NO_QUEUE,
    RAW_FINDINGS,
    TORN,
    RawWalk,
)
from aerobee.storage.index.queue_folders import QUEUE_ID_MAX, topic_byte_table
from tests.replica_kit import raw_records
from tests.store_kit import SMALL, draft

BASE = 3 * 4096
FILE_END = BASE + 4096
STORED = 1_700_000_000_000


def walk_over(data: bytes, position: int = 0, file_end: int = FILE_END) -> tuple[int, RawWalk]:
    walk = RawWalk(topic_byte_table(), QUEUE_ID_MAX)
    return walk.run(memoryview(data), position, BASE, file_end), walk


def one(**changes: object) -> bytes:
    """A record at BASE of a draft with these attributes."""
    message = draft()
    for name, value in changes.items():
        setattr(message, name, value)
    return RecordWriter(SMALL.store_host, True).encode(message, 0, BASE, STORED)


def filler(size: int) -> bytes:
    return struct.pack(">ii", size, MAGIC_FILLER).ljust(size, b"\0")


def test_whole_records_are_passed_and_the_next_one_is_waited_for() -> None:
    data = raw_records(3, BASE)
    sizes = [len(raw_records(count, BASE)) for count in range(4)]
    for end in range(len(data) + 1):
        found, walk = walk_over(data[:end])
        assert found == INCOMPLETE, end
        assert walk.position == max(size for size in sizes if size <= end)
    assert walk.last_timestamp == STORED + 2


def test_a_walk_goes_on_from_any_record() -> None:
    data = raw_records(3, BASE)
    start = len(raw_records(1, BASE))
    found, walk = walk_over(data, start)
    assert (found, walk.position, walk.last_timestamp) == (INCOMPLETE, len(data), STORED + 2)
    found, walk = walk_over(data, start + 1)
    assert (found, walk.position) == (UNKNOWN_MAGIC, start + 1)


@pytest.mark.parametrize("position", [-1, 1])
def test_a_position_outside_the_bytes_is_misuse(position: int) -> None:
    with pytest.raises(Misuse, match="not within 0 bytes"):
        walk_over(b"", position)


def test_records_without_the_record_crc_are_passed_and_told() -> None:
    data = raw_records(2, BASE)
    mixed = data + raw_records(1, BASE + len(data), with_crc=False)
    assert walk_over(data)[1].is_all_crc
    found, walk = walk_over(mixed)
    assert (found, walk.position, walk.is_all_crc) == (INCOMPLETE, len(mixed), False)
    assert walk.run(memoryview(data), 0, BASE, FILE_END) == INCOMPLETE
    assert walk.is_all_crc  # of this run, not of the one before


@pytest.mark.parametrize("with_crc", [True, False])
def test_a_flipped_bit_of_a_body_stops_the_walk_before_its_record(with_crc: bool) -> None:
    data = raw_records(2, BASE, with_crc=with_crc, body=b"body")
    second = len(data) // 2
    for place in range(data.rindex(b"body"), data.rindex(b"body") + 4):
        flipped = bytearray(data)
        flipped[place] ^= 0x10
        found, walk = walk_over(bytes(flipped))
        assert (found, walk.position) == (UNSOUND, second)


def test_with_the_record_crc_every_flipped_bit_that_it_covers_stops_the_walk() -> None:
    data = raw_records(1, BASE)
    follower = raw_records(1, BASE + len(data))
    # Behind them is the name of the record CRC: without it the body's has to do.
    for bit in range(8 * (len(data) - CRC_PROPERTY_BYTES - 1)):
        flipped = bytearray(data + follower)
        flipped[bit // 8] ^= 1 << bit % 8
        found, walk = walk_over(bytes(flipped))
        assert walk.position == 0, bit
        # A size that was flipped upwards may be waited for, if it fits into the file.
        assert found != INCOMPLETE or bit < 32, bit


def test_a_record_of_another_place_is_refused_as_soon_as_it_names_it() -> None:
    data = raw_records(1, BASE + 1)
    assert walk_over(data)[0] == MISPLACED
    assert walk_over(data[:36])[0] == MISPLACED
    assert walk_over(data[:35])[0] == INCOMPLETE


def test_bytes_that_begin_no_record_are_refused_as_soon_as_there_are_eight() -> None:
    assert walk_over(bytes(7))[0] == INCOMPLETE
    assert walk_over(bytes(8))[0] == UNKNOWN_MAGIC
    small = struct.pack(">i", 90) + raw_records(1, BASE)[4:8]
    assert walk_over(small)[0] == TORN
    negative = struct.pack(">i", -1) + raw_records(1, BASE)[4:8]
    assert walk_over(negative)[0] == TORN


def test_parts_that_do_not_add_up_are_refused() -> None:
    data = bytearray(raw_records(1, BASE))
    data[84:88] = struct.pack(">i", 1000)  # the body's size
    assert walk_over(bytes(data))[0] == SIZES_DISAGREE


def test_a_record_must_leave_room_for_a_filler() -> None:
    data = raw_records(1, BASE)
    end = BASE + len(data)
    assert walk_over(data, file_end=end + 8)[0] == INCOMPLETE
    assert walk_over(data, file_end=end + 8)[1].position == len(data)
    for room in (7, 1, 0, -1):
        found, walk = walk_over(data, file_end=end + room)
        assert (found, walk.position) == (CROSSING, 0), room
        assert walk_over(data[:20], file_end=end + room)[0] == CROSSING, room


def test_a_filler_is_found_once_all_of_it_has_come() -> None:
    data = raw_records(2, BASE)
    left = 4096 - len(data)
    whole = data + filler(left)
    for end in range(len(data), len(whole)):
        found, walk = walk_over(whole[:end])
        assert (found, walk.position) == (INCOMPLETE, len(data)), end
    found, walk = walk_over(whole + b"the next file")
    assert (found, walk.position, walk.size) == (FILLER, len(data), left)


@pytest.mark.parametrize("wrong", [-1, 1])
def test_a_filler_of_another_size_is_refused(wrong: int) -> None:
    data = raw_records(2, BASE)
    left = 4096 - len(data)
    found, walk = walk_over(data + filler(left + wrong))
    assert (found, walk.position) == (WRONG_FILLER, len(data))


@pytest.mark.parametrize(
    "changes",
    [
        {"queue_id": -1},
        {"queue_id": QUEUE_ID_MAX + 1},
        {"topic": b""},
        {"topic": b"a/b"},
        {"topic": b".."},
        {"topic": b"a\nb"},
        {"topic": b"a\xffb"},
    ],
)
def test_a_record_that_no_queue_can_have_is_refused(changes: dict[str, object]) -> None:
    assert walk_over(one(**changes))[0] == NO_QUEUE


def test_topics_and_queue_ids_of_rocketmq_are_passed() -> None:
    for topic in (b"%RETRY%a", b"SCHEDULE_TOPIC_XXXX", b"a|b-c+d", b"t" * 255):
        assert walk_over(one(topic=topic, queue_id=QUEUE_ID_MAX))[0] == INCOMPLETE


def test_a_table_of_another_size_is_misuse() -> None:
    with pytest.raises(Misuse, match="255 bytes"):
        RawWalk(bytes(255), 1)


def test_every_finding_has_words() -> None:
    assert {INCOMPLETE, CROSSING, NO_QUEUE, TORN, FILLER, UNSOUND} <= RAW_FINDINGS.keys()
