"""Load tests: nothing is lost between recording and showing, whatever is measured."""

from hypothesis import given
from hypothesis import strategies as st

from aerobee.app.load.measure.histogram import (
    LatencyHistogram,
    bucket_of,
    from_json,
    last_of,
    merged,
)
from aerobee.app.load.run.rate_search import RateSearch
from aerobee.app.load.worker.tally import Tally
from aerobee.app.load.workload.schedule import SECOND_NS, Schedule, shares, unsent_waits

_values = st.integers(0, 10**13)
_lists = st.lists(_values, max_size=80)


def recorded(values: list[int]) -> LatencyHistogram:
    histogram = LatencyHistogram()
    for value in values:
        histogram.record(value)
    return histogram


@given(_values)
def test_a_value_is_in_a_bucket_of_three_digits(value: int) -> None:
    place = bucket_of(value)
    assert value <= last_of(place)
    assert place == 0 or last_of(place - 1) < value
    assert last_of(place) - value <= value / 1024


@given(st.lists(_lists, max_size=4))
def test_merged_is_the_same_as_recorded_in_one(parts: list[list[int]]) -> None:
    whole = recorded([value for part in parts for value in part])
    together = merged(from_json(recorded(part).to_json()) for part in parts)
    assert together.to_json() == whole.to_json()


@given(_lists.filter(bool), st.integers(1, 100))
def test_a_percentile_is_the_true_one_to_three_digits(values: list[int], percent: int) -> None:
    true = sorted(values)[-(-len(values) * percent // 100) - 1]
    found = recorded(values).percentile(percent)
    assert true <= found <= true * (1 + 1 / 1024)


@given(_lists)
def test_count_sum_and_ends_are_exact(values: list[int]) -> None:
    histogram = recorded(values)
    assert (histogram.count, histogram.total) == (len(values), sum(values))
    assert histogram.smallest == min(values, default=0)
    assert histogram.largest == max(values, default=0)
    assert sum(times for _, times in histogram.spread()) == len(values)


_rates = st.floats(0.5, 2e6)


@given(st.integers(0, 10**15), _rates, st.integers(1, 8), st.integers(0, 5000))
def test_nothing_is_due_early_and_nothing_twice(
    start: int, rate: float, workers: int, number: int
) -> None:
    schedules = [Schedule(start, rate, share, workers) for share in range(workers)]
    for schedule in schedules:
        due = schedule.due(number)
        assert schedule.due_count(due) >= number + 1
        assert schedule.due_count(due - 1) <= number
    dues = sorted(schedule.due(number) for schedule in schedules)
    assert dues == [schedule.due(number) for schedule in schedules]
    assert dues[-1] <= schedules[0].due(number + 1)


@given(_rates, st.integers(0, 3000), st.floats(0.01, 30))
def test_what_was_never_sent_is_all_that_was_due_and_not_given(
    rate: float, first: int, seconds: float
) -> None:
    schedule = Schedule(0, rate)
    end = round(seconds * SECOND_NS)
    waits = list(unsent_waits(schedule, first, 0, end))
    assert sum(times for _, times in waits) == max(0, schedule.due_count(end - 1) - first)
    assert all(0 < wait <= end for wait, _ in waits)
    assert len(waits) <= 1001


@given(st.integers(0, 10**6), st.integers(1, 50))
def test_shares_are_even_and_complete(whole: int, parts: int) -> None:
    found = shares(whole, parts)
    assert sum(found) == whole
    assert len(found) == parts
    assert max(found) - min(found) <= 1


@given(st.floats(1, 1e6), st.floats(1, 1e6), st.floats(1, 1e6), st.sampled_from((0.02, 0.1, 0.5)))
def test_a_search_finds_the_highest_rate_that_holds(
    first: float, highest: float, truth: float, precision: float
) -> None:
    search = RateSearch(first, highest=highest, precision=precision, tries_max=60)
    tried: list[float] = []
    while (rate := search.next_rate()) is not None:
        tried.append(rate)
        search.tell(rate <= truth)
    assert all(rate <= highest for rate in tried)
    assert len(tried) <= 60
    if search.found is None:
        assert truth < min(tried)
        assert min(tried) / 2 < max(1.0, min(tried))
    else:
        assert search.found <= truth
        assert search.found == highest or truth <= search.found * (1 + precision) * 1.001


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(1, 9), st.booleans()), max_size=40))
def test_intervals_add_up_to_the_whole(sends: list[tuple[int, int, bool]]) -> None:
    tally = Tally(5)
    messages = latencies = 0
    for due, count, is_asked in sends:
        tally.done(due, due + 1, due + 3, count, count * 10)
        if is_asked:
            said = tally.take_interval()
            messages += said["messages"]
            latencies += said["latency"]["count"]
    said = tally.take_interval()
    messages += said["messages"]
    latencies += said["latency"]["count"]
    counted = sum(count for due, count, _ in sends if due >= 5)
    assert messages == latencies == tally.messages == tally.latency.count == counted
    assert tally.bytes == counted * 10
