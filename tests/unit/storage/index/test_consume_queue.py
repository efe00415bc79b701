"""One consume queue: its bytes, its three offsets, gaps, restarts, cuts, retention and room.

Longer than 500 lines because each of these is small and shares the same few helpers.
"""

import struct

import pytest

from aerobee.errors import CorruptFile
from aerobee.protocol.primitives.java_hash import signed32, tag_code
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.consume_queue import FILLER_SIZE, UNIT_BYTES, ConsumeQueue
from tests.store_kit import contents

FOLDER = "store/consumequeue/Orders/3"
FILE_UNITS = 4
FILLER = (0, FILLER_SIZE, 0)


def new_queue(disk: SimDisk) -> ConsumeQueue:
    return ConsumeQueue(disk, FOLDER, b"Orders", 3, FILE_UNITS)


def loaded(disk: SimDisk, *, is_torn: bool = False) -> ConsumeQueue:
    queue = new_queue(disk)
    queue.load(is_torn)
    return queue


def place(number: int) -> tuple[int, int, int]:
    """Log offset, size and tag code of message `number`: a record every 1000 bytes."""
    return 1000 * number + 500, 100 + number % 400, -number


def filled(disk: SimDisk, count: int, first: int = 0) -> ConsumeQueue:
    queue = new_queue(disk)
    for number in range(first, count):
        assert queue.append(number, *place(number))
    return queue


def bounds(queue: ConsumeQueue) -> tuple[int, int]:
    return queue.min_offset, queue.max_offset


def units_on(disk: SimDisk) -> list[tuple[int, int, int]]:
    """All units of all files, unwritten ones too."""
    return [
        struct.unpack_from(">qiq", content, position)
        for _, content in sorted(contents(disk, FOLDER).items())
        for position in range(0, len(content), UNIT_BYTES)
    ]


