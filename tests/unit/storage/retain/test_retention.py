"""The log files that may go: by which clock they are old, and what still needs them."""

import pytest

from aerobee.ports.clock import Now
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.retain.retention import CLOCK_SETTLE_MS, AgeClock, LogRetention

SIZE = 4096
DAY_MS = 86_400_000
HOUR_MS = 3_600_000
START = 1_700_000_000_000
YEAR_2106 = 4_294_967_296_000


def log_of(file_count: int, first: int = 0) -> FileSequence:
    log = FileSequence(SimDisk(), "store/commitlog", SIZE)
    for number in range(first, first + file_count):
        log.create(number * SIZE)
    return log


def settled_clock(clock: SimClock) -> AgeClock:
    """A clock that was started now and is believed from now on."""
    age_clock = AgeClock()
    age_clock.time_ms(clock.now())
    clock.advance(CLOCK_SETTLE_MS)
    return age_clock


# The clock.


def test_in_the_first_minute_after_a_start_nothing_has_an_age() -> None:
    clock = SimClock()
    age_clock = AgeClock()
    assert age_clock.time_ms(clock.now()) is None
    assert age_clock.time_ms(clock.advance(CLOCK_SETTLE_MS - 1)) is None
    assert age_clock.time_ms(clock.advance(1)) == clock.now().wall_ms


def test_both_clocks_together_give_the_wall_time() -> None:
    clock = SimClock(START)
    age_clock = settled_clock(clock)
    assert age_clock.time_ms(clock.advance(5)) == START + CLOCK_SETTLE_MS + 5


@pytest.mark.parametrize("jump_ms", [1, HOUR_MS, DAY_MS, YEAR_2106 - START])
def test_a_jump_forward_is_not_believed(jump_ms: int) -> None:
    clock = SimClock(START)
    age_clock = settled_clock(clock)
    clock.jump_wall(jump_ms)
    assert age_clock.time_ms(clock.now()) == START + CLOCK_SETTLE_MS
    assert age_clock.time_ms(clock.advance(HOUR_MS)) == START + CLOCK_SETTLE_MS + HOUR_MS


@pytest.mark.parametrize("jump_ms", [1, HOUR_MS, START])
def test_a_jump_back_is_believed_and_a_return_from_it_too(jump_ms: int) -> None:
    clock = SimClock(START)
    age_clock = settled_clock(clock)
    clock.jump_wall(-jump_ms)
    assert age_clock.time_ms(clock.now()) == START + CLOCK_SETTLE_MS - jump_ms
    clock.jump_wall(jump_ms)
    assert age_clock.time_ms(clock.now()) == START + CLOCK_SETTLE_MS


def test_a_wrong_clock_at_the_start_that_is_set_right_in_a_minute_did_no_harm() -> None:
    clock = SimClock(START + DAY_MS)
    age_clock = AgeClock()
    assert age_clock.time_ms(clock.now()) is None
    clock.advance(CLOCK_SETTLE_MS // 2)
    clock.jump_wall(-DAY_MS)
    assert age_clock.time_ms(clock.advance(CLOCK_SETTLE_MS)) == clock.now().wall_ms


def test_the_first_call_starts_the_clock() -> None:
    age_clock = AgeClock()
    assert age_clock.time_ms(Now(START, 1_000_000_000)) is None


# What is needed.


def test_a_log_of_one_file_or_none_has_nothing_to_remove() -> None:
    for count in (0, 1):
        retention = LogRetention(log_of(count), 1, lambda offset: 0)
        assert retention.removable(1 << 40) is None


def test_the_oldest_file_may_go_once_the_record_behind_it_is_safe() -> None:
    log = log_of(3, first=2)
    retention = LogRetention(log, 1, lambda offset: 0)
    end = 3 * SIZE
    for safe_to in (0, end - 1, end):
        assert retention.removable(safe_to) is None
    assert retention.removable(end + 1) is log.files[0]


# What is old.


def test_a_file_is_as_old_as_the_first_record_of_the_next() -> None:
    log = log_of(3)
    times = {0: START, SIZE: START + 1000, 2 * SIZE: START + 9000}
    retention = LogRetention(log, 500, times.get)
    assert not retention.is_expired(log.files[0], START + 1499)
    assert retention.is_expired(log.files[0], START + 1500)
    assert not retention.is_expired(log.files[1], START + 9499)
    assert retention.is_expired(log.files[1], START + 9500)


def test_a_file_from_the_future_is_not_old() -> None:
    log = log_of(2)
    retention = LogRetention(log, 500, lambda offset: YEAR_2106)
    assert not retention.is_expired(log.files[0], START)


def test_a_file_of_unknown_age_is_kept() -> None:
    log = log_of(2)
    assert not LogRetention(log, 500, lambda offset: None).is_expired(log.files[0], START)
    assert not LogRetention(log, 500, lambda offset: 0).is_expired(log.files[0], None)


def test_the_record_behind_a_file_is_read_once() -> None:
    log = log_of(2)
    asked: list[int] = []

    def store_timestamp_at(offset: int) -> int:
        asked.append(offset)
        return START

    retention = LogRetention(log, 500, store_timestamp_at)
    for later in range(5):
        retention.is_expired(log.files[0], START + later)
    assert asked == [SIZE]


def test_another_time_counts_from_now_on() -> None:
    log = log_of(2)
    retention = LogRetention(log, DAY_MS, lambda offset: START)
    assert not retention.is_expired(log.files[0], START + HOUR_MS)
    retention.set(HOUR_MS)
    assert retention.is_expired(log.files[0], START + HOUR_MS)
    assert not retention.is_expired(log.files[0], START + HOUR_MS - 1)
