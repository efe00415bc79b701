"""Publication of a query's progress: as the offsets of a consumer group, and as metrics.

    commit-offsets   offsets are committed after each batch: see `aerobee group describe`
    metrics          lag, rows and batches on an HTTP page: docs/metrics.md

Both are updated together with the terminal, so that the last batch of a run counts, too.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.job import Chosen
from aerobee.pipeline.jobs.topic_io import group_of
from aerobee.pipeline.progress import QueryProgress
from aerobee.pipeline.source.source_options import SourceOptions, source_options

PORT_MAX = 65_535


class Watcher(Protocol):
    def step(self, text: str) -> None:
        """Report that a longer step has begun."""

    def batch(self, progress: Mapping[str, Any]) -> None:
        """Report a finished batch, with Spark's progress report."""

    def tasks(self, done: int, total: int) -> None:
        """Report the finished tasks of a batch job."""


class Shown:
    """A watcher that also passes each batch to a `QueryProgress`."""

    def __init__(self, watcher: Watcher, progress: QueryProgress) -> None:
        self._watcher = watcher
        self._progress = progress

    def step(self, text: str) -> None:
        self._watcher.step(text)

    def batch(self, progress: Mapping[str, Any]) -> None:
        self._progress.took(progress)
        self._watcher.batch(progress)

    def tasks(self, done: int, total: int) -> None:
        self._watcher.tasks(done, total)


def committed_by(name: str, chosen: Chosen) -> SourceOptions | None:
    """Return the source options of a job that commits offsets, with its group; None: it does not.
    Misuse."""
    if not chosen.is_on("commit-offsets"):
        return None
    given = {
        "nameServer": chosen.text("name-server"),
        "topic": chosen.text("topic"),
        **chosen.source,
        "group": group_of(chosen, name),
        "commitOffsets": "true",
    }
    return source_options(given, is_stream=True)


def port_of(chosen: Chosen) -> int | None:
    """Return the port of the metrics page; None: there is none. Misuse."""
    text = chosen.text("metrics")
    if not text:
        return None
    if not text.isdigit() or int(text) > PORT_MAX:
        raise Misuse(f"metrics is a port from 0 to {PORT_MAX}, not {text!r}")
    return int(text)


@contextlib.contextmanager
def shown_progress(name: str, chosen: Chosen, watcher: Watcher) -> Iterator[Watcher]:
    """Yield a watcher that also commits offsets and serves metrics, as chosen. Misuse."""
    from aerobee.pipeline.progress_listener import GroupCommit
    from aerobee.pipeline.progress_page import ProgressPage

    read, port = committed_by(name, chosen), port_of(chosen)
    commit = GroupCommit(read) if read is not None else None
    progress = QueryProgress(commit)
    page = ProgressPage(progress.text, port) if port is not None else None
    if read is not None:
        watcher.step(f"group {read.group}: aerobee group describe {read.group}")
    if page is not None:
        watcher.step(f"metrics: http://127.0.0.1:{page.port}/metrics")
    try:
        yield Shown(watcher, progress)
    finally:
        if page is not None:
            page.close()
        if commit is not None:
            commit.close()
