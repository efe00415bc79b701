from aerobee.service.broker.metrics.sample_bounds import OVERFLOW_LABELS, bounded

VALUES = [({"n": str(number)}, float(number)) for number in range(1, 6)]


def test_few_samples_stay_as_they_are() -> None:
    assert list(bounded(VALUES, 6)) == VALUES
    assert list(bounded([], 1)) == []


def test_those_beyond_the_bound_are_one_together() -> None:
    found = list(bounded(VALUES, 3))
    assert found[:2] == VALUES[:2]
    assert found[2:] == [(OVERFLOW_LABELS, 12.0)]


def test_times_are_not_added_up() -> None:
    assert list(bounded(VALUES, 2, max))[-1] == (OVERFLOW_LABELS, 5.0)
