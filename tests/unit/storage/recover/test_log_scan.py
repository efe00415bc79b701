"""Checking records one after another: how far it comes, and what it says stands there instead."""

import struct

import pytest

from aerobee.protocol.message.record import (
    FILLER,
    MAGIC_FILLER,
    SIZES_DISAGREE,
    TORN,
    UNKNOWN_MAGIC,
    RecordWriter,
)
from aerobee.protocol.message.record_check import MISPLACED, UNSOUND, WRONG_FILLER
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import StorageConfig
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.recover.log_scan import LogScan
from tests.store_kit import draft

FILE_BYTES = 4096
FIRST_OFFSET = 3 * FILE_BYTES
STORED = 1_700_000_000_000


class FileKit:
    """A log file with some records in it, and a place to put more."""

    def __init__(self, count: int = 0, *, with_crc: bool = True) -> None:
        disk_file = SimDisk().create("commitlog/file", FILE_BYTES)
        self.file = MappedFile(disk_file, FIRST_OFFSET)
        self.end = 0
        for _ in range(count):
            self.put(with_crc=with_crc)

    def put(self, *, with_crc: bool = True, shift: int = 0, body: bytes = b"a body") -> None:
        """One record more; `shift` makes it name a place that is not its own."""
        writer = RecordWriter(StorageConfig().store_host, with_crc)
        place = FIRST_OFFSET + self.end + shift
        record = writer.encode(draft(body=body), 0, place, STORED + self.end)
        self.put_bytes(record)

    def put_bytes(self, content: bytes) -> None:
        self.file.view[self.end : self.end + len(content)] = content
        self.end += len(content)

    def put_filler(self, size: int) -> None:
        self.file.view[self.end : self.end + 8] = struct.pack(">ii", size, MAGIC_FILLER)

    def scan(
        self, position: int = 0, *, needs_crc: bool = False, skips: bool = False
    ) -> tuple[int, LogScan]:
        scan = LogScan(needs_crc, skips)
        return scan.run(self.file, position), scan


def test_an_empty_file_holds_no_record() -> None:
    found, scan = FileKit().scan()
    assert (found, scan.position, scan.count, scan.last_timestamp) == (UNKNOWN_MAGIC, 0, 0, 0)


def test_whole_records_are_counted_up_to_the_zeros_behind_them() -> None:
    kit = FileKit(2)
    last = kit.end
    kit.put()
    found, scan = kit.scan()
    assert (found, scan.position, scan.count) == (UNKNOWN_MAGIC, kit.end, 3)
    assert scan.last_timestamp == STORED + last
    assert scan.is_all_crc


def test_a_scan_begins_where_it_is_told() -> None:
    kit = FileKit(1)
    second = kit.end
    kit.put()
    found, scan = kit.scan(second)
    assert (found, scan.position, scan.count) == (UNKNOWN_MAGIC, kit.end, 1)


def test_a_filler_to_the_end_of_the_file_ends_it() -> None:
    kit = FileKit(2)
    kit.put_filler(FILE_BYTES - kit.end)
    found, scan = kit.scan()
    assert (found, scan.position, scan.count) == (FILLER, kit.end, 2)


@pytest.mark.parametrize("size", [-1, 0, 8, FILE_BYTES])
def test_a_filler_of_another_size_is_none(size: int) -> None:
    kit = FileKit(2)
    kit.put_filler(size)
    found, scan = kit.scan()
    assert (found, scan.position) == (WRONG_FILLER, kit.end)


@pytest.mark.parametrize("left", [0, 7])
def test_a_file_without_room_for_a_filler_ends_torn(left: int) -> None:
    kit = FileKit()
    size = len(RecordWriter(StorageConfig().store_host, True).encode(draft(body=b""), 0, 0, 0))
    kit.put(body=bytes(FILE_BYTES - size - left))
    found, scan = kit.scan()
    assert (found, scan.position, scan.count) == (TORN, FILE_BYTES - left, 1)


