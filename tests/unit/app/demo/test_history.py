from aerobee.app.demo.figures import Figures
from aerobee.app.demo.history import COLUMN_SECONDS, COLUMNS, History


def seen(*figures: tuple[float, int]) -> History:
    """Moments, and how many messages waited then."""
    history = History()
    for seconds, count in figures:
        history.add(Figures(seconds, {}, {}, count, 0))
    return history


def count(figures: Figures) -> int:
    return figures.delayed


def test_a_rate_is_what_passed_in_the_last_two_seconds() -> None:
    history = seen((0, 0), (0.5, 100), (1, 100), (1.5, 120), (2, 140), (2.5, 160), (3, 180))
    assert history.rate(count) == 40
    assert history.last.seconds == 3


def test_moments_that_are_far_apart_have_a_rate_too() -> None:
    assert seen((0, 0), (5, 100)).rate(count) == 20
    assert seen((0, 0), (0.5, 5)).rate(count) == 10
    assert seen((0, 7)).rate(count) == 0


def test_a_count_that_went_back_is_no_rate() -> None:
    assert seen((0, 100), (2, 0)).rate(count) == 0


def test_a_column_of_rates_goes_from_the_end_of_the_one_before() -> None:
    history = seen((0, 0), (1, 10), (2, 20), (3, 40), (4, 60), (5, 60))
    assert history.rates(count) == [10, 15, 10]


def test_a_column_of_levels_is_their_average() -> None:
    assert seen((0, 10), (1, 30), (2, 7), (3, 9), (4, 1)).levels(count) == [20, 8, 1]


def test_there_are_never_more_columns_than_fit() -> None:
    moments = [(second / 2, second) for second in range(400)]
    history = seen(*moments)
    assert len(history.levels(count)) == len(history.rates(count)) == COLUMNS
    assert history.rates(count) == [2.0] * COLUMNS
    assert COLUMNS * COLUMN_SECONDS == 40
