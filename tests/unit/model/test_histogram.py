from aerobee.model.histogram import Histogram


def test_a_value_belongs_to_the_first_bound_that_is_not_below_it() -> None:
    times = Histogram((1, 5, 10))
    for value in (0, 1, 2, 5, 10, 11):
        times.add(value)
    assert times.counts == [2, 2, 1, 1]
    assert times.cumulative() == [2, 4, 5, 6]


def test_sum_and_count_are_of_all_values() -> None:
    times = Histogram((1,))
    times.add(0.5, 4)
    times.add(100)
    assert times.sum == 102
    assert times.count == 5


def test_two_of_the_same_bounds_are_joined() -> None:
    one, other = Histogram((1, 5)), Histogram((1, 5))
    one.add(1, 2)
    other.add(7)
    both = one.joined(other)
    assert (both.counts, both.sum) == ([2, 0, 1], 9)
    assert (one.count, other.count) == (2, 1)
