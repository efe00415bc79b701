"""Listener for streaming queries: shows their lag as metrics, commits offsets of a consumer group.

    watch = watch_progress(spark, {"nameServer": …, "topic": …, "group": "reports",
                                   "commitOffsets": "true"}, port=9108)
    query = spark.readStream.format("aerobee").options(…)

The options are those of the source. With `commitOffsets` the group's offsets are committed after
every batch, the last one, too (Spark tells a source itself of a batch only when the next one
begins). Without it, lag is shown and nothing is committed.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.listener import StreamingQueryListener

from aerobee.model.message_queue import MessageQueue
from aerobee.pipeline.progress import OnLag, QueryProgress
from aerobee.pipeline.progress_page import ProgressPage
from aerobee.pipeline.source.queue_lookup import QueueLookup
from aerobee.pipeline.source.source_options import SourceOptions, source_options
from aerobee.pipeline.spark.worker_client import WorkerClient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def watch_progress(
    spark: "SparkSession",
    options: Mapping[str, str] | None = None,
    *,
    on_lag: OnLag | None = None,
    port: int | None = None,
) -> "ProgressListener":
    """Watch every query of this session that reads with `aerobee`, until `close`.

    `on_lag` is called after each batch with the query's name and its queues; `port` serves
    `/metrics` on loopback, 0 on any free port (`page_port`).
    """
    committing = None
    if options is not None:
        read = source_options(options, is_stream=True)
        committing = GroupCommit(read) if read.commits else None
    listener = ProgressListener(committing, on_lag, port)
    spark.streams.addListener(listener)
    listener.on_close(lambda: spark.streams.removeListener(listener))
    return listener


class GroupCommit:
    """Commits offsets to brokers, for the group in the options."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._blocking: WorkerClient | None = None

    def __call__(self, offsets: Mapping[MessageQueue, int]) -> None:
        """Commit the offsets of the queues that these options read; a query may read others
        besides."""
        options = self._options
        ours = {queue: at for queue, at in offsets.items() if self._is_ours(queue)}
        if self._blocking is None:
            self._blocking = WorkerClient(options.target, options.timeout)
        queues = QueueLookup(self._blocking.session, options)
        self._blocking.insist(
            lambda: queues.commit(options.group, ours), options.retries, options.retry_seconds
        )

    def _is_ours(self, queue: MessageQueue) -> bool:
        options = self._options
        if options.pattern:
            return re.fullmatch(options.pattern, queue.topic) is not None
        return queue in options.assigned or queue.topic in options.topics

    def close(self) -> None:
        if self._blocking is not None:
            self._blocking.close()
            self._blocking = None


class ProgressListener(StreamingQueryListener):
    def __init__(
        self, commit: GroupCommit | None, on_lag: OnLag | None = None, port: int | None = None
    ) -> None:
        self.progress = QueryProgress(commit, on_lag)
        self._commit = commit
        self._page = None if port is None else ProgressPage(self.progress.text, port)
        self._on_close: Callable[[], None] = lambda: None

    @property
    def page_port(self) -> int | None:
        """The port of `/metrics`."""
        return self._page.port if self._page is not None else None

    def on_close(self, done: Callable[[], None]) -> None:
        self._on_close = done

    def close(self) -> None:
        """Stop watching."""
        self._on_close()
        if self._page is not None:
            self._page.close()
        if self._commit is not None:
            self._commit.close()

    # What Spark calls.

    def onQueryStarted(self, event: Any) -> None:
        pass

    def onQueryProgress(self, event: Any) -> None:
        self.progress.took(json.loads(event.progress.json))

    def onQueryIdle(self, event: Any) -> None:
        pass

    def onQueryTerminated(self, event: Any) -> None:
        pass
