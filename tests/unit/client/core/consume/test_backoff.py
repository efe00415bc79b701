import pytest

from aerobee.client.core.consume.backoff import Backoff, level_for, pop_seconds
from aerobee.errors import Misuse


def test_delays_grow_up_to_the_longest() -> None:
    assert [Backoff(1, 10).seconds(attempt) for attempt in range(1, 7)] == [1, 2, 4, 8, 10, 10]
    assert Backoff(3, 100, factor=1).seconds(50) == 3
    assert Backoff(0, 100).seconds(50) == 0
    assert Backoff(1, 7200).seconds(10_000) == 7200


@pytest.mark.parametrize("wrong", [(5, 1, 2), (-1, 1, 2), (1, 2, 0.5), (1, float("inf"), 2)])
def test_what_does_not_grow_is_refused(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(Misuse, match="does not grow"):
        Backoff(*wrong)


@pytest.mark.parametrize(
    ("seconds", "level"),
    [(0, 1), (1, 1), (1.5, 2), (5, 2), (30, 4), (31, 5), (7200, 18), (100_000, 18)],
)
def test_a_delay_becomes_the_level_that_is_not_shorter(seconds: float, level: int) -> None:
    assert level_for(seconds) == level


def test_popped_messages_stay_away_longer_each_time() -> None:
    assert [pop_seconds(attempt) for attempt in (1, 2, 16, 40)] == [10, 30, 7200, 7200]