def test_a_record_longer_than_the_file_is_torn() -> None:
    kit = FileKit(1)
    start = kit.end
    kit.put()
    kit.file.view[start : start + 4] = struct.pack(">i", FILE_BYTES - start + 1)
    found, scan = kit.scan()
    assert (found, scan.position, scan.count) == (TORN, start, 1)


def test_a_record_whose_parts_do_not_add_up_is_told() -> None:
    kit = FileKit(1)
    start = kit.end
    kit.put()
    (size,) = struct.unpack_from(">i", kit.file.view, start)
    kit.file.view[start : start + 4] = struct.pack(">i", size + 1)
    found, scan = kit.scan()
    assert (found, scan.position) == (SIZES_DISAGREE, start)


@pytest.mark.parametrize("shift", [-FILE_BYTES, -1, 1, FILE_BYTES])
def test_a_record_of_another_place_is_misplaced(shift: int) -> None:
    kit = FileKit(1)
    start = kit.end
    kit.put(shift=shift)
    found, scan = kit.scan()
    assert (found, scan.position, scan.count) == (MISPLACED, start, 1)
    assert scan.last_timestamp == STORED


def test_a_record_that_does_not_match_its_checksum_is_unsound() -> None:
    kit = FileKit(1)
    start = kit.end
    kit.put()
    kit.file.view[start + 15] ^= 1  # the queue id: in no body CRC, in the record's own
    found, scan = kit.scan()
    assert (found, scan.position, scan.count) == (UNSOUND, start, 1)
    assert scan.last_timestamp == STORED


def test_a_damaged_body_is_unsound_without_the_record_crc_too() -> None:
    kit = FileKit(1, with_crc=False)
    body = bytes(kit.file.view).index(b"a body")
    kit.file.view[body] ^= 1
    assert kit.scan()[0] == UNSOUND


def test_checksums_can_be_left_out() -> None:
    kit = FileKit(2)
    kit.file.view[15] ^= 1
    found, scan = kit.scan(skips=True)
    assert (found, scan.position, scan.count) == (UNKNOWN_MAGIC, kit.end, 2)


def test_a_place_is_checked_even_when_checksums_are_not() -> None:
    kit = FileKit(1)
    kit.put(shift=1)
    assert kit.scan(skips=True)[0] == MISPLACED


def test_records_without_the_record_crc_are_counted_and_noted() -> None:
    kit = FileKit(1)
    kit.put(with_crc=False)
    kit.put()
    found, scan = kit.scan()
    assert (found, scan.count, scan.is_all_crc) == (UNKNOWN_MAGIC, 3, False)


def test_a_record_without_the_crc_is_unsound_where_every_record_must_have_it() -> None:
    kit = FileKit(1)
    start = kit.end
    kit.put(with_crc=False)
    found, scan = kit.scan(needs_crc=True)
    assert (found, scan.position, scan.count) == (UNSOUND, start, 1)
    assert scan.is_all_crc


def test_a_scan_goes_on_counting_in_the_next_file() -> None:
    first, second = FileKit(2), FileKit(1, with_crc=False)
    scan = LogScan(False, False)
    scan.run(first.file, 0)
    scan.run(second.file, 0)
    assert (scan.count, scan.position, scan.is_all_crc) == (3, second.end, False)


@pytest.mark.parametrize("lost_from", range(6))
def test_a_topic_of_which_a_sector_is_lost_is_unsound_without_the_record_crc_too(
    lost_from: int,
) -> None:
    """Nothing else tells: its body is there, its sizes add up, and it has no properties."""
    kit = FileKit(2, with_crc=False)
    start = kit.end
    kit.put(with_crc=False)
    topic_at = start + bytes(kit.file.view[start : kit.end]).index(b"Orders")
    kit.file.view[topic_at + lost_from : kit.end] = bytes(kit.end - topic_at - lost_from)
    scan = LogScan(needs_crc=False, skips_checksums=False)
    assert scan.run(kit.file, 0) == UNSOUND
    assert (scan.position, scan.count) == (start, 2)
