"""Passing over the records of a log file: where they begin, and where a walk stops."""

import struct
from bisect import bisect_right

import pytest

from aerobee.protocol.message.record import FILLER, MAGIC_FILLER, TORN, UNKNOWN_MAGIC
from aerobee.protocol.message.record_check import MISPLACED
from aerobee.sim.disk import SimDisk
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.read.record_walk import SOUND, RecordOffsets, RecordWalk
from tests.replica_kit import raw_records

FILE_BYTES = 4096
FIRST = 2 * FILE_BYTES
STORED = 1_700_000_000_000


def file_of(data: bytes) -> MappedFile:
    disk_file = SimDisk().create("commitlog/file", FILE_BYTES)
    disk_file.view[: len(data)] = data
    return MappedFile(disk_file, FIRST)


def ends_of(count: int) -> list[int]:
    return [len(raw_records(number, FIRST)) for number in range(1, count + 1)]


def test_a_walk_to_the_end_of_a_record_passes_all_before_it() -> None:
    file = file_of(raw_records(4, FIRST))
    begins = [0, *ends_of(4)]
    walk = RecordWalk()
    for count in range(1, 5):
        assert walk.run(file, 0, begins[count]) == SOUND
        assert (walk.count, walk.position) == (count, begins[count])
        assert (walk.last_position, walk.last_timestamp) == (begins[count - 1], STORED + count - 1)


def test_a_walk_into_a_record_stops_behind_it() -> None:
    file = file_of(raw_records(4, FIRST))
    ends = ends_of(4)
    walk = RecordWalk()
    for end in range(ends[0] + 1, ends[1] + 1):
        assert walk.run(file, 0, end) == SOUND
        assert walk.position == ends[1], end


def test_a_walk_begins_anywhere() -> None:
    file = file_of(raw_records(4, FIRST))
    ends = ends_of(4)
    walk = RecordWalk()
    assert walk.run(file, ends[1], ends[3]) == SOUND
    assert (walk.count, walk.last_position) == (2, ends[2])
    assert walk.run(file, ends[3], ends[3]) == SOUND
    assert (walk.count, walk.last_position, walk.last_timestamp) == (0, -1, 0)
    assert walk.run(file, ends[1] + 1, ends[3]) == UNKNOWN_MAGIC
    assert (walk.count, walk.position) == (0, ends[1] + 1)


def test_a_walk_stops_at_a_filler_at_damage_and_at_the_end_of_what_was_written() -> None:
    data = raw_records(2, FIRST)
    walk = RecordWalk()
    left = FILE_BYTES - len(data)
    for behind, finding in (
        (struct.pack(">ii", left, MAGIC_FILLER), FILLER),
        (b"", UNKNOWN_MAGIC),
        (raw_records(1, FIRST), MISPLACED),
        (struct.pack(">i", FILE_BYTES) + data[4:8], TORN),
    ):
        assert walk.run(file_of(data + behind), 0, FILE_BYTES) == finding
        assert (walk.count, walk.position) == (2, len(data))


def test_a_checksum_is_not_looked_at() -> None:
    data = bytearray(raw_records(1, FIRST, body=b"body"))
    data[data.index(b"body")] ^= 1
    assert RecordWalk().run(file_of(bytes(data)), 0, len(data)) == SOUND


def test_the_offsets_of_a_file_are_a_sequence_that_can_be_halved() -> None:
    file = file_of(raw_records(9, FIRST))
    begins = [FIRST + begin for begin in (0, *ends_of(8))]
    offsets = RecordOffsets(file, 9)
    assert len(offsets) == 9
    assert list(offsets) == begins
    assert bisect_right(offsets, begins[4] + 3) == 5
    for index in (-1, 9):
        with pytest.raises(IndexError):
            offsets[index]


def test_a_file_without_records_has_no_offsets() -> None:
    assert list(RecordOffsets(file_of(b""), 0)) == []
