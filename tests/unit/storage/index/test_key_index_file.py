"""One key index file: its bytes, look-ups in sound and in damaged files, and rebuilding."""

import struct

import pytest

from aerobee.errors import CorruptFile
from aerobee.ports.disk import DiskFile
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.key_index_file import KeyIndexFile, file_bytes, index_hash

SLOTS, UNITS = 8, 40
UNITS_START = 40 + 4 * SLOTS
START = 1_700_000_000_000
FOREVER = 1 << 60


def new_disk_file(size: int = file_bytes(SLOTS, UNITS)) -> DiskFile:
    return SimDisk().create("index/20231114221320000", size)


def new_file() -> KeyIndexFile:
    return KeyIndexFile(new_disk_file(), SLOTS, UNITS)


def reopened(file: KeyIndexFile) -> KeyIndexFile:
    return KeyIndexFile(file.disk_file, SLOTS, UNITS)


def header(file: KeyIndexFile) -> tuple[int, ...]:
    return struct.unpack_from(">qqqqii", file.disk_file.view)


def unit(file: KeyIndexFile, number: int) -> tuple[int, ...]:
    return struct.unpack_from(">iqii", file.disk_file.view, UNITS_START + 20 * number)


def slots(file: KeyIndexFile) -> list[int]:
    return list(struct.unpack_from(f">{SLOTS}i", file.disk_file.view, 40))


def patch(file: KeyIndexFile, layout: str, position: int, value: int) -> None:
    struct.pack_into(layout, file.disk_file.view, position, value)