def names(disk: SimDisk) -> list[int]:
    """Numbers of the first units of the files."""
    return [int(name) // UNIT_BYTES for name in disk.list_directory(FOLDER)]


def test_an_empty_queue_has_no_files_and_no_units() -> None:
    disk = SimDisk()
    queue = loaded(disk)
    assert bounds(queue) == (0, 0)
    assert (queue.next_offset, queue.log_end) == (0, 0)
    assert queue.unit(0) is None
    assert queue.find(0) is None
    assert queue.first_at(0) == 0
    assert names(disk) == []


def test_the_hash_of_the_topic_is_that_of_the_text_with_its_separator() -> None:
    queue = new_queue(SimDisk())
    assert (queue.topic, queue.queue_id) == (b"Orders", 3)
    assert signed32(queue.topic_hash) == tag_code(b"Orders#")


# Writing.


def test_a_unit_is_three_numbers_at_20_times_its_offset() -> None:
    disk = SimDisk()
    queue = filled(disk, 6)
    assert names(disk) == [0, 4]
    assert units_on(disk) == [place(n) for n in range(6)] + [(0, 0, 0)] * 2
    assert bounds(queue) == (0, 6)
    assert queue.log_end == 5500 + 105
    assert queue.is_dirty


def test_units_hold_the_extremes_of_their_numbers() -> None:
    disk = SimDisk()
    queue = new_queue(disk)
    unit = ((1 << 63) - 1 - (1 << 31), FILLER_SIZE - 1, -(1 << 63))
    assert queue.append(0, *unit)
    assert queue.unit(0) == unit
    assert units_on(disk)[0] == unit


def test_a_file_is_made_by_the_first_unit_in_it() -> None:
    disk = SimDisk()
    filled(disk, FILE_UNITS)
    assert names(disk) == [0]
    filled(SimDisk(), 0)
    queue = loaded(disk)
    queue.append(FILE_UNITS, *place(FILE_UNITS))
    assert names(disk) == [0, FILE_UNITS]


def test_a_message_that_is_there_already_changes_nothing() -> None:
    disk = SimDisk()
    queue = filled(disk, 6)
    before = contents(disk)
    for number in range(6):
        assert not queue.append(number, *place(number))
    assert contents(disk) == before
    assert bounds(queue) == (0, 6)


def test_an_old_offset_further_on_in_the_log_is_refused() -> None:
    queue = filled(SimDisk(), 6)
    assert not queue.append(3, 90_000, 100, 0)
    assert bounds(queue) == (0, 6)


def test_a_topic_made_anew_begins_again_at_0() -> None:
    disk = SimDisk()
    queue = filled(disk, 6)
    queue.next_offset = 2  # given out since the topic was made anew
    assert queue.append(0, 90_000, 100, 7)
    assert bounds(queue) == (0, 1)
    assert queue.next_offset == 2
    assert units_on(disk) == [(90_000, 100, 7)] + [(0, 0, 0)] * 3
    assert queue.append(1, 91_000, 100, 8)
    assert queue.unit(1) == (91_000, 100, 8)


# Messages that are not the next one.


@pytest.mark.parametrize("first", [1, 3, 4, 5, 7, 4003])
def test_a_queue_whose_first_messages_were_never_seen_begins_with_fillers(first: int) -> None:
    disk = SimDisk()
    queue = filled(disk, first + 3, first)
    assert bounds(queue) == (first, first + 3)
    assert queue.unit(first - 1) is None
    before = first % FILE_UNITS
    assert names(disk)[0] == first - before
    written = [FILLER] * before + [place(first + n) for n in range(3)]
    assert units_on(disk)[: len(written)] == written
    assert not any(any(unit) for unit in units_on(disk)[len(written) :])


def test_a_gap_is_filled_and_what_came_before_it_stays() -> None:
    disk = SimDisk()
    queue = filled(disk, 3)
    assert queue.append(9, *place(9))
    assert bounds(queue) == (0, 10)
    gap = (0, FILLER_SIZE, sum(place(2)[:2]))
    assert units_on(disk) == [
        place(0),
        place(1),
        place(2),
        *[gap] * 6,
        place(9),
        (0, 0, 0),
        (0, 0, 0),
    ]
    assert queue.unit(5) == gap
    assert queue.log_end == 9500 + 109
    again = loaded(disk)
    assert (bounds(again), again.log_end) == ((0, 10), 9500 + 109)


def test_halving_finds_its_way_through_a_gap() -> None:
    queue = filled(SimDisk(), 3)
    queue.append(9, *place(9))
    for log_offset, found in [
        (0, 0),
        (500, 0),
        (602, 1),
        (2500, 2),
        (2602, 9),
        (9500, 9),
        (9501, 10),
    ]:
        assert queue.first_at(log_offset) == found, log_offset


def test_a_second_gap_knows_the_record_before_it_as_well() -> None:
    queue = filled(SimDisk(), 2)
    queue.append(4, *place(4))
    queue.append(7, *place(7))
    assert queue.unit(2) == (0, FILLER_SIZE, sum(place(1)[:2]))
    assert queue.unit(6) == (0, FILLER_SIZE, sum(place(4)[:2]))
    queue.truncate_to(place(7)[0], is_torn=False)
    assert queue.log_end == sum(place(4)[:2])
    assert queue.append(9, *place(9))
    assert queue.unit(8) == (0, FILLER_SIZE, sum(place(4)[:2]))


# Finding.


def test_units_are_found_only_between_the_first_and_the_last() -> None:
    queue = filled(SimDisk(), 12, 6)
    for offset in range(-3, 16):
        assert queue.unit(offset) == (place(offset) if 6 <= offset < 12 else None)
        file = queue.find(offset)
        assert (file is not None) == (6 <= offset < 12)
        if file is not None:
            assert file.first_offset <= offset * UNIT_BYTES < file.end_offset()


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 11])
def test_the_first_offset_at_or_after_any_place_in_the_log(count: int) -> None:
    queue = filled(SimDisk(), count)
    for log_offset in range(0, 1000 * count + 1000, 250):
        expected = sum(1 for n in range(count) if place(n)[0] < log_offset)
        assert queue.first_at(log_offset) == expected


# Loading.


@pytest.mark.parametrize("count", range(10))
@pytest.mark.parametrize("is_torn", [False, True])
def test_loading_gives_back_what_was_written(count: int, is_torn: bool) -> None:
    disk = SimDisk()
    written = filled(disk, count)
    queue = loaded(disk, is_torn=is_torn)
    assert bounds(queue) == (0, count)
    assert queue.next_offset == count
    assert queue.log_end == written.log_end
    assert [queue.unit(n) for n in range(count)] == [place(n) for n in range(count)]
    assert queue.append(count, *place(count))
    assert queue.unit(count) == place(count)


