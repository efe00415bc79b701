"""A metric as it is at one moment: a name, what it is, and a value for each set of labels.

Samples may be made while they are read, so that whoever reads thousands of them can do something
else in between.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from aerobee.model.histogram import Histogram


class MetricKind(Enum):
    COUNTER = "counter"
    """Only grows while the process lives."""
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Sample(NamedTuple):
    labels: Mapping[str, str]
    value: float | Histogram


class Metric(NamedTuple):
    name: str
    kind: MetricKind
    text: str
    """What it is, for people."""
    samples: Iterable[Sample]
    also: str = ""
    """Another name that it is known by, if there is one: samples are written under both."""


def counter(name: str, text: str, samples: Iterable[Sample]) -> Metric:
    return Metric(name, MetricKind.COUNTER, text, samples)


def gauge(name: str, text: str, samples: Iterable[Sample], also: str = "") -> Metric:
    return Metric(name, MetricKind.GAUGE, text, samples, also)


def single_gauge(name: str, text: str, value: float, also: str = "") -> Metric:
    """Of the whole broker."""
    return gauge(name, text, [Sample({}, value)], also)


def histogram(name: str, text: str, samples: Iterable[Sample], also: str = "") -> Metric:
    return Metric(name, MetricKind.HISTOGRAM, text, samples, also)