def filled(count: int) -> KeyIndexFile:
    """Hashes that share slots, two units a record, a record every 700 ms."""
    file = new_file()
    for number in range(count):
        assert file.put(number % 11 * 3, 100 * (number // 2), START + 700 * (number // 2))
    return file


@pytest.mark.parametrize(
    ("text_hash", "expected"),
    [
        (0, 0),
        (1, 1),
        (0x7FFFFFFF, 0x7FFFFFFF),
        (0x80000000, 0),  # Java's smallest int has no absolute value
        (0x80000001, 0x7FFFFFFF),
        (0xFFFFFFFF, 1),
    ],
)
def test_an_index_hash_is_javas_absolute_value(text_hash: int, expected: int) -> None:
    assert index_hash(text_hash) == expected


def test_a_file_has_a_header_of_40_slots_of_4_and_units_of_20_bytes() -> None:
    assert file_bytes(5_000_000, 20_000_000) == 420_000_040


def test_puts_leave_the_bytes_that_rocketmq_reads() -> None:
    file = new_file()
    file.put(3, 1000, START)
    file.put(11, 1000, START)  # 11 mod 8 slots is 3 as well
    file.put(6, 2000, START + 2999)
    assert header(file) == (START, START + 2999, 1000, 2000, 2, 4)
    assert slots(file) == [0, 0, 0, 2, 0, 0, 3, 0]
    assert [unit(file, number) for number in range(5)] == [
        (0, 0, 0, 0),
        (3, 1000, 0, 0),
        (11, 1000, 0, 1),
        (6, 2000, 2, 0),
        (0, 0, 0, 0),
    ]


def test_a_reopened_file_knows_all_it_knew() -> None:
    file = filled(9)
    again = reopened(file)
    assert (again.begin_timestamp, again.end_timestamp) == (START, START + 2800)
    assert (again.begin_offset, again.end_offset) == (0, 400)
    assert (again.next_unit, again.slots_used) == (10, file.slots_used)
    assert again.find(0, 0, FOREVER, 9) == [0]


def test_a_full_file_takes_no_more_and_stays_as_it_is() -> None:
    file = filled(UNITS - 1)
    assert file.is_full()
    before = bytes(file.disk_file.view)
    assert not file.put(1, 99_999, START)
    assert bytes(file.disk_file.view) == before
    assert not filled(UNITS - 2).is_full()


def test_seconds_are_never_negative_and_never_more_than_an_int() -> None:
    file = new_file()
    file.put(1, 0, START)
    file.put(1, 1, START - 5000)
    file.put(1, 2, START + 1000 * 0x80000000)
    file.put(1, 3, -(1 << 63))
    file.put(1, 4, (1 << 63) - 1)
    assert [unit(file, number)[2] for number in range(1, 6)] == [0, 0, 0x7FFFFFFF, 0, 0x7FFFFFFF]


def test_a_file_that_began_at_time_zero_counts_no_seconds() -> None:
    file = new_file()
    file.put(1, 0, 0)
    file.put(1, 1, START)
    assert unit(file, 2)[2] == 0


def test_the_first_unit_counts_its_seconds_from_the_end_of_the_file_before() -> None:
    file = new_file()
    file.prime(START, 500)
    assert bytes(file.disk_file.view) == bytes(file_bytes(SLOTS, UNITS)), "primed in memory only"
    file.put(5, 700, START + 9000)
    file.put(5, 800, START + 9500)
    assert header(file) == (START + 9000, START + 9500, 700, 800, 1, 3)
    assert [unit(file, 1)[2], unit(file, 2)[2]] == [9, 0]
    # ... but it is found where its record was stored.
    assert file.find(5, START + 9000, START + 9400, 9) == [800, 700]
    assert file.find(5, START + 10_000, FOREVER, 9) == []


def test_records_are_found_newest_first_and_no_others_of_the_slot() -> None:
    file = new_file()
    for number in range(6):
        file.put(2 if number % 2 else 2 + SLOTS, 10 * number, START)
    assert file.find(2, 0, FOREVER, 9) == [50, 30, 10]
    assert file.find(2, 0, FOREVER, 2) == [50, 30]
    assert file.find(2, 0, FOREVER, 0) == []
    assert file.find(2 + 2 * SLOTS, 0, FOREVER, 9) == []
    assert file.find(3, 0, FOREVER, 9) == []


def test_a_record_that_repeats_a_key_is_found_once() -> None:
    file = new_file()
    for offset in (10, 10, 20, 20, 20):
        file.put(4, offset, START)
    assert file.find(4, 0, FOREVER, 2) == [20, 10]


def test_no_record_stored_in_the_range_is_missed_and_none_a_second_away_is_found() -> None:
    file = new_file()
    times = [START + 370 * number for number in range(30)]
    for offset, time_ms in enumerate(times):
        file.put(1, offset, time_ms)
    for begin in range(START - 2000, START + 13_000, 333):
        for end in (begin, begin + 1, begin + 999, begin + 4000):
            found = [times[offset] for offset in file.find(1, begin, end, 99)]
            inside = [time_ms for time_ms in reversed(times) if begin <= time_ms <= end]
            assert set(inside) <= set(found)
            assert all(begin - 1000 < time_ms < end + 1000 for time_ms in found)


def test_times_beyond_every_clock_do_no_harm() -> None:
    file = new_file()
    file.put(1, 0, (1 << 63) - 1)
    file.put(1, 1, -(1 << 63))
    assert file.find(1, -(1 << 63), (1 << 63) - 1, 9) == [1, 0]


@pytest.mark.parametrize("garbage", [3, 4, 5, 30, UNITS, 0x7FFFFFFF, -1, -0x80000000])
def test_a_chain_that_does_not_go_down_ends_there(garbage: int) -> None:
    file = new_file()
    for offset in (10, 20, 30, 40):
        file.put(1, offset, START)
    patch(file, ">i", UNITS_START + 20 * 3 + 16, garbage)
    assert file.find(1, 0, FOREVER, 9) == [40, 30]


@pytest.mark.parametrize("garbage", [3, UNITS, 0x7FFFFFFF, -1, -0x80000000])
def test_a_slot_that_names_no_written_unit_is_empty(garbage: int) -> None:
    file = new_file()
    file.put(1, 10, START)
    file.put(1, 20, START)
    patch(file, ">i", 40 + 4 * 1, garbage)
    assert file.find(1, 0, FOREVER, 9) == []
    file.put(1, 30, START)
    assert unit(file, 3)[3] == 0


def test_units_with_impossible_numbers_are_not_believed() -> None:
    file = filled(20)
    patch(file, ">q", UNITS_START + 20 * 12 + 4, 1 << 40)
    patch(file, ">q", UNITS_START + 20 * 1 + 4, -1)
    assert file.find(0, 0, FOREVER, 9) == []
    file.put(0, 1000, START + 9999)
    patch(file, ">i", UNITS_START + 20 * 21 + 12, -1)
    assert file.find(0, 0, FOREVER, 9) == []


@pytest.mark.parametrize(
    ("layout", "position", "value"),
    [
        (">i", 36, UNITS + 1),
        (">i", 36, -1),
        (">i", 32, -1),
        (">i", 32, 11),
        (">q", 16, -1),
        (">q", 16, 401),
    ],
)
def test_a_damaged_header_is_reported(layout: str, position: int, value: int) -> None:
    file = filled(9)
    patch(file, layout, position, value)
    with pytest.raises(CorruptFile, match="index/20231114221320000"):
        reopened(file)


def test_a_file_of_another_size_is_reported_with_the_settings_it_should_have() -> None:
    with pytest.raises(CorruptFile, match="8 slots and 40 units"):
        KeyIndexFile(new_disk_file(file_bytes(SLOTS, UNITS) - 20), SLOTS, UNITS)


def test_an_apache_file_that_never_got_a_key_is_empty() -> None:
    file = new_file()
    assert (file.next_unit, file.is_dirty) == (1, False)
    assert file.find(0, 0, FOREVER, 9) == []


def test_rebuilding_undoes_every_later_put_whatever_the_crash_left_of_it() -> None:
    for kept in range(1, UNITS):
        wanted = filled(kept)
        for later in range(kept, UNITS):
            file = filled(later)
            if later % 3 == 0:  # slots as they were long before
                file.disk_file.view[40:UNITS_START] = bytes(4 * SLOTS)
            if later % 3 == 1:  # a unit above that was half written
                patch(file, ">i", UNITS_START + 20 * (UNITS - 1), 7)
            again = reopened(file)
            again.rebuild_to(kept, wanted.end_timestamp)
            assert bytes(again.disk_file.view) == bytes(wanted.disk_file.view)
            assert again.is_dirty
            assert (again.next_unit, again.end_offset) == (kept + 1, wanted.end_offset)
            assert again.slots_used == wanted.slots_used


def test_a_file_can_be_filled_after_rebuilding_as_if_nothing_had_happened() -> None:
    file = filled(30)
    file.rebuild_to(13, filled(13).end_timestamp)
    for number in range(13, 25):
        file.put(number % 11 * 3, 100 * (number // 2), START + 700 * (number // 2))
    assert bytes(file.disk_file.view) == bytes(filled(25).disk_file.view)


@pytest.mark.parametrize("count", [-1, 0, UNITS, UNITS + 1])
def test_a_count_that_no_file_can_have_is_refused(count: int) -> None:
    with pytest.raises(CorruptFile):
        filled(9).rebuild_to(count, START)


@pytest.mark.parametrize(
    ("layout", "place", "value"),
    [
        (">i", 0, -0x80000000),  # a hash is never negative, though this one has the same slot
        (">i", 0, 1),  # another hash, another slot
        (">q", 4, 1 << 40),  # beyond the record after it
        (">q", 4, -1),
        (">i", 12, -1),
        (">i", 16, 11),
        (">i", 16, 99),
    ],
)
def test_a_unit_that_put_cannot_have_written_stops_rebuilding(
    layout: str, place: int, value: int
) -> None:
    file = filled(20)
    patch(file, layout, UNITS_START + 20 * 12 + place, value)
    with pytest.raises(CorruptFile, match="damaged"):
        file.rebuild_to(20, START)


def test_a_first_unit_that_is_not_where_the_file_begins_stops_rebuilding() -> None:
    file = new_file()
    file.put(1, 50, START)
    file.put(1, 90, START)
    patch(file, ">q", UNITS_START + 20 + 4, 60)
    with pytest.raises(CorruptFile, match="unit 1 "):
        file.rebuild_to(2, START)


def test_units_tell_their_offset_and_their_time_to_the_second() -> None:
    file = filled(9)
    assert [file.unit_offset(number) for number in (1, 2, 3, 9)] == [0, 0, 100, 400]
    assert file.unit_timestamp(1) == START
    assert file.unit_timestamp(9) == START + 2000
    for number in (-1, 0, UNITS):
        with pytest.raises(CorruptFile):
            file.unit_offset(number)


# Room.


def test_header_slots_and_a_step_of_units_get_room_with_the_first_unit() -> None:
    slots_count, units_count = 2_000, 500_000
    disk = SimDisk()
    size = file_bytes(slots_count, units_count)
    disk_file = disk.create_sparse("index/20231114221320000", size)
    file = KeyIndexFile(disk_file, slots_count, units_count)
    space = disk.space("index")
    assert space.total_bytes == space.free_bytes
    step = 4 << 20
    number = 0
    for steps in (1, 2):
        while 8_040 + 20 * (number + 2) <= steps * step:
            assert file.put(number % 7, number, START)
            number += 1
        disk.observe()  # WriteIntoHole if something was written without room
        space = disk.space("index")
        assert space.total_bytes - space.free_bytes == steps * step
    disk.capacity_bytes = 2 * step
    with pytest.raises(OSError, match="disk full"):
        file.put(1, number, START)
    assert file.next_unit == number + 1
    disk.capacity_bytes = 1 << 40
    assert file.put(1, number, START)
    disk.observe()


def test_rebuilding_asks_for_the_room_that_a_power_cut_took() -> None:
    disk = SimDisk()
    disk.make_directory("index")
    disk_file = disk.create_sparse("index/20231114221320000", file_bytes(5_000, 1_000))
    file = KeyIndexFile(disk_file, 5_000, 1_000)
    for number in range(10):
        file.put(number, number, START)
    disk_file.sync()
    disk.sync_directory("index")
    survivor = disk.power_cut()
    again = KeyIndexFile(survivor.open_sparse("index/20231114221320000"), 5_000, 1_000)
    again.rebuild_to(5, START)
    survivor.observe()
    assert again.put(4_999, 9, START)  # into a slot whose page holds nothing yet
    survivor.observe()
    assert again.find(4_999, 0, FOREVER, 9) == [9]
