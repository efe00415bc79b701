"""Limits the number of samples of a metric, because peers make topics and groups.

Samples beyond the limit are joined into one, with the label that OpenTelemetry uses for it. The
order of samples must be the same every time, or a counter would seem to run backwards.
"""

from collections.abc import Callable, Iterable, Iterator

from aerobee.model.metric import Sample

OVERFLOW_LABELS = {"otel_metric_overflow": "true"}

Join = Callable[[float, float], float]


def added(first: float, second: float) -> float:
    """The join for counts."""
    return first + second


def bounded(
    samples: Iterable[tuple[dict[str, str], float]], samples_max: int, join: Join = added
) -> Iterator[Sample]:
    """At most `samples_max` samples; the last one has all that are too many, joined by `join`
    (`max` for times)."""
    rest: float | None = None
    for number, (labels, value) in enumerate(samples, 1):
        if number < samples_max:
            yield Sample(labels, value)
        else:
            rest = value if rest is None else join(rest, value)
    if rest is not None:
        yield Sample(OVERFLOW_LABELS, rest)
