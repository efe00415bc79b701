"""RunningJobs: Spark queries, as their pages of metrics show them.

A job shows its progress where it was told to (`aerobee pipeline … --metrics 9108`); the console is
told the addresses (`pipelinePages`). Rates are between two looks.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aerobee.console.history.web_text import fetch_text
from aerobee.console.watch.metric_page import MetricSample, samples_in
from aerobee.errors import AerobeeError

SECONDS = 3.0
"""That a page may take."""


@dataclass(slots=True)
class QueryFigures:
    """A query, as its page shows it."""

    name: str
    page: str
    rows: float = 0.0
    batches: float = 0.0
    batch_seconds: float = 0.0
    queues: dict[tuple[str, str, int], dict[str, Any]] = field(default_factory=dict)
    """By topic, broker and queue: offset and lag."""
    rows_a_second: float | None = None
    """None: it was looked at once."""

    def record(self) -> dict[str, Any]:
        queues = [
            {"topic": topic, "broker": broker, "queue": queue, **told}
            for (topic, broker, queue), told in sorted(self.queues.items())
        ]
        return {
            "name": self.name,
            "page": self.page,
            "batches": int(self.batches),
            "rows": int(self.rows),
            "rows_a_second": self.rows_a_second,
            "batch_seconds": self.batch_seconds,
            "lag": sum(one["lag"] or 0 for one in queues),
            "topics": sorted({one["topic"] for one in queues}),
            "queues": queues,
        }


class RunningJobs:
    def __init__(self, pages: Sequence[str], now: Callable[[], float] = time.monotonic) -> None:
        """`pages`: host:port of each page of metrics."""
        self.pages = tuple(pages)
        self._now = now
        self._before: dict[tuple[str, str], tuple[float, float]] = {}

    async def look(self) -> tuple[list[QueryFigures], dict[str, str]]:
        """Return the queries of all pages, and the reason for each page that shows nothing."""
        told = await asyncio.gather(*map(self._page, self.pages))
        queries = [query for found, _ in told for query in found]
        problems = {page: why for page, (_, why) in zip(self.pages, told, strict=True) if why}
        seen = self._now()
        before, self._before = self._before, {}
        for one in queries:
            key = (one.page, one.name)
            if key in before and before[key][0] < seen and before[key][1] <= one.rows:
                one.rows_a_second = (one.rows - before[key][1]) / (seen - before[key][0])
            self._before[key] = (seen, one.rows)
        return queries, problems

    async def _page(self, page: str) -> tuple[list[QueryFigures], str]:
        try:
            text = await fetch_text(f"http://{page}/metrics", SECONDS)
        except AerobeeError as error:
            return [], error.message
        return queries_in(samples_in(text), page), ""


def queries_in(samples: Iterable[MetricSample], page: str) -> list[QueryFigures]:
    """Return the queries that a page of metrics is about."""
    found: dict[str, QueryFigures] = {}
    for name, labels, value in samples:
        if not name.startswith("aerobee_query_") or "query" not in labels:
            continue
        query = found.setdefault(labels["query"], QueryFigures(labels["query"], page))
        match name:
            case "aerobee_query_rows_total":
                query.rows = value
            case "aerobee_query_batches_total":
                query.batches = value
            case "aerobee_query_batch_seconds":
                query.batch_seconds = value
            case "aerobee_query_offset" | "aerobee_query_lag_messages":
                number = labels.get("queue", "")
                place = (
                    labels.get("topic", ""),
                    labels.get("broker", ""),
                    int(number) if number.isdigit() else 0,
                )
                queue = query.queues.setdefault(place, {"offset": None, "lag": None})
                queue["offset" if name == "aerobee_query_offset" else "lag"] = int(value)
    return sorted(found.values(), key=lambda one: one.name)
