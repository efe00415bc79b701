"""A consume queue of inner batches: its bytes, look-ups by halving, retention and crashes."""

import struct

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.storage.index.batch_consume_queue import UNIT_BYTES, BatchConsumeQueue, BatchUnit

FOLDER = "store/batchconsumequeue/Orders/3"
FILE_UNITS = 4
START = 1_700_000_000_000


def new_queue(disk: SimDisk) -> BatchConsumeQueue:
    return BatchConsumeQueue(disk, FOLDER, b"Orders", 3, FILE_UNITS)


def loaded(disk: SimDisk, *, is_torn: bool = False) -> BatchConsumeQueue:
    queue = new_queue(disk)
    queue.load(is_torn)
    return queue


def unit(number: int) -> BatchUnit:
    """Unit `number`: three, four or five messages from queue offset 5·number on."""
    return BatchUnit(1000 * number, 900, 77, START + 10 * number, 5 * number, 3 + number % 3)


def append(queue: BatchConsumeQueue, number: int) -> bool:
    return queue.append(*unit(number))


def filled(disk: SimDisk, count: int) -> BatchConsumeQueue:
    queue = new_queue(disk)
    for number in range(count):
        assert append(queue, number)
    return queue


def contents(disk: SimDisk) -> dict[str, bytes]:
    return {name: disk.read(f"{FOLDER}/{name}") for name in disk.list_directory(FOLDER)}


def state(queue: BatchConsumeQueue) -> tuple[int, int, int]:
    return queue.min_offset, queue.max_offset, queue.log_end


def test_a_unit_has_the_46_bytes_that_rocketmq_reads() -> None:
    disk = SimDisk()
    queue = new_queue(disk)
    queue.append(0x0102, 0x0304, -5, START, 0x0506, 0x07)
    content = contents(disk)["00000000000000000000"]
    assert len(content) == FILE_UNITS * UNIT_BYTES
    assert struct.unpack_from(">qiqqqhii", content) == (0x0102, 0x0304, -5, START, 0x0506, 7, -1, 0)
    assert not any(content[UNIT_BYTES:])


def test_files_are_named_by_the_byte_at_which_they_begin() -> None:
    disk = SimDisk()
    filled(disk, 9)
    assert list(contents(disk)) == [f"{184 * number:020}" for number in range(3)]


def test_every_message_is_found_in_its_record_and_nothing_in_the_gaps() -> None:
    queue = filled(SimDisk(), 13)
    assert state(queue) == (0, 63, 12_900)
    for queue_offset in range(-2, 70):
        number = queue_offset // 5
        in_unit = 0 <= number < 13 and queue_offset % 5 < 3 + number % 3
        assert queue.find(queue_offset) == (unit(number) if in_unit else None)


def test_an_empty_queue_finds_nothing() -> None:
    queue = new_queue(SimDisk())
    assert queue.find(0) is None
    assert queue.first_since(0) == 0
    assert state(queue) == (0, 0, 0)


def test_a_queue_may_begin_at_any_offset() -> None:
    disk = SimDisk()
    queue = new_queue(disk)
    assert append(queue, 7)
    assert (queue.min_offset, queue.max_offset) == (35, 39)
    assert queue.find(34) is None
    assert queue.find(35) == unit(7)
    assert list(contents(disk)) == ["00000000000000000000"], "places say nothing about offsets"


def test_the_first_message_since_a_time_is_that_of_the_first_record_since_then() -> None:
    queue = filled(SimDisk(), 9)
    assert queue.first_since(0) == 0
    assert queue.first_since(START + 10) == 5
    assert queue.first_since(START + 11) == 10
    assert queue.first_since(START + 81) == queue.max_offset


def test_a_record_appended_again_changes_nothing() -> None:
    disk = SimDisk()
    queue = filled(disk, 9)
    before = contents(disk)
    for number in range(9):
        assert not append(queue, number)
    assert not queue.append(9000, 900, 0, START, 12, 3), "a base that is taken"
    assert not queue.append(8899, 900, 0, START, 0, 3), "a topic made anew, but before its end"
    assert contents(disk) == before
    assert state(queue) == (0, 45, 8900)


def test_a_topic_made_anew_begins_again() -> None:
    disk = SimDisk()
    queue = filled(disk, 9)
    assert queue.append(50_000, 900, 0, START, 0, 2)
    assert state(queue) == (0, 2, 50_900)
    assert queue.find(5) is None
    assert list(contents(disk)) == ["00000000000000000000"]


