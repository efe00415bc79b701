from aerobee.app.load.measure.histogram import LatencyHistogram


def test_percentiles_of_a_hundred_values_are_those_values() -> None:
    histogram = LatencyHistogram()
    for value in range(1, 101):
        histogram.record(value)
    found = [histogram.percentile(percent) for percent in (50, 90, 99, 99.9, 100)]
    assert found == [50, 90, 99, 100, 100]
    assert histogram.mean == 50.5


def test_a_value_may_be_recorded_many_times_at_once() -> None:
    histogram = LatencyHistogram()
    histogram.record(5, 3)
    histogram.record(1000)
    assert (histogram.count, histogram.total) == (4, 1015)
    assert histogram.percentile(75) == 5


def test_an_empty_one_has_nothing_to_say() -> None:
    histogram = LatencyHistogram()
    assert (histogram.percentile(99), histogram.mean, histogram.spread()) == (0, 0.0, [])


def test_time_that_runs_backwards_is_no_time() -> None:
    histogram = LatencyHistogram()
    histogram.record(-7)
    assert (histogram.smallest, histogram.largest, histogram.total) == (0, 0, 0)
