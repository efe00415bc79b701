"""The progress of a query as one line for people.

    batch 12   1,500 rows   5,200 rows/s   lag 300   0.29 s

Lag is what the topic has and the query has not read; `-` where the source does not say.
"""

from collections.abc import Mapping
from typing import Any


def progress_line(progress: Mapping[str, Any]) -> str:
    """`progress` is Spark's own account of a batch, as it is in its JSON."""
    seconds = progress.get("batchDuration", 0) / 1000
    rate = progress.get("processedRowsPerSecond") or 0.0
    lag = lag_of(progress)
    said = "-" if lag is None else f"{lag:,}"
    return (
        f"batch {progress['batchId']}   {rows_of(progress):,} rows   {rate:,.0f} rows/s   "
        f"lag {said}   {seconds:.2f} s"
    )


def rows_of(progress: Mapping[str, Any]) -> int:
    return sum(int(source.get("numInputRows") or 0) for source in progress.get("sources", ()))


def lag_of(progress: Mapping[str, Any]) -> int | None:
    """Messages behind the end of the topic, over all its sources and queues."""
    lags = [
        _behind(source.get("endOffset"), source.get("latestOffset"))
        for source in progress.get("sources", ())
    ]
    known = [lag for lag in lags if lag is not None]
    return sum(known) if known else None


def _behind(end: Any, latest: Any) -> int | None:
    if not isinstance(end, Mapping) or not isinstance(latest, Mapping):
        return None
    read, there = places_of(end), places_of(latest)
    return sum(max(0, offset - read.get(queue, 0)) for queue, offset in there.items())


def places_of(offsets: Mapping[str, Any]) -> dict[tuple[str, str, str], int]:
    """The next offset of every queue: (topic, broker, number) → offset."""
    return {
        (topic, broker, queue): int(offset)
        for topic, brokers in offsets.get("o", {}).items()
        for broker, queues in brokers.items()
        for queue, offset in queues.items()
    }