@pytest.mark.parametrize(
    ("size", "base_offset", "message_count"),
    [(0, 0, 1), (1 << 31, 0, 1), (9, -1, 1), (9, 1 << 62, 1), (9, 0, 0), (9, 0, 32768)],
)
def test_numbers_that_no_unit_can_hold_leave_no_unit(
    size: int, base_offset: int, message_count: int
) -> None:
    disk = SimDisk()
    queue = new_queue(disk)
    assert not queue.append(0, size, 0, START, base_offset, message_count)
    assert contents(disk) == {}
    assert state(queue) == (0, 0, 0)


def test_a_loaded_queue_is_the_one_that_was_closed() -> None:
    for count in range(13):
        disk = SimDisk()
        queue = filled(disk, count)
        queue.sequence.close()
        again = loaded(disk)
        assert state(again) == state(queue)
        assert not again.is_dirty
        assert append(again, count)
        straight = SimDisk()
        filled(straight, count + 1)
        assert contents(disk) == contents(straight)


def test_truncating_leaves_the_queue_as_it_was() -> None:
    for kept in range(13):
        straight = SimDisk()
        expected = filled(straight, kept)
        for is_torn in (False, True):
            for log_offset in (1000 * kept - 100, 1000 * kept):
                disk = SimDisk()
                queue = filled(disk, 12)
                queue.truncate_to(log_offset, is_torn)
                assert state(queue)[1:] == (state(expected)[1:] if kept < 12 else (60, 11_900))
                if kept < 12:
                    assert contents(disk) == contents(straight)


def test_what_a_crash_left_beyond_a_hole_is_cleared() -> None:
    disk = SimDisk()
    queue = filled(disk, 1)
    expected = contents(disk)
    queue.sequence.files[0].view[3 * UNIT_BYTES + 10] = 7
    again = loaded(disk, is_torn=True)
    again.truncate_to(1000, True)
    assert contents(disk) == expected
    assert again.is_dirty


def test_truncating_below_the_begin_leaves_an_empty_queue_that_knows_its_place() -> None:
    queue = filled(SimDisk(), 12)
    queue.drop_below(6000)
    queue.truncate_to(3000, False)
    assert state(queue) == (30, 30, 0)
    assert queue.find(30) is None


@pytest.mark.parametrize(("kept", "count"), [(0, 3), (3, 5), (4, 9), (5, 6)])
def test_every_power_cut_leaves_exactly_the_records_before_the_mark(kept: int, count: int) -> None:
    disk = SimDisk()
    disk.make_directory(FOLDER)
    queue = filled(disk, kept)
    for file in queue.sequence.files:
        file.disk_file.sync()
    if kept:
        disk.sync_directory(FOLDER)
    for number in range(kept, count):
        append(queue, number)
        disk.observe()
    straight = SimDisk()
    filled(straight, count)
    for crashed in disk.crash_states(random_count=8):
        again = loaded(crashed, is_torn=True)
        again.truncate_to(1000 * kept, True)
        assert state(again) == (0, state(filled(SimDisk(), kept))[1], max(0, 1000 * kept - 100))
        for number in range(max(0, kept - 2), count):
            append(again, number)
        assert contents(crashed) == contents(straight), crashed.origin


def test_dropping_raises_the_begin_and_removes_emptied_files_but_not_the_last() -> None:
    disk = SimDisk()
    queue = filled(disk, 12)
    queue.drop_below(5001)
    assert state(queue) == (30, 60, 11_900)
    assert queue.find(29) is None
    assert queue.find(30) == unit(6)
    assert list(contents(disk)) == [f"{184 * number:020}" for number in (1, 2)]
    queue.drop_below(1 << 40)
    assert state(queue) == (60, 60, 11_900)
    assert list(contents(disk)) == [f"{184 * 2:020}"]
    assert append(queue, 12)
    assert state(queue) == (60, 63, 12_900)
    again = loaded(disk)
    again.drop_below(12_000)
    assert state(again) == state(queue)


def test_a_cleared_queue_has_no_files() -> None:
    disk = SimDisk()
    queue = filled(disk, 9)
    queue.clear()
    assert contents(disk) == {}
    assert state(queue) == (0, 0, 0)


@pytest.mark.parametrize("log_offset", [0, 1, 1000, 1001, 4999, 5001, 99_000])
def test_where_it_would_end_is_where_it_ends_once_it_is_cut(log_offset: int) -> None:
    queue = filled(SimDisk(), 6)
    before = state(queue)
    end = queue.end_at(log_offset)
    assert state(queue) == before
    queue.truncate_to(log_offset, is_torn=False)
    assert queue.max_offset == end
