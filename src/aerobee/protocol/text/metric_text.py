"""Metrics in Prometheus' text format, version 0.0.4.

    # HELP rocketmq_topic_number Topics
    # TYPE rocketmq_topic_number gauge
    rocketmq_topic_number{cluster="DefaultCluster",node_id="broker-a"} 14

The lines of a name stand together. The text comes in pieces of fifty lines, so that the caller can
do other work in between.
"""

import math
from collections.abc import Iterable, Iterator, Mapping

from aerobee.model.histogram import Histogram
from aerobee.model.metric import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LINES_A_PIECE = 50

_IN_LABELS = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_IN_HELP = str.maketrans({"\\": r"\\", "\n": r"\n"})


def metrics_text(metrics: Iterable[Metric], shared: Mapping[str, str]) -> Iterator[bytes]:
    """All metrics, each sample with the shared labels before its own."""
    connections: list[str] = []
    for line in _connections(metrics, _labels_text(shared)):
        connections.append(line)
        if len(connections) >= LINES_A_PIECE:
            yield "".join(connections).encode()
            connections.clear()
    yield "".join(connections).encode()


def _connections(metrics: Iterable[Metric], shared: str) -> Iterator[str]:
    for metric in metrics:
        yield _head(metric, metric.name)
        if not metric.also:
            yield from _samples(metric, shared)
            continue
        # Not all of them first: samples are made while they are read.
        written = []
        for line in _samples(metric, shared):
            written.append(line)
            yield line
        yield _head(metric, metric.also)
        for line in written:
            yield metric.also + line.removeprefix(metric.name)


def _head(metric: Metric, name: str) -> str:
    return f"# HELP {name} {metric.text.translate(_IN_HELP)}\n# TYPE {name} {metric.kind.value}\n"


def _samples(metric: Metric, shared: str) -> Iterator[str]:
    name = metric.name
    for labels, value in metric.samples:
        text = _joined(shared, _labels_text(labels))
        if isinstance(value, Histogram):
            yield from _histogram(name, text, value)
        else:
            yield f"{name}{_braced(text)} {_number(value)}\n"


def _histogram(name: str, labels: str, value: Histogram) -> Iterator[str]:
    counts = value.cumulative()
    for bound, count in zip((*map(_number, value.bounds), "+Inf"), counts, strict=True):
        yield f"{name}_bucket{_braced(_joined(labels, _label('le', bound)))} {count}\n"
    yield f"{name}_sum{_braced(labels)} {_number(value.sum)}\n"
    yield f"{name}_count{_braced(labels)} {counts[-1]}\n"


def _labels_text(labels: Mapping[str, str]) -> str:
    return ",".join([_label(name, text) for name, text in labels.items()])


def _label(name: str, text: str) -> str:
    return f'{name}="{text.translate(_IN_LABELS)}"'


def _joined(first: str, second: str) -> str:
    return f"{first},{second}" if first and second else first or second


def _braced(labels: str) -> str:
    return f"{{{labels}}}" if labels else ""


def _number(value: float) -> str:
    if math.isfinite(value):
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    if math.isnan(value):
        return "NaN"
    return "+Inf" if value > 0 else "-Inf"
