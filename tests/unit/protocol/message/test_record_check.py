"""The check of one place in a log: each of its laws, kept and broken."""

import struct

import pytest

from aerobee.errors import Misuse
from aerobee.protocol.message.record import (
    MAGIC_FILLER,
    SIZES_DISAGREE,
    UNKNOWN_MAGIC,
    RecordWriter,
)
from aerobee.protocol.message.record_check import (
    CHECK_FINDINGS,
    FILLER,
    MISPLACED,
    SOUND,
    TORN,
    UNSOUND,
    WRONG_FILLER,
    RecordCheck,
)
from tests.store_kit import draft

HOST = bytes((127, 0, 0, 1)) + (10911).to_bytes(4, "big")
BASE = 3 << 40
FILE_END = BASE + 4096


def record(
    log_offset: int = BASE,
    *,
    with_crc: bool = True,
    body: bytes = b"a body",
    text: bytes = b"TAGS\x01a\x02",
) -> bytes:
    return RecordWriter(HOST, with_crc).encode(draft(body=body, text=text), 7, log_offset, 99)


def filler(size: int) -> bytes:
    return struct.pack(">ii", size, MAGIC_FILLER)


def judged(
    data: bytes | bytearray,
    position: int = 0,
    *,
    base: int = BASE,
    file_end: int = FILE_END,
    needs_crc: bool = False,
) -> int:
    return RecordCheck().judge_in(memoryview(data), position, base, file_end, needs_crc)


def found(
    data: bytes, position: int = 0, *, end_offset: int = FILE_END, needs_crc: bool = False
) -> int:
    return RecordCheck().find_next_in(memoryview(data), position, BASE, end_offset, needs_crc)


def test_every_finding_has_words_of_its_own() -> None:
    findings = [SOUND, FILLER, TORN, UNKNOWN_MAGIC, SIZES_DISAGREE]
    findings += [MISPLACED, UNSOUND, WRONG_FILLER]
    assert list(CHECK_FINDINGS) == findings
    assert len(set(CHECK_FINDINGS.values())) == len(findings)


@pytest.mark.parametrize("with_crc", [False, True])
@pytest.mark.parametrize("position", [0, 1, 500])
def test_a_sound_record_is_sound_anywhere_in_the_memory(position: int, with_crc: bool) -> None:
    check = RecordCheck()
    data = bytes(position) + record(BASE + position, with_crc=with_crc) + b"more"
    assert check.judge_in(memoryview(data), position, BASE, FILE_END, False) == SOUND
    assert check.has_crc == with_crc
    assert (check.record.position, check.record.log_offset) == (position, BASE + position)
    assert check.record.size == len(data) - position - 4


# C1: whole.


def test_a_record_cut_anywhere_is_torn() -> None:
    data = record()
    assert {judged(data[:size]) for size in range(len(data))} == {TORN}


@pytest.mark.parametrize("size", [-(2**31), -1, 0, 90, 2**31 - 1])
def test_a_size_that_no_record_here_can_have_is_torn(size: int) -> None:
    assert judged(struct.pack(">i", size) + record()[4:]) == TORN


def test_a_record_that_ends_behind_its_file_is_torn_even_if_the_memory_has_it_all() -> None:
    data = record()
    assert judged(data, file_end=BASE + len(data)) == SOUND
    assert judged(data, file_end=BASE + len(data) - 1) == TORN
    assert judged(data, file_end=BASE - 1) == TORN


def test_bytes_that_are_no_record_are_told_from_one_that_does_not_add_up() -> None:
    data = record()
    assert judged(bytes(200)) == UNKNOWN_MAGIC
    assert judged(struct.pack(">i", len(data) - 1) + data[4:]) == SIZES_DISAGREE


# C2: in its own place.


@pytest.mark.parametrize("shift", [-BASE, -4096, -1, 1, 4096])
def test_a_record_that_names_another_place_is_misplaced(shift: int) -> None:
    assert judged(record(BASE + shift)) == MISPLACED


def test_a_place_counts_in_the_log_and_not_in_the_memory() -> None:
    data = bytes(10) + record(BASE)
    assert judged(data, 10, base=BASE - 10) == SOUND
    assert judged(data, 10, base=BASE) == MISPLACED


# C3: checksums.


def test_any_byte_changed_is_noticed_where_every_record_has_the_record_crc() -> None:
    data = record()
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        assert judged(changed, needs_crc=True) != SOUND, at


def test_a_changed_body_is_unsound_without_the_record_crc_too() -> None:
    data = bytearray(record(with_crc=False))
    data[data.index(b"a body") + 3] ^= 1
    assert judged(data) == UNSOUND


def test_a_record_without_the_record_crc_is_refused_where_one_is_needed() -> None:
    assert judged(record(with_crc=False), needs_crc=True) == UNSOUND
    assert judged(record(with_crc=True), needs_crc=True) == SOUND


