"""Progress of queries in their queues after each batch: lag, metrics, offsets of groups.

Spark reports the progress of a query as JSON: the end offsets of the batch and the latest offsets
of each source. For sources with offsets of `stream_offsets` this module keeps the last
report of every query, shows it as metrics, and may commit it to brokers as the offsets of a
consumer group, so that tools for groups show the query. The checkpoint is authoritative: committed
offsets are never read back.

    aerobee_query_lag_messages       gauge    query, topic, broker, queue
    aerobee_query_offset             gauge    the same: the next message to read
    aerobee_query_rows_total         counter  query
    aerobee_query_batches_total      counter  query
    aerobee_query_batch_seconds      gauge    query: the last batch

Reports come from threads of Spark; a lock lets one at a time in.
"""

import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from aerobee.errors import AerobeeError, Misuse
from aerobee.model.message_queue import MessageQueue
from aerobee.model.metric import Metric, Sample, counter, gauge
from aerobee.pipeline.source.stream_offsets import from_dict, is_enveloped
from aerobee.protocol.text.metric_text import metrics_text

_log = logging.getLogger(__name__)

Progress = Mapping[str, Any]


class QueueLag(NamedTuple):
    queue: MessageQueue
    offset: int
    """The next message that the query reads."""
    end: int
    """Of the queue, when the batch was planned."""

    @property
    def messages(self) -> int:
        return max(0, self.end - self.offset)


OnLag = Callable[[str, Sequence[QueueLag]], None]
Commit = Callable[[Mapping[MessageQueue, int]], None]


def lags_of(progress: Progress) -> list[QueueLag]:
    """Return the lag of each queue of `aerobee` sources in the report of a batch, in the order of
    queues."""
    found = []
    for source in progress.get("sources") or ():
        ends = _ours(source.get("endOffset"))
        latest = _ours(source.get("latestOffset"))
        found += [QueueLag(queue, at, latest.get(queue, at)) for queue, at in ends.items()]
    return sorted(found)


def _ours(told: object) -> dict[MessageQueue, int]:
    """Parse offsets of an `aerobee` source; empty for another source's, or if there are none."""
    if isinstance(told, str):
        try:
            told = json.loads(told)
        except ValueError:
            return {}
    if not is_enveloped(told):
        return {}
    try:
        return from_dict(told)
    except Misuse:
        return {}


class _Query:
    """The last report of one query."""

    def __init__(self) -> None:
        self.lags: list[QueueLag] = []
        self.rows = 0
        self.batches = 0
        self.seconds = 0.0


class QueryProgress:
    def __init__(self, commit: Commit | None = None, on_lag: OnLag | None = None) -> None:
        """`commit` gets the offsets after a batch; `on_lag` the query's name and its lags."""
        self._commit = commit
        self._on_lag = on_lag
        self._queries: dict[str, _Query] = {}
        self._lock = threading.Lock()

    def took(self, progress: Progress) -> None:
        """Record the report of a finished batch."""
        lags = lags_of(progress)
        if not lags:
            return
        name = query_name(progress)
        with self._lock:
            query = self._queries.setdefault(name, _Query())
            query.lags = lags
            query.rows += int(progress.get("numInputRows") or 0)
            query.batches += 1
            query.seconds = float(progress.get("batchDuration") or 0) / 1000
            if self._commit is not None:
                self._tell({lag.queue: lag.offset for lag in lags})
        if self._on_lag is not None:
            self._on_lag(name, lags)

    def _tell(self, offsets: Mapping[MessageQueue, int]) -> None:
        """Commit the offsets. They are informative only: a broker that does not answer stops no
        query."""
        assert self._commit is not None
        try:
            self._commit(offsets)
        except AerobeeError as error:
            _log.warning("the progress of a query was not written to its group: %s", error)

    def metrics(self) -> list[Metric]:
        with self._lock:
            lags = [(name, lag) for name, query in self._queries.items() for lag in query.lags]
            queries = [({"query": name}, query) for name, query in self._queries.items()]
            return [
                gauge(
                    "aerobee_query_lag_messages",
                    "Messages that a query has not read",
                    [Sample(_labels(name, lag), lag.messages) for name, lag in lags],
                ),
                gauge(
                    "aerobee_query_offset",
                    "The next message that a query reads",
                    [Sample(_labels(name, lag), lag.offset) for name, lag in lags],
                ),
                counter(
                    "aerobee_query_rows_total",
                    "Rows that came into a query",
                    [Sample(labels, query.rows) for labels, query in queries],
                ),
                counter(
                    "aerobee_query_batches_total",
                    "Batches that a query has done",
                    [Sample(labels, query.batches) for labels, query in queries],
                ),
                gauge(
                    "aerobee_query_batch_seconds",
                    "How long the last batch took",
                    [Sample(labels, query.seconds) for labels, query in queries],
                ),
            ]

    def text(self) -> bytes:
        """The metrics as text for Prometheus."""
        return b"".join(metrics_text(self.metrics(), {}))


def query_name(progress: Progress) -> str:
    """Return the name of a query; its id if it has no name."""
    return str(progress.get("name") or progress.get("id") or "")


def _labels(name: str, lag: QueueLag) -> dict[str, str]:
    return {
        "query": name,
        "topic": lag.queue.topic,
        "broker": lag.queue.broker_name,
        "queue": str(lag.queue.queue_id),
    }