def test_a_queue_cut_back_to_nothing_still_knows_how_far_it_was() -> None:
    """Consumers have read that far: offsets that begin at 0 again would pass them by."""
    disk = SimDisk()
    queue = filled(disk, 10)
    queue.drop_below(8000)
    queue.truncate_to(8000, is_torn=True)
    assert bounds(queue) == (8, 8)
    assert units_on(disk) == [(0, 0, 0)] * FILE_UNITS
    again = loaded(disk)
    assert (bounds(again), again.next_offset) == ((8, 8), 8)
    assert again.append(8, *place(8))
    assert bounds(loaded(disk)) == (8, 9)


@pytest.mark.parametrize("first", [1, 3, 5])
def test_fillers_at_the_start_are_behind_the_first_offset_again_after_a_load(first: int) -> None:
    disk = SimDisk()
    filled(disk, first + 2, first)
    queue = loaded(disk)
    queue.drop_below(0)
    assert bounds(queue) == (first, first + 2)


def test_a_file_without_units_behind_a_full_one_goes() -> None:
    disk = SimDisk()
    queue = filled(disk, FILE_UNITS)
    queue.sequence.create(FILE_UNITS * UNIT_BYTES)
    assert bounds(loaded(disk)) == (0, FILE_UNITS)
    assert names(disk) == [0]


def test_a_file_of_another_size_is_refused_after_a_clean_stop_and_cut_after_a_crash() -> None:
    disk = SimDisk()
    filled(disk, 6)
    disk.replace(f"{FOLDER}/{160:020}", b"!")
    with pytest.raises(CorruptFile):
        loaded(disk)
    assert bounds(loaded(disk, is_torn=True)) == (0, 6)
    assert names(disk) == [0, 4]
    disk.replace(f"{FOLDER}/{80:020}", b"short")
    assert bounds(loaded(disk, is_torn=True)) == (0, 4)
    assert names(disk) == [0]


# Cutting.


@pytest.mark.parametrize("is_torn", [False, True])
@pytest.mark.parametrize("kept", range(11))
def test_a_cut_leaves_zeros_behind_the_end(kept: int, is_torn: bool) -> None:
    disk = SimDisk()
    queue = filled(disk, 10)
    queue.is_dirty = False
    queue.truncate_to(1000 * kept + 1, is_torn)
    assert bounds(queue) == (0, kept)
    assert queue.next_offset == kept
    assert queue.log_end == (sum(place(kept - 1)[:2]) if kept else 0)
    assert [unit for unit in units_on(disk) if any(unit)] == [place(n) for n in range(kept)]
    assert names(disk) == [first for first in (0, 4, 8) if first < kept]
    assert queue.append(kept, *place(kept))
    assert bounds(loaded(disk)) == (0, kept + 1)


def test_a_cut_that_cuts_nothing_changes_nothing() -> None:
    disk = SimDisk()
    queue = filled(disk, 6)
    queue.is_dirty = False
    before = contents(disk)
    for is_torn in (False, True):
        queue.truncate_to(1 << 40, is_torn)
        assert contents(disk) == before
        assert not queue.is_dirty
        assert bounds(queue) == (0, 6)


def test_what_a_crash_left_behind_the_end_is_cleared() -> None:
    """A sector that was lost below one that was kept: halving ends before the hole."""
    disk = SimDisk()
    queue = filled(disk, 3)
    file = queue.sequence.files[0]
    file.view[60:68] = struct.pack(">q", 77)  # a unit of which only the first field survived
    again = loaded(disk, is_torn=True)
    again.truncate_to(2600, is_torn=True)
    assert units_on(disk)[3] == (0, 0, 0)
    assert again.is_dirty


def test_a_cut_in_a_gap_leaves_the_gap_to_be_filled_again() -> None:
    disk = SimDisk()
    queue = filled(disk, 3)
    queue.append(9, *place(9))
    before = contents(disk)
    queue.truncate_to(9500, is_torn=False)
    assert queue.log_end == sum(place(2)[:2])
    assert queue.append(9, *place(9))
    assert contents(disk) == before


