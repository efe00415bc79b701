"""The place of a time in a queue, against looking at every message."""

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.read.time_search import Boundary, offset_by_time

LOWER, UPPER = Boundary.LOWER, Boundary.UPPER


def queue_of(*queue_offsets: int) -> ConsumeQueue:
    """Messages at 100 times their number in the log."""
    queue = ConsumeQueue(SimDisk(), "queue", b"T", 0, 4)
    for number, queue_offset in enumerate(queue_offsets):
        assert queue.append(queue_offset, 100 * number, 50, 0)
    return queue


def search(queue: ConsumeQueue, stamps: list[int | None], time_ms: int, boundary: Boundary) -> int:
    def stored_at(log_offset: int) -> int | None:
        assert log_offset % 100 == 0, "asked about something that is no record"
        return stamps[log_offset // 100]

    return offset_by_time(queue, time_ms, boundary, stored_at)


@pytest.mark.parametrize("boundary", Boundary)
def test_an_empty_queue_answers_its_only_offset(boundary: Boundary) -> None:
    queue = queue_of()
    assert search(queue, [], 5, boundary) == 0
    queue = queue_of(*range(6))
    queue.hide_before(6)
    assert search(queue, [1, 2, 3, 4, 5, 6], 3, boundary) == 6


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_a_time_is_found_as_by_looking_at_every_message(count: int) -> None:
    queue = queue_of(*range(count))
    stamps: list[int | None] = [10 * (number // 2 + 1) for number in range(count)]
    for time_ms in range(10 * count + 30):
        at_or_after = [
            n for n, stamp in enumerate(stamps) if stamp is not None and stamp >= time_ms
        ]
        at_or_before = [
            n for n, stamp in enumerate(stamps) if stamp is not None and stamp <= time_ms
        ]
        lower = at_or_after[0] if at_or_after else count
        upper = at_or_before[-1] if at_or_before else 0
        assert search(queue, stamps, time_ms, LOWER) == lower
        assert search(queue, stamps, time_ms, UPPER) == upper


def test_answers_stay_within_what_is_visible() -> None:
    queue = queue_of(*range(8))
    queue.hide_before(5)
    stamps: list[int | None] = list(range(10, 90, 10))
    assert search(queue, stamps, 0, LOWER) == 5
    assert search(queue, stamps, 0, UPPER) == 5
    assert search(queue, stamps, 70, LOWER) == 6
    assert search(queue, stamps, 75, UPPER) == 6
    assert search(queue, stamps, 1000, LOWER) == 8
    assert search(queue, stamps, 1000, UPPER) == 7


def test_a_record_that_retention_just_took_counts_as_older_than_the_rest() -> None:
    queue = queue_of(*range(5))
    stamps: list[int | None] = [None, None, 30, 40, 50]
    assert search(queue, stamps, 1, LOWER) == 2
    assert search(queue, stamps, 40, LOWER) == 3
    assert search(queue, stamps, 29, UPPER) == 1


def test_a_gap_counts_as_stored_with_the_record_before_it() -> None:
    queue = queue_of(0, 1, 6, 7)
    stamps: list[int | None] = [10, 20, 30, 40]
    assert search(queue, stamps, 10, LOWER) == 0
    assert search(queue, stamps, 20, LOWER) == 1
    assert search(queue, stamps, 21, LOWER) == 6
    assert search(queue, stamps, 30, LOWER) == 6
    assert search(queue, stamps, 20, UPPER) == 5
    assert search(queue, stamps, 30, UPPER) == 6


def test_fillers_without_a_record_before_them_are_older_than_any() -> None:
    disk = SimDisk()
    ConsumeQueue(disk, "queue", b"T", 0, 4).append(6, 0, 50, 0)
    queue = ConsumeQueue(disk, "queue", b"T", 0, 4)
    queue.load(is_torn=False)
    queue.append(7, 100, 50, 0)
    assert queue.min_offset == 4, "nobody has told it yet where the log begins"
    stamps: list[int | None] = [10, 20]
    assert search(queue, stamps, 5, LOWER) == 6
    assert search(queue, stamps, 15, LOWER) == 7
