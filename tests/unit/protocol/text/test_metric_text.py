import math
from collections.abc import Iterator

from aerobee.model.histogram import Histogram
from aerobee.model.metric import Metric, Sample, counter, gauge, histogram, single_gauge
from aerobee.protocol.text.metric_text import LINES_A_PIECE, metrics_text


def text_of(*metrics: Metric, **shared: str) -> str:
    return b"".join(metrics_text(metrics, shared)).decode()


def test_a_counter_is_a_line_for_each_set_of_labels() -> None:
    metric = counter("in_total", "What came", [Sample({"topic": "A"}, 3), Sample({}, 4)])
    assert text_of(metric, node="b") == (
        "# HELP in_total What came\n"
        "# TYPE in_total counter\n"
        'in_total{node="b",topic="A"} 3\n'
        'in_total{node="b"} 4\n'
    )


def test_without_any_label_there_are_no_braces() -> None:
    assert text_of(single_gauge("up", "Up", 1)).endswith("\nup 1\n")


def test_a_histogram_counts_up_to_each_bound_and_all() -> None:
    times = Histogram((1, 2.5))
    times.add(1)
    times.add(2, 3)
    times.add(9)
    metric = histogram("ms", "Times", [Sample({"code": "x"}, times)])
    assert text_of(metric).splitlines()[2:] == [
        'ms_bucket{code="x",le="1"} 1',
        'ms_bucket{code="x",le="2.5"} 4',
        'ms_bucket{code="x",le="+Inf"} 5',
        'ms_sum{code="x"} 16',
        'ms_count{code="x"} 5',
    ]


def test_what_ends_a_label_is_escaped() -> None:
    metric = gauge("g", "a\nb\\c", [Sample({"name": 'a"b\\c\nd'}, 1)])
    assert text_of(metric) == ('# HELP g a\\nb\\\\c\n# TYPE g gauge\ng{name="a\\"b\\\\c\\nd"} 1\n')


def test_a_metric_with_another_name_is_written_under_both() -> None:
    samples: Iterator[Sample] = iter([Sample({}, 5)])  # that can be read only once
    lines = text_of(gauge("time", "Time", samples, also="time_ms")).splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["time 5", "time_ms 5"]


def test_numbers_are_written_as_short_as_they_are() -> None:
    metric = gauge("g", "t", [Sample({}, value) for value in (2.0, 0.25, 10**15, 1e300)])
    values = [line.split()[-1] for line in text_of(metric).splitlines()[2:]]
    assert [float(value) for value in values] == [2, 0.25, 1e15, 1e300]
    assert values[:2] == ["2", "0.25"]


def test_what_is_no_number_is_written_as_prometheus_says_it() -> None:
    metric = gauge("g", "t", [Sample({}, value) for value in (math.inf, -math.inf, math.nan)])
    values = [line.split()[-1] for line in text_of(metric).splitlines()[2:]]
    assert values == ["+Inf", "-Inf", "NaN"]


def test_much_text_comes_in_pieces_of_whole_lines() -> None:
    samples = [Sample({"n": str(number)}, number) for number in range(3 * LINES_A_PIECE)]
    pieces = list(metrics_text([gauge("g", "t", samples)], {}))
    assert len(pieces) >= 3
    assert all(piece.endswith(b"\n") for piece in pieces if piece)
    assert len(b"".join(pieces).splitlines()) == 2 + len(samples)


def test_samples_are_made_while_the_text_is_read() -> None:
    made = []

    def samples() -> Iterator[Sample]:
        for number in range(10 * LINES_A_PIECE):
            made.append(number)
            yield Sample({}, number)

    next(metrics_text([gauge("g", "t", samples())], {}))
    assert len(made) <= LINES_A_PIECE


def test_samples_with_two_names_are_made_while_the_text_is_read_too() -> None:
    made = []

    def samples() -> Iterator[Sample]:
        for number in range(10 * LINES_A_PIECE):
            made.append(number)
            yield Sample({}, number)

    pieces = metrics_text([gauge("g", "t", samples(), also="h")], {})
    next(pieces)
    assert len(made) <= LINES_A_PIECE
    text = b"".join(pieces).decode()
    assert f"\nh {10 * LINES_A_PIECE - 1}\n" in text


def test_every_line_of_a_histogram_is_written_under_both_names() -> None:
    times = Histogram((1,))
    lines = text_of(histogram("ms", "Times", [Sample({}, times)], also="ms_too")).splitlines()
    assert [line.split()[0] for line in lines if line.startswith("ms_too")] == [
        'ms_too_bucket{le="1"}',
        'ms_too_bucket{le="+Inf"}',
        "ms_too_sum",
        "ms_too_count",
    ]
