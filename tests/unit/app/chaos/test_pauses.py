import pytest

from aerobee.app.chaos.pauses import longest_pause, percentile


@pytest.mark.parametrize(
    ("acknowledged", "longest"),
    [
        ([], 10.0),
        ([5.0], 5.0),
        ([1.0, 2.0, 9.0, 9.5], 7.0),
        ([-7.0, 4.0, 30.0], 6.0),
        ([3.0, 30.0, 31.0], 7.0),
    ],
)
def test_the_longest_pause_is_within_the_two_moments(
    acknowledged: list[float], longest: float
) -> None:
    assert longest_pause(acknowledged, 0.0, 10.0) == longest


def test_of_few_values_the_largest_is_the_99th_percentile() -> None:
    assert percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert percentile([3.0, 1.0, 2.0], 99) == 3.0
    assert percentile([float(one) for one in range(1, 201)], 99) == 198.0
    assert percentile([], 99) == 0.0
