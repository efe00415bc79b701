from typing import Any

from aerobee.app.load.result.series import Series
from tests.load_kit import histogram


def tick(number: int, messages: int, **more: int) -> dict[str, Any]:
    latency = histogram(*[1.0] * messages).to_json()
    return {
        "number": number,
        "messages": messages,
        "bytes": messages * 10,
        "errors": 0,
        "latency": latency,
        **more,
    }


def test_a_second_is_told_when_all_have_told_of_it() -> None:
    series = Series(2, 0, is_timing_arrival=False)
    for number in range(4):
        series.hear(0, tick(number, 5))
    assert series.take() == []
    for number in range(4):
        series.hear(1, tick(number, 1))
    (point,) = series.take()
    assert (point.second, point.seconds, point.sent, point.size) == (1.0, 1.0, 24, 240)
    assert point.latency.count == 24
    assert series.take() == []


def test_one_who_has_ended_is_not_waited_for() -> None:
    series = Series(1, 1, is_timing_arrival=True)
    for number in range(4):
        series.hear(1, tick(number, 2, owned=3, position=7))
    assert series.take() == []
    series.ended(0)
    (point,) = series.take()
    assert (point.sent, point.received) == (0, 8)
    assert (series.owned, series.positions, series.received) == ({1: 3}, {1: 7}, 8)


def test_what_comes_late_is_in_the_next_second() -> None:
    series = Series(1, 0, is_timing_arrival=False)
    series.hear(0, tick(3, 1))
    assert [point.sent for point in series.take()] == [1]
    series.hear(0, tick(2, 5))
    series.hear(0, tick(7, 1))
    assert [point.sent for point in series.take()] == [6]


def test_at_the_end_the_rest_is_told_with_its_length() -> None:
    series = Series(1, 0, is_timing_arrival=False)
    series.hear(0, tick(5, 3))
    first, second = series.take_rest(1.5)
    assert (first.second, first.sent) == (1.0, 0)
    assert (second.second, second.seconds, second.sent) == (1.5, 0.5, 3)


def test_only_the_latencies_of_one_side_are_shown() -> None:
    series = Series(1, 1, is_timing_arrival=True)
    series.hear(0, tick(0, 3))
    series.hear(1, tick(0, 2, owned=1, position=1))
    (point,) = series.take_rest(0.25)
    assert (point.sent, point.received, point.latency.count, point.size) == (3, 2, 2, 20)


def test_before_the_measured_time_there_is_nothing_to_tell() -> None:
    series = Series(0, 1, is_timing_arrival=True)
    series.hear(0, tick(-100, 0, owned=8, position=0))
    assert series.owned == {0: 8}
    assert series.take_rest(1.0) == []
