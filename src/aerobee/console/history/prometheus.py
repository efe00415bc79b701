"""Prometheus as the source of charts that go further back than an hour.

Series of the console become queries of the metrics that brokers show (docs/metrics.md):

    cluster.in          sum(rate(rocketmq_messages_in_total[2m]))
    group.billing.lag   sum(rocketmq_consumer_lag_messages{consumer_group="billing",…})

A series without a query, such as the lag of one queue, is the console's own.
"""

import asyncio
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from aerobee.console.history.series import parts_of
from aerobee.console.history.web_text import fetch_text
from aerobee.errors import AerobeeError, NoAnswer

SECONDS = 10.0
AT_ONCE = 8
RATE_SECONDS_MIN = 120
"""Two scrapes must be in the window of a rate."""
_RATES = {
    "in": "rocketmq_messages_in_total",
    "out": "rocketmq_messages_out_total",
    "in_bytes": "rocketmq_throughput_in_total",
}
_LABELS = {"cluster": "", "broker": "node_id", "topic": "topic", "group": "consumer_group"}
_PUT = {"put_p50_ms": 0.5, "put_p99_ms": 0.99, "put_p999_ms": 0.999}
_SENDS = 'request_code=~"send.*"'

Values = list[float | None]


def query_of(name: str, step_ms: int) -> str | None:
    """Return the query for a series; None: no metric says the same."""
    kind, *rest = parts_of(name)
    if kind not in _LABELS or len(rest) != (1 if kind == "cluster" else 2):
        return None
    figure = rest[-1]
    labels = [f'{_LABELS[kind]}="{_quoted(rest[0])}"'] if kind != "cluster" else []
    window = max(RATE_SECONDS_MIN, step_ms * 2 // 1000)
    if figure in _RATES and not (kind == "group" and figure != "out"):
        return f"sum(rate({_RATES[figure]}{{{','.join(labels)}}}[{window}s]))"
    if figure == "lag" and kind in ("cluster", "group"):
        chosen = ",".join([*labels, 'is_retry!="true"'])
        return f"sum(rocketmq_consumer_lag_messages{{{chosen}}})"
    if figure in _PUT and kind == "broker":
        chosen = ",".join([*labels, _SENDS])
        buckets = f"sum by (le) (rate(rocketmq_rpc_latency_bucket{{{chosen}}}[{window}s]))"
        return f"histogram_quantile({_PUT[figure]:g}, {buckets})"
    return None


class Prometheus:
    def __init__(self, url: str) -> None:
        """`url`: where its API is, for example http://127.0.0.1:9090."""
        self._url = url.rstrip("/")

    async def read(
        self, names: Iterable[str], times: Sequence[int], step_ms: int
    ) -> dict[str, Values]:
        """Return the values at these times, of the series that it knows. NoAnswer."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def ask(name: str, query: str) -> tuple[str, Values]:
            async with gate:
                return name, await self._ask(query, times, step_ms)

        queries = {name: query for name in names if (query := query_of(name, step_ms)) is not None}
        told = await asyncio.gather(*(ask(name, query) for name, query in queries.items()))
        return {name: values for name, values in told if any(one is not None for one in values)}

    async def _ask(self, query: str, times: Sequence[int], step_ms: int) -> Values:
        asked = {
            "query": query,
            "start": f"{times[0] / 1000:.3f}",
            "end": f"{times[-1] / 1000:.3f}",
            "step": f"{step_ms / 1000:g}",
        }
        text = await fetch_text(f"{self._url}/api/v1/query_range?{urlencode(asked)}", SECONDS)
        try:
            found: list[Any] = json.loads(text)["data"]["result"]
            points = found[0]["values"] if found else []
            values: Values = [None] * len(times)
            for at, value in points:
                place = round((at * 1000 - times[0]) / step_ms)
                number = float(value)
                if 0 <= place < len(values) and math.isfinite(number):
                    values[place] = number
        except (ValueError, KeyError, TypeError, IndexError):
            message = "Prometheus answers with something else than values"
            raise NoAnswer(message, address=self._url) from None
        return values


def filled(own: Values, told: Values) -> Values:
    """Return Prometheus's values, and the console's own where it has none."""
    return [here if there is None else there for here, there in zip(own, told, strict=True)]


def reason_of(error: AerobeeError) -> str:
    return f"Prometheus: {error.message}; these are the console's own figures"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
