"""Single records: by log offset, by key; checked before they are shown, found only where one is."""

import struct

import pytest

from aerobee.errors import CorruptRecord
from aerobee.protocol.message.record import RecordWriter
from aerobee.sim.disk import SimDisk
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.index.key_index import KeyIndex, KeyIndexConfig
from aerobee.storage.read.record_reader import RecordReader
from tests.store_kit import draft

NOW = 1_700_000_000_000
EVER = 1 << 60


class RecordKit:
    """Ten records in two files, by hand; all readable."""

    def __init__(self, *, with_crc: bool = True) -> None:
        self.disk = SimDisk()
        self.sequence = FileSequence(self.disk, "log", 4096)
        self.records: dict[int, bytes] = {}
        writer = RecordWriter(bytes(8), with_crc)
        for number in range(10):
            if number % 5 == 0:
                file = self.sequence.create(number // 5 * 4096)
                position = 0
            offset = file.first_offset + position
            record = writer.encode(draft(body=b"%d" % number), number, offset, NOW + number)
            file.view[position : position + len(record)] = record
            position += len(record)
            self.records[offset] = record
        self.end = offset + len(record)
        self.reader = RecordReader(self.sequence)
        self.reader.readable_to = self.end

    def offset(self, number: int) -> int:
        return list(self.records)[number]


def test_a_record_is_found_at_its_offset_and_nowhere_else() -> None:
    kit = RecordKit()
    for offset in range(-3, 8200):
        found = kit.reader.at(offset)
        assert (None if found is None else bytes(found)) == kit.records.get(offset), offset
        stamp = kit.reader.store_timestamp_at(offset)
        known = list(kit.records).index(offset) if offset in kit.records else None
        assert stamp == (None if known is None else NOW + known)


def test_what_reading_would_wait_for_is_told_by_its_bytes() -> None:
    kit = RecordKit()
    offset = kit.offset(6)
    assert kit.reader.cold_part(offset, len(kit.records[offset])) is None
    kit.disk.faults.make_cold("log/*")
    part = kit.reader.cold_part(offset, len(kit.records[offset]))
    assert part is not None
    assert bytes(part) == kit.records[offset]
    # Sizes come from a file that may be damaged.
    part = kit.reader.cold_part(8_000, 1 << 30)
    assert part is not None
    assert len(part) == 192
    assert kit.reader.cold_part(offset, -5) is None
    assert kit.reader.cold_part(1 << 40, 5) is None


@pytest.mark.parametrize("offset", [-(1 << 63), -1, 8192, (1 << 63) - 1])
def test_an_offset_that_someone_made_up_finds_nothing(offset: int) -> None:
    kit = RecordKit()
    assert kit.reader.at(offset) is None
    assert kit.reader.store_timestamp_at(offset) is None


def test_a_record_is_a_slice_of_the_log_and_no_copy() -> None:
    kit = RecordKit()
    found = kit.reader.at(0)
    assert found is not None
    kit.sequence.files[0].view[0:1] = b"\x7f"
    assert found[0] == 0x7F


def test_what_stands_in_the_body_of_a_record_is_no_record() -> None:
    """Somebody may send the bytes of a record, and know at which offset they will lie."""
    kit = RecordKit()
    writer = RecordWriter(bytes(8), False)
    file = kit.sequence.create(8192)
    inner = writer.encode(draft(body=b"forged"), 0, 1, NOW)
    outer = writer.encode(draft(body=inner), 0, 8192, NOW)
    file.view[: len(outer)] = outer
    kit.reader.readable_to = 8192 + len(outer)
    kit.reader.crc_from = EVER
    assert kit.reader.at(8192) is not None
    assert kit.reader.at(8192 + outer.index(inner)) is None


def test_nothing_beyond_what_is_readable_is_shown() -> None:
    kit = RecordKit()
    second = kit.offset(1)
    kit.reader.readable_to = second
    assert kit.reader.at(0) is not None
    assert kit.reader.at(second) is None
    kit.reader.readable_to = kit.offset(2) - 1
    assert kit.reader.at(second) is None
    kit.reader.readable_to = kit.offset(2)
    assert kit.reader.at(second) is not None


def test_a_damaged_record_is_named_and_not_shown() -> None:
    kit = RecordKit()
    offset = kit.offset(7)
    kit.sequence.files[1].view[offset - 4096 + 88] ^= 1
    with pytest.raises(CorruptRecord, match="does not match its checksum") as caught:
        kit.reader.at(offset)
    assert caught.value.path == f"log/{4096:020}"
    assert (caught.value.log_offset, caught.value.position) == (offset, offset - 4096)
    assert kit.reader.at(kit.offset(8)) is not None


def test_from_some_offset_on_a_record_without_its_crc_is_damaged() -> None:
    kit = RecordKit(with_crc=False)
    kit.reader.crc_from = kit.offset(3)
    assert kit.reader.at(kit.offset(2)) is not None
    with pytest.raises(CorruptRecord):
        kit.reader.at(kit.offset(3))


def test_a_record_of_another_place_is_none_here() -> None:
    kit = RecordKit()
    record = kit.records[0]
    kit.sequence.files[0].view[2000 : 2000 + len(record)] = record
    assert kit.reader.at(2000) is None
    assert kit.reader.store_timestamp_at(2000) is None
    kit.sequence.files[0].view[2028:2036] = struct.pack(">q", 2000)
    with pytest.raises(CorruptRecord):
        kit.reader.at(2000)


# By key.


def indexed(kit: RecordKit) -> KeyIndex:
    index = KeyIndex.open(kit.disk, "index", KeyIndexConfig(4, 100))
    for number, offset in enumerate(kit.records):
        index.put_keys(b"Orders", b"u%d" % number, b"k%d all" % (number % 3), b"", offset, NOW)
    kit.reader.index = index
    return index


def test_records_are_found_by_key_newest_first() -> None:
    kit = RecordKit()
    indexed(kit)
    newest_first = list(reversed(kit.records.values()))
    assert [bytes(r) for r in kit.reader.by_key(b"Orders", b"all", 0, EVER, 64)] == newest_first
    found = kit.reader.by_key(b"Orders", b"k0", 0, EVER, 64)
    assert [bytes(record) for record in found] == newest_first[::3]
    (unique,) = kit.reader.by_key(b"Orders", b"u4", 0, EVER, 64)
    assert bytes(unique) == kit.records[kit.offset(4)]
    assert len(kit.reader.by_key(b"Orders", b"all", 0, EVER, 3)) == 3
    assert kit.reader.by_key(b"Other", b"all", 0, EVER, 64) == []
    assert kit.reader.by_key(b"Orders", b"all", NOW + 5000, EVER, 64) == []


def test_keys_of_records_that_are_gone_or_not_yet_readable_are_passed_over() -> None:
    kit = RecordKit()
    indexed(kit)
    kit.sequence.take_first()
    kit.reader.readable_to = kit.offset(8)
    found = kit.reader.by_key(b"Orders", b"all", 0, EVER, 64)
    assert [bytes(record) for record in found] == [kit.records[kit.offset(n)] for n in (7, 6, 5)]


def test_without_an_index_no_key_is_found() -> None:
    assert RecordKit().reader.by_key(b"Orders", b"all", 0, EVER, 64) == []
