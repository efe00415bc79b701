"""Flush: which part of the log is on the disk, what to sync next, and who waits for it.

One sync of the log is under way at a time; it covers everything appended before it was started, so
however many appends wait, they share the next one (group commit).

Laws:
- `flushed` rises only after a sync returned without error, and only to what was written before
  that sync began.
- The first sync that fails is the last, whichever file of the store it was for (`stop`): the kernel
  may have dropped the bytes and say OK the next time. `failure` stays set for the life of the
  process; those who waited are told so, never acknowledged.

Called from the core's thread only; the syncs themselves run on the disk thread.
"""

from aerobee.errors import DiskFailed
from aerobee.model.histogram import Histogram
from aerobee.ports.disk import DiskFile
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.storage.config import FlushMode
from aerobee.storage.defects import Defect, Defects
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.lack_of_room import is_out_of_room

SYNC_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)


class Flush:
    """The syncing of one log."""

    def __init__(
        self,
        log: FileSequence,
        worker: DiskWorker,
        mode: FlushMode,
        interval_ms: int,
        lag_ms_max: int,
        defects: Defects,
    ) -> None:
        self._log = log
        self._worker = worker
        self._mode = mode
        self._interval_ms = interval_ms
        self._lag_ms_max = lag_ms_max
        self._defects = defects
        self._running: _SyncLog | None = None
        self._now_ms = 0
        # When the oldest byte that no finished or running sync covers was first seen.
        self._dirty_since_ms: int | None = None
        # When the sync under way began, and how long the last one took.
        self._started_ms: int | None = None
        self._last_sync_ms = 0
        self.sync_seconds = Histogram(SYNC_SECONDS)
        # How far the log is on the disk, and when the newest record of that part was stored.
        self.flushed = 0
        self.flushed_timestamp = 0
        # Waits up to here are over (`confirmation`): `flushed`, but for planted defects.
        self.released_to = 0
        # ASYNC: somebody waits for a sync, which then begins at once.
        self.is_awaited = False
        self.failure: DiskFailed | None = None

    def start_at(self, flushed: int, timestamp: int) -> None:
        self.flushed = self.released_to = flushed
        self.flushed_timestamp = timestamp

    # Syncing.

    def step(self, end_offset: int, timestamp: int, monotonic_ms: int) -> None:
        """Start a sync if one is due. `timestamp`: when the newest record was stored."""
        self._now_ms = monotonic_ms
        if self._running is None and self._started_ms is not None:
            self._last_sync_ms = monotonic_ms - self._started_ms
            self._started_ms = None
            self.sync_seconds.add(self._last_sync_ms / 1000)
        if Defect.ACKNOWLEDGE_BEFORE_SYNC in self._defects:
            self.released_to = max(self.released_to, end_offset)
        covered = self.flushed if self._running is None else self._running.target
        if end_offset > covered and self._dirty_since_ms is None:
            self._dirty_since_ms = monotonic_ms
        if self._running is not None or self.failure is not None or self._dirty_since_ms is None:
            return
        # By as much earlier as the last sync took: the oldest byte must not wait for two long ones.
        wait_ms = self._interval_ms - self._last_sync_ms
        is_due = monotonic_ms - self._dirty_since_ms >= wait_ms
        if self._mode is FlushMode.SYNC or is_due or self.is_awaited:
            self._start(end_offset, timestamp)

    def is_behind(self, monotonic_ms: int) -> bool:
        """Whether the disk is too slow for what was promised: the oldest byte of the sync under way
        is older than the bound. It may have waited for the sync before that one, too."""
        running = self._running
        return running is not None and monotonic_ms - running.dirty_since_ms > self._lag_ms_max

    def sync_now(self, end_offset: int, timestamp: int) -> None:
        """Block until the log is on the disk up to here, or has failed (stop, tests)."""
        while self.failure is None and (self._running is not None or end_offset > self.flushed):
            if self._running is None:
                self._start(end_offset, timestamp)
            running = self._running
            assert running is not None
            self._worker.wait(running)

    def stop(self, failure: DiskFailed) -> None:
        """Something else of the store failed: nothing more is synced, nobody is acknowledged."""
        if self.failure is None:
            self.failure = failure

    def _start(self, target: int, timestamp: int) -> None:
        files = [
            file.disk_file
            for file in self._log.files
            if file.end_offset() > self.flushed and file.first_offset < target
        ]
        if Defect.SKIP_SYNC in self._defects:
            files = []
        since_ms = self._now_ms if self._dirty_since_ms is None else self._dirty_since_ms
        self._running = _SyncLog(self, files, target, timestamp, since_ms, self._defects)
        self._dirty_since_ms = None
        self._started_ms = self._now_ms
        self._worker.submit(Lane.SYNC, self._running)

    def _finish(self, job: "_SyncLog", error: BaseException | None) -> None:
        self._running = None
        if self.failure is not None:
            return
        if error is not None:
            if Defect.ACKNOWLEDGE_FAILED_SYNC in self._defects:
                self.released_to = job.target
            self.failure = DiskFailed(
                f"a sync of the commit log failed: {error}",
                hint="the store takes no more writes; check the disk, then restart",
            )
            return
        self.flushed = job.target
        self.flushed_timestamp = job.timestamp
        self.released_to = max(self.released_to, job.target)


class _SyncLog:
    """Disk job: sync the files that hold the log up to `target`."""

    def __init__(
        self,
        flush: Flush,
        files: list[DiskFile],
        target: int,
        timestamp: int,
        dirty_since_ms: int,
        defects: Defects,
    ) -> None:
        self._flush = flush
        self._files = files
        self._defects = defects
        self.target = target
        self.timestamp = timestamp
        self.dirty_since_ms = dirty_since_ms

    def run(self) -> None:
        for file in self._files:
            try:
                file.sync()
            except OSError as error:
                if Defect.ACKNOWLEDGE_ON_FULL_DISK in self._defects and is_out_of_room(error):
                    continue
                if Defect.RETRY_FAILED_SYNC not in self._defects:
                    raise
                file.sync()

    def done(self, error: BaseException | None) -> None:
        self._flush._finish(self, error)
