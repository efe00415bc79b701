from aerobee.protocol.message.record import RecordWriter
from aerobee.protocol.message.stored_message import decode_record
from aerobee.sim.disk import SimDisk
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.read.log_search import records_holding
from tests.store_kit import StoreKit, draft

NOW = 1_700_000_000_000


def test_the_records_that_hold_some_bytes_are_found_in_every_file_from_an_offset_on() -> None:
    kit = StoreKit()
    offsets = kit.append_many(60)
    kit.settle()
    for number in (0, 7, 59):
        found = [bytes(one) for one in kit.store.records_with(b"Orders", offsets[number])]
        assert [decode_record(one).log_offset for one in found] == offsets[number:]
    assert list(kit.store.records_with(b"nowhere", 0)) == []
    (found_one,) = kit.store.records_with(b"key37\x02", 0)
    assert decode_record(bytes(found_one)).body == b"37"


def test_bytes_across_two_blocks_are_found() -> None:
    disk = SimDisk()
    sequence = FileSequence(disk, "log", 4 << 20)
    file = sequence.create(0)
    writer = RecordWriter(bytes(8), True)
    filled = (1 << 20) - 200  # so that the border lies in what is looked for
    needle = b"needle" * 40
    record = writer.encode(draft(body=bytes(filled) + needle), 0, 0, NOW)
    file.view[: len(record)] = record
    # Of every size up to all of it: the border of the first block lies somewhere in the longest.
    for size in range(6, 241):
        assert [bytes(one) for one in records_holding(sequence, needle[:size], 0, len(record))] == [
            record
        ]
