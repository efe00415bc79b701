import pytest

from aerobee.service.broker.statistics.windows import SLOT_MS, Ring, Windows

MINUTE = 60_000
HOUR = 60 * MINUTE
BEGUN = 7 * HOUR  # nobody's clock begins at 0


def filled(*counts: tuple[int, int]) -> Windows:
    """Numbers by when they came."""
    windows = Windows()
    for ms, number in counts:
        windows.add((BEGUN + ms) // SLOT_MS, number)
    return windows


def test_what_came_just_now_is_in_every_window() -> None:
    past = filled((0, 5)).past(BEGUN + 2_000, BEGUN)
    assert [past.minute.sum, past.hour.sum, past.day.sum] == [5, 5, 5]


def test_a_minute_later_it_is_only_in_the_longer_ones() -> None:
    past = filled((0, 5), (MINUTE, 2)).past(BEGUN + MINUTE, BEGUN)
    assert [past.minute.sum, past.hour.sum, past.day.sum] == [2, 7, 7]


def test_an_hour_later_it_is_only_in_the_longest() -> None:
    past = filled((0, 5)).past(BEGUN + HOUR, BEGUN)
    assert [past.minute.sum, past.hour.sum, past.day.sum] == [0, 0, 5]


def test_after_a_day_there_is_nothing_left() -> None:
    past = filled((0, 5)).past(BEGUN + 24 * HOUR, BEGUN)
    assert past.day.sum == 0


def test_a_long_rest_leaves_nothing_of_before_however_long_it_is() -> None:
    windows = filled((0, 5))
    assert windows.past(BEGUN + 1000 * HOUR, BEGUN).day.sum == 0
    windows.add((BEGUN + 1000 * HOUR) // SLOT_MS, 3)
    assert windows.past(BEGUN + 1000 * HOUR, BEGUN).minute.sum == 3


def test_a_rate_is_over_what_has_passed_since_the_start() -> None:
    past = filled((0, 100)).past(BEGUN + 20_000, BEGUN)
    assert past.minute.tps == pytest.approx(5.0)
    assert past.day.tps == pytest.approx(5.0)


def test_a_steady_rate_is_the_same_in_every_window() -> None:
    windows = filled(*((ms, 30) for ms in range(0, 3 * HOUR, SLOT_MS)))
    past = windows.past(BEGUN + 3 * HOUR - 1, BEGUN)
    for stretch in past:
        assert stretch.tps == pytest.approx(3.0, rel=0.01)


def test_a_first_second_makes_no_wild_rate() -> None:
    assert filled((0, 10)).past(BEGUN, BEGUN).minute.tps == 10.0


def test_a_slot_that_comes_again_begins_empty() -> None:
    ring = Ring(6)
    ring.add(1, 5)
    ring.add(7, 2)
    assert ring.total(7) == 2
    assert ring.total(12) == 2
    assert ring.total(13) == 0
