"""Saves a table every few seconds, if it holds something new, and once more at the end.

    on_tick, after the interval ─┐
    close ───────────────────────┴─▶ take(wall ms) ─▶ disk job: write ─▶ written(is_on_disk)

A crash costs the changes since the last save. A save that failed is tried again after the interval,
because the broker goes on without it. Called from the core's thread only, but for `Save.write`.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.storage.metadata.background_save import BackgroundSave, Write

_log = logging.getLogger(__name__)


class Save(NamedTuple):
    """One save of a table, as the table is when the save begins."""

    write: Write
    written: Callable[[bool], None]
    """Called with whether it is on the disk; if not, the next `take` has to offer it again."""


Take: TypeAlias = Callable[[int], Save | None]
"""Wall clock in ms → what there is to save; None: nothing new."""


class PeriodicSave:
    """One table in one file. At most one save is under way; changes meanwhile wait for the next."""

    __slots__ = ("_interval_ms", "_looked_ms", "_path", "_saving", "_take")

    def __init__(
        self, worker: DiskWorker, path: str, interval_ms: int, monotonic_ms: int, take: Take
    ) -> None:
        """`path` is for the log; the first interval begins at `monotonic_ms`."""
        self._path = path
        self._interval_ms = interval_ms
        self._looked_ms = monotonic_ms
        self._take = take
        self._saving = BackgroundSave(worker)

    def on_tick(self, now: Now) -> None:
        if now.monotonic_ms - self._looked_ms >= self._interval_ms:
            self._looked_ms = now.monotonic_ms
            self._begin(now)

    def close(self, now: Now) -> None:
        """Block until everything that the table holds is on the disk, or cannot be."""
        self._saving.wait()
        self._begin(now)  # what changed since the save that was under way began
        self._saving.wait()

    def _begin(self, now: Now) -> None:
        if self._saving.is_busy:
            return
        save = self._take(now.wall_ms)
        if save is not None:
            written = save.written
            self._saving.begin(save.write, lambda error: self._tell(written, error))

    def _tell(self, written: Callable[[bool], None], error: BaseException | None) -> None:
        if error is not None:
            _log.error("%s was not saved; it is tried again: %s", self._path, error)
        written(error is None)
