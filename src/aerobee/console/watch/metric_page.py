"""Samples of a page of metrics, in Prometheus's text format, read as far as the console needs them.

    aerobee_query_rows_total{query="orders"} 1024

Lines that are no samples are passed over: comments, time stamps, what another version may add.
"""

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

_SAMPLE = re.compile(r'([A-Za-z_:][\w:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?\s+(\S+)')
_LABEL = re.compile(r'([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"')
_ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


class MetricSample(NamedTuple):
    name: str
    labels: dict[str, str]
    value: float


def samples_in(text: str) -> Iterator[MetricSample]:
    """Yield the samples of a page, in its order."""
    for line in text.splitlines():
        found = None if line.startswith("#") else _SAMPLE.match(line)
        if found is None:
            continue
        try:
            value = float(found[3])
        except ValueError:
            continue
        if math.isfinite(value):
            labels = {name: _plain(told) for name, told in _LABEL.findall(found[2] or "")}
            yield MetricSample(found[1], labels, value)


def _plain(text: str) -> str:
    return re.sub(r'\\[n"\\]', lambda found: _ESCAPES[found[0]], text)