# Retention.


@pytest.mark.parametrize(
    ("log_offset", "first", "files"),
    [
        (0, 0, [0, 4, 8]),
        (500, 0, [0, 4, 8]),
        (501, 1, [0, 4, 8]),
        (3500, 3, [0, 4, 8]),
        (3501, 4, [4, 8]),
        (7501, 8, [8]),
        (9501, 10, [8]),
        (1 << 50, 10, [8]),
    ],
)
def test_units_of_records_that_are_gone_are_hidden_and_their_files_removed(
    log_offset: int, first: int, files: list[int]
) -> None:
    disk = SimDisk()
    queue = filled(disk, 10)
    queue.drop_below(log_offset)
    assert bounds(queue) == (first, 10)
    assert names(disk) == files
    assert queue.append(10, *place(10))
    again = loaded(disk)
    again.drop_below(min(log_offset, 10_000))
    assert bounds(again) == (first, 11)


def test_hidden_files_are_handed_out_to_be_removed_later_and_never_the_last() -> None:
    disk = SimDisk()
    queue = filled(disk, 10)
    hidden = queue.hide_below(9000)
    assert [file.first_offset // UNIT_BYTES for file in hidden] == [0, 4]
    assert names(disk) == [0, 4, 8]
    assert bounds(queue) == (9, 10)
    assert queue.unit(8) is None
    assert queue.hide_below(9000) == []


def test_the_first_offset_never_goes_back_and_never_passes_the_last() -> None:
    queue = filled(SimDisk(), 6)
    for asked, first in [(2, 2), (1, 2), (5, 5), (100, 6), (0, 6)]:
        queue.hide_before(asked)
        assert bounds(queue) == (first, 6)


def test_a_queue_of_which_all_is_gone_keeps_its_place() -> None:
    disk = SimDisk()
    queue = filled(disk, 8)
    queue.drop_below(1 << 40)
    assert bounds(queue) == (8, 8)
    again = loaded(disk)
    again.drop_below(1 << 40)
    assert bounds(again) == (8, 8)
    assert again.append(8, *place(8))
    assert again.unit(8) == place(8)


# Syncing.


def test_only_files_written_since_the_last_checkpoint_are_synced() -> None:
    queue = filled(SimDisk(), 6)

    def unsynced() -> list[int]:
        return [file.first_offset // UNIT_BYTES for file in queue.take_unsynced_files()]

    assert unsynced() == [0, 4]
    queue.append(6, *place(6))
    assert unsynced() == [4]
    queue.append(7, *place(7))
    assert unsynced() == [4]
    queue.append(8, *place(8))
    assert unsynced() == [8]
    queue.truncate_to(2600, is_torn=False)
    assert unsynced() == [0]


def test_clearing_forgets_units_and_files() -> None:
    disk = SimDisk()
    queue = filled(disk, 9, 2)
    queue.clear()
    assert (bounds(queue), queue.next_offset, queue.log_end) == ((0, 0), 0, 0)
    assert names(disk) == []
    assert queue.is_dirty
    assert queue.append(0, 5, 100, 1)
    assert [file.first_offset for file in queue.take_unsynced_files()] == [0]


def test_without_room_for_a_file_a_unit_is_not_added_and_can_be_later() -> None:
    disk = SimDisk(capacity_bytes=FILE_UNITS * UNIT_BYTES)
    queue = filled(disk, FILE_UNITS)
    with pytest.raises(OSError, match="disk full"):
        queue.append(4, *place(4))
    assert bounds(queue) == (0, 4)
    disk.capacity_bytes *= 2
    assert queue.append(4, *place(4))
    assert queue.unit(4) == place(4)


# Room.


WIDE_UNITS = 20_000


def wide_queue(disk: SimDisk) -> ConsumeQueue:
    return ConsumeQueue(disk, FOLDER, b"Orders", 3, WIDE_UNITS)


def used(disk: SimDisk) -> int:
    space = disk.space("store")
    return space.total_bytes - space.free_bytes


def test_a_queue_of_one_message_takes_a_page_of_the_disk() -> None:
    disk = SimDisk()
    wide_queue(disk).append(0, *place(0))
    assert used(disk) == 4096
    assert disk.size(f"{FOLDER}/{0:020}") == WIDE_UNITS * UNIT_BYTES


def test_room_is_reserved_before_a_unit_is_written_wherever_it_stands() -> None:
    disk = SimDisk()
    queue = wide_queue(disk)
    for number in range(3 * 204):
        queue.append(number, *place(number))
        disk.observe()  # WriteIntoHole if it was not
    assert used(disk) == 16_384
    queue.append(15_000, *place(15_000))  # fillers
    disk.observe()
    again = wide_queue(disk)
    again.load(False)
    assert bounds(again) == (0, 15_001)
    again.truncate_to(place(300)[0], False)
    disk.observe()
    for number in range(300, 700):
        again.append(number, *place(number))
        disk.observe()


def test_a_loaded_queue_asks_for_room_again_even_where_a_power_cut_took_it() -> None:
    disk = SimDisk()
    disk.make_directory(FOLDER)
    queue = wide_queue(disk)
    for number in range(100):
        queue.append(number, *place(number))
    queue.sequence.files[0].disk_file.sync()
    disk.sync_directory(FOLDER)
    survivor = disk.power_cut()
    again = wide_queue(survivor)
    again.load(True)
    again.truncate_to(1 << 40, True)
    for number in range(100, 500):
        again.append(number, *place(number))
        survivor.observe()
    assert bounds(again) == (0, 500)


def test_without_room_for_the_next_units_none_is_added_and_later_it_is() -> None:
    disk = SimDisk(capacity_bytes=4096)
    queue = wide_queue(disk)
    for number in range(204):
        assert queue.append(number, *place(number))
    with pytest.raises(OSError, match="disk full"):
        queue.append(204, *place(204))
    assert bounds(queue) == (0, 204)
    disk.capacity_bytes = 8192
    assert queue.append(204, *place(204))
    disk.observe()


@pytest.mark.parametrize(
    "count", [0, 1, 2, 3, 7, 8, 9, 203, 204, 205, 1000, 19_999, 20_000, 20_001]
)
def test_loading_finds_the_end_of_queues_of_any_age(count: int) -> None:
    disk = SimDisk()
    queue = wide_queue(disk)
    for number in range(count):
        queue.append(number, *place(number))
    again = wide_queue(disk)
    again.load(False)
    assert bounds(again) == (0, count)
    assert again.append(count, *place(count))


def test_loading_a_young_queue_looks_at_its_begin_only() -> None:
    """What lies far behind is a hole, and looking at it would take memory."""
    disk = SimDisk()
    queue = wide_queue(disk)
    for number in range(3):
        queue.append(number, *place(number))
    file = queue.sequence.files[0]
    file.make_room(file.size)
    file.view[8 * 20 :] = b"\x01" * (file.size - 8 * 20)
    again = wide_queue(disk)
    again.load(False)
    assert bounds(again) == (0, 3)


def test_what_is_appended_is_counted_until_somebody_takes_the_count() -> None:
    queue = new_queue(SimDisk())
    queue.append(0, 0, 100, 0)
    queue.append(1, 100, 50, 0)
    assert not queue.append(1, 100, 50, 0)  # it has that already
    assert (queue.new_units, queue.new_bytes) == (2, 150)
    queue.new_units = queue.new_bytes = 0
    queue.append(5, 1000, 10, 0)  # the units between are fillers, and no messages
    assert (queue.new_units, queue.new_bytes) == (1, 10)


@pytest.mark.parametrize("offset", [1, 7, 8, 21])
def test_a_queue_without_units_goes_on_where_it_is_told_to_and_so_it_is_loaded(offset: int) -> None:
    disk = SimDisk()
    queue = ConsumeQueue(disk, "store/consumequeue/T/0", b"T", 0, 8)
    queue.begin_at(offset)
    assert (queue.min_offset, queue.max_offset, queue.next_offset) == (offset,) * 3
    loaded = ConsumeQueue(disk, "store/consumequeue/T/0", b"T", 0, 8)
    loaded.load(is_torn=False)
    assert loaded.max_offset == offset
    loaded.begin_at(3 * offset)
    assert loaded.max_offset == offset, "it has files"
    assert queue.append(offset, 1000, 100, 5)
    assert queue.unit(offset) == (1000, 100, 5)
    assert queue.unit(offset - 1) is None
