import sys

from aerobee.replication.log_growth import LEVELS, MARKS_A_LEVEL, LogGrowth

DAY_MS = 86_400_000


def grown(marks: "list[tuple[int, int]]") -> LogGrowth:
    growth = LogGrowth()
    for end, ms in marks:
        growth.note(end, ms)
    return growth


def test_lag_is_the_time_since_the_log_grew_beyond_an_offset() -> None:
    growth = grown([(100, 10), (200, 20), (300, 35)])
    assert growth.lag_ms(300, 40) == 0
    assert growth.lag_ms(299, 40) == 5
    assert growth.lag_ms(200, 40) == 5
    assert growth.lag_ms(199, 40) == 20
    assert growth.lag_ms(0, 40) == 30


def test_growth_within_one_millisecond_is_one_mark() -> None:
    growth = grown([(100, 10), (200, 10), (150, 12)])
    assert growth.lag_ms(199, 15) == 5
    assert growth.lag_ms(200, 15) == 0


def test_a_lag_of_any_length_is_told_within_seven_percent_and_never_too_long() -> None:
    growth = LogGrowth()
    # A byte a millisecond for ten minutes.
    now_ms = 600_000
    for ms in range(1, now_ms + 1):
        growth.note(ms, ms)
    for lag_ms in (1, 2, 7, 30, 100, 999, 10_000, 60_000, 500_000):
        told = growth.lag_ms(now_ms - lag_ms, now_ms)
        real = lag_ms - 1
        assert 0.93 * real - 2 <= told <= real


def test_an_idle_log_that_grows_once_a_minute_is_remembered_for_a_day() -> None:
    growth = grown([(minute, minute * 60_000) for minute in range(1, 1_441)])
    assert growth.lag_ms(0, DAY_MS) >= 0.9 * DAY_MS


def test_the_memory_is_bounded() -> None:
    growth = LogGrowth()
    for ms in range(200_000):
        growth.note(ms + 1, ms * 1_000)
    assert sum(map(len, growth._levels)) <= LEVELS * MARKS_A_LEVEL
    assert sys.getsizeof(growth._levels[0]) < 2_000


def test_nothing_is_behind_a_log_that_was_forgotten() -> None:
    growth = grown([(100, 10)])
    growth.forget()
    assert growth.lag_ms(0, 50) == 0
