import struct

import pytest

from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.service.filters.sql_compiler import compile_sql
from aerobee.sim.disk import SimDiskFile
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.read.queue_read import QueueRead, ReadStatus
from tests.read_kit import EVER, ReadKit, filled, offsets

# What comes from the disk is checked.


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


def test_old_records_at_hand_are_checked_before_they_are_shown() -> None:
    kit = filled(3, apart=True)
    kit.reader.hot_from = EVER
    assert offsets(kit.read()) == [0, 1, 2]
    unit = kit.queue().unit(1)
    assert unit is not None
    kit.damage_body(unit[0])
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
    kit.damage_body(unit[0])
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


# Filters by properties.


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
