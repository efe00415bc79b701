from collections.abc import Sequence

from aerobee.ports.clock import Now
from aerobee.service.broker.delay.delay_level import DelayLevel
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.consume_queue import ConsumeQueue

WALL = 1_700_000_000_000
DELAY_MS = 10_000
MANY = 1 << 30


def queue_of(stored_ms: Sequence[int]) -> ConsumeQueue:
    """A schedule queue of messages stored at these times, given from WALL on."""
    queue = ConsumeQueue(SimDisk(), "q", b"SCHEDULE_TOPIC_XXXX", 2, 100)
    for number, stored in enumerate(stored_ms):
        queue.append(number, 100 * number, 100, WALL + stored + DELAY_MS)
    queue.next_offset = len(stored_ms)
    return queue


def at(monotonic_ms: int, step_ms: int = 0) -> Now:
    """So long after WALL; the wall clock was set by so much."""
    return Now(WALL + monotonic_ms + step_ms, monotonic_ms)


def test_a_message_is_due_when_the_clock_shows_the_time_in_its_unit_and_not_before() -> None:
    level, queue = DelayLevel(3, DELAY_MS), queue_of([0, 5])
    level.mark(2, 5)
    assert level.due_end(queue, MANY, at(DELAY_MS - 1)) == 0
    assert level.due_end(queue, MANY, at(DELAY_MS)) == 1
    assert level.due_end(queue, MANY, at(DELAY_MS + 5)) == 2


def test_no_more_are_due_than_are_asked_for() -> None:
    level, queue = DelayLevel(3, DELAY_MS), queue_of([0] * 10)
    assert level.due_end(queue, 4, at(DELAY_MS)) == 4
    level.mark(10, 0)
    level.mark(10, 2 * DELAY_MS)
    assert level.due_end(queue, 4, at(2 * DELAY_MS)) == 4


def test_what_was_stored_before_the_clock_was_set_forward_waits_for_its_mark() -> None:
    level, queue = DelayLevel(3, DELAY_MS), queue_of([0])
    level.mark(1, 7)
    level.distrusted_to = 1
    hour = 3_600_000
    assert level.due_end(queue, MANY, at(100, hour)) == 0
    level.mark(1, 7 + DELAY_MS - 1)
    assert level.due_end(queue, MANY, at(7 + DELAY_MS - 1, hour)) == 0
    level.mark(1, 7 + DELAY_MS)
    assert level.due_end(queue, MANY, at(7 + DELAY_MS, hour)) == 1


def test_what_was_stored_after_it_goes_by_the_clock_again() -> None:
    level, queue = DelayLevel(3, DELAY_MS), queue_of([0, 3_600_100])
    level.distrusted_to = 1
    level.mark(1, 50)
    level.mark(2, 150)
    level.mark(2, 50 + DELAY_MS)
    now = at(50 + DELAY_MS + 50, 3_600_000)
    assert now.wall_ms == WALL + 3_600_100 + DELAY_MS
    assert level.due_end(queue, MANY, now) == 2


def test_a_clock_that_was_set_back_makes_nothing_late() -> None:
    level, queue = DelayLevel(3, DELAY_MS), queue_of([0])
    level.mark(1, 7)
    level.mark(1, 7 + DELAY_MS)
    assert level.due_end(queue, MANY, at(7 + DELAY_MS, -3_600_000)) == 1


def test_what_an_earlier_process_stored_is_due_after_one_delay_whatever_its_unit_says() -> None:
    level, queue = DelayLevel(3, DELAY_MS), queue_of([10**12])
    level.mark(1, 0)
    level.mark(1, DELAY_MS - 1)
    assert level.due_end(queue, MANY, at(DELAY_MS - 1)) == 0
    level.mark(1, DELAY_MS)
    assert level.due_end(queue, MANY, at(DELAY_MS)) == 1


def test_marks_stay_few_however_many_messages_come() -> None:
    level = DelayLevel(18, 7_200_000)
    for ms in range(0, 7_200_000, 500):
        level.mark(ms + 1, ms)
    assert len(level._marks) <= 257


def test_a_mark_speaks_only_of_what_was_stored_by_then() -> None:
    level, queue = DelayLevel(3, DELAY_MS), queue_of([0, 10**12])
    level.mark(1, 0)
    level.mark(2, 5_000)
    level.mark(2, DELAY_MS)
    assert level.due_end(queue, MANY, at(DELAY_MS)) == 1
    level.mark(2, DELAY_MS + 5_000)
    assert level.due_end(queue, MANY, at(DELAY_MS + 5_000)) == 2


def test_how_long_until_something_is_due() -> None:
    level, queue = DelayLevel(3, DELAY_MS), queue_of([0, 10**12])
    assert level.ms_to_due(queue, at(400)) == DELAY_MS - 400
    level.offset = 1
    level.mark(2, 1_000)
    assert level.ms_to_due(queue, at(1_400)) == DELAY_MS - 400
    level.offset = 2
    assert level.ms_to_due(queue, at(1_400)) is None


def test_an_offset_is_safe_once_its_deliveries_are_on_the_disk() -> None:
    level = DelayLevel(3, DELAY_MS)
    level.offset = 5
    level.note_delivered(1_000)
    level.offset = 7
    level.note_delivered(2_000)
    level.note_flushed(999)
    assert level.safe_offset == 0
    level.note_flushed(1_000)
    assert level.safe_offset == 5
    level.note_flushed(2_500)
    assert level.safe_offset == 7


def test_a_level_that_is_moved_forgets_what_it_waited_for() -> None:
    level = DelayLevel(3, DELAY_MS)
    level.offset = 5
    level.note_delivered(1_000)
    level.move_to(2)
    level.note_flushed(1_000)
    assert (level.offset, level.safe_offset) == (2, 2)