def test_a_record_crc_that_is_wrong_is_not_made_good_by_the_body() -> None:
    data = bytearray(record())
    data[15] ^= 1  # the queue id
    assert judged(data) == UNSOUND


@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, 6), (3, 4), (3, 6), (5, 6)])
def test_zeros_in_a_topic_are_a_lost_sector(start: int, end: int) -> None:
    """Nothing else tells: the body is there, and the sizes add up."""
    data = bytearray(record(with_crc=False))
    topic = data.index(b"Orders")
    data[topic + start : topic + end] = bytes(end - start)
    assert judged(data) == UNSOUND


def test_a_topic_of_no_bytes_has_no_zero_in_it() -> None:
    data = RecordWriter(HOST, False).encode(draft(topic=b"", body=b""), 7, BASE, 99)
    assert judged(data) == SOUND


# C4: fillers.


def test_a_filler_reaches_to_the_end_of_the_file() -> None:
    assert judged(filler(4096)) == FILLER
    assert judged(bytes(4000) + filler(96), 4000) == FILLER
    for size in (-(2**31), -1, 0, 8, 4095, 4097):
        assert judged(filler(size)) == WRONG_FILLER


def test_a_filler_needs_no_more_than_its_eight_bytes() -> None:
    check = RecordCheck()
    assert check.judge_in(memoryview(filler(4096)), 0, BASE, FILE_END, True) == FILLER
    assert check.record.size == 4096
    assert judged(filler(4096)[:7]) == TORN


# Pieces of a log.


def test_a_piece_of_two_files_is_checked_file_by_file() -> None:
    """As a broker gets it that copies a log: from the middle of a file into the next one."""
    start = FILE_END - 500
    first = record(start)
    gap = 500 - len(first)
    piece = first + filler(gap).ljust(gap, b"\0") + record(FILE_END) + record(FILE_END + len(first))
    check, findings, position = RecordCheck(), [], 0
    while position < len(piece):
        file_end = FILE_END if position < 500 else FILE_END + 4096
        findings.append(check.judge_in(memoryview(piece), position, start, file_end, True))
        position += check.record.size
    assert findings == [SOUND, FILLER, SOUND, SOUND]
    assert position == len(piece)


def test_positions_outside_the_view_are_nowhere() -> None:
    data = record()
    for position in (-1, len(data) + 1):
        assert judged(data, position) == TORN
        with pytest.raises(Misuse):
            found(data, position)


# The next sound record.


@pytest.mark.parametrize(
    "garbage", [b"", b"\xda", b"x" * 7, b"\xda\xa3\x20\xa7" * 9, bytes(60), record(BASE)[:60]]
)
@pytest.mark.parametrize("with_crc", [False, True])
def test_the_next_sound_record_is_found_behind_anything(garbage: bytes, with_crc: bool) -> None:
    size = len(garbage)
    data = garbage + record(BASE + size, with_crc=with_crc)
    assert found(data) == found(data, size) == size
    assert found(data, size + 1) == -1
    assert found(data, needs_crc=True) == (size if with_crc else -1)


def test_a_record_of_either_version_is_found() -> None:
    long = RecordWriter(HOST, True).encode(draft(topic=b"t" * 200), 7, BASE + 5, 99)
    assert found(b"12345" + long) == 5


def test_what_is_not_sound_is_passed_over() -> None:
    unsound = bytearray(record())
    unsound[15] ^= 1
    first = len(unsound)
    misplaced = record(BASE)
    data = bytes(unsound) + misplaced + record(BASE + first + len(misplaced))
    assert found(data) == first + len(misplaced)


def test_a_record_in_a_body_is_none_unless_it_names_that_place() -> None:
    outer = record(body=record(0))
    assert found(outer + record(BASE + len(outer)), 1) == len(outer)
    at = outer.index(record(0))
    assert found(record(body=record(BASE + at)), 1) == at


def test_one_that_goes_on_behind_the_memory_may_be_a_record_if_the_log_has_room_for_it() -> None:
    data = record()
    check = RecordCheck()
    assert check.find_next_in(memoryview(data[:-1]), 0, BASE, BASE + len(data), False) == 0
    assert (check.finding, check.record.size) == (TORN, len(data))
    assert check.find_next_in(memoryview(data), 0, BASE, BASE + len(data), False) == 0
    assert check.finding == SOUND
    assert found(data[:-1], end_offset=BASE + len(data) - 1) == -1
    assert found(data, end_offset=BASE + len(data) - 1) == -1
    assert found(record(BASE + 1)[:-1]) == -1
    assert found(data[:36]) == 0
    assert found(data[:35]) == -1
    assert found(struct.pack(">i", 90) + data[4:]) == -1
