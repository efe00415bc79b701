"""Metric: a name, a kind, a help text, and a value for each set of labels, at one moment.

Samples may be made while they are read, so that a reader of thousands can yield to other work in
between.
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
    """The help text."""
    samples: Iterable[Sample]
    also: str = ""
    """A second name, if there is one: samples are written under both."""


def counter(name: str, text: str, samples: Iterable[Sample]) -> Metric:
    return Metric(name, MetricKind.COUNTER, text, samples)


def gauge(name: str, text: str, samples: Iterable[Sample], also: str = "") -> Metric:
    return Metric(name, MetricKind.GAUGE, text, samples, also)


def single_gauge(name: str, text: str, value: float, also: str = "") -> Metric:
    """A gauge with one sample and no labels."""
    return gauge(name, text, [Sample({}, value)], also)


def histogram(name: str, text: str, samples: Iterable[Sample], also: str = "") -> Metric:
    return Metric(name, MetricKind.HISTOGRAM, text, samples, also)
