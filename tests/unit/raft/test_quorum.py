"""Numbers that a majority has reached."""

import pytest

from aerobee.raft.quorum import reached_by


@pytest.mark.parametrize(
    ("values", "quorum", "reached"),
    [([5], 1, 5), ([5, 9], 2, 5), ([1, 9, 5], 2, 5), ([3, 3, 9, 9, 9], 3, 9), ([1, 2, 3, 4], 3, 2)],
)
def test_as_many_values_as_a_quorum_reach_it(values: list[int], quorum: int, reached: int) -> None:
    assert reached_by(values, quorum) == reached
