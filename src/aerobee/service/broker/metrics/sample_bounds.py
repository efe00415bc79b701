"""How many samples a metric may have: topics and groups are made by peers.

Those beyond the bound are one sample together, with the label that OpenTelemetry gives such a one.
The order of samples must be the same every time, or a counter would seem to run backwards.
"""

from collections.abc import Callable, Iterable, Iterator

from aerobee.model.metric import Sample

OVERFLOW_LABELS = {"otel_metric_overflow": "true"}

Join = Callable[[float, float], float]


def added(first: float, second: float) -> float:
    """Of counts."""
    return first + second


def bounded(
    samples: Iterable[tuple[dict[str, str], float]], samples_max: int, join: Join = added
) -> Iterator[Sample]:
    """At most so many samples, the last one of all that are too many: joined by `join`, which is
    `max` for times."""
    rest: float | None = None
    for number, (labels, value) in enumerate(samples, 1):
        if number < samples_max:
            yield Sample(labels, value)
        else:
            rest = value if rest is None else join(rest, value)
    if rest is not None:
        yield Sample(OVERFLOW_LABELS, rest)
