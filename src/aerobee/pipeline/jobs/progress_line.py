"""The progress of a query as one line for people.

    batch 12   1,500 rows   5,200 rows/s   lag 300   0.29 s

Lag is the number of messages that the query has not read yet; `-` where the source does not tell.
"""

from collections.abc import Mapping
from typing import Any


def progress_line(progress: Mapping[str, Any]) -> str:
    """Format `progress`, Spark's report of a batch as in its JSON."""
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
    """Return the number of messages up to the end of the topic, over all sources and queues."""
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
    """Return the next offset of every queue: (topic, broker, number) → offset."""
    return {
        (topic, broker, queue): int(offset)
        for topic, brokers in offsets.get("o", {}).items()
        for broker, queues in brokers.items()
        for queue, offset in queues.items()
    }
