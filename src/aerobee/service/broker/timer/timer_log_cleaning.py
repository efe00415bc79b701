"""TimerLogCleaning removes old files of the timer log once none of the records they refer to is
left.

Until then every unit of them may be part of a chain. A file that cannot be removed stays: the next
start finds it again.
"""

import logging

from aerobee.ports.clock import Now
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.timer.timer_log import TimerLog

_log = logging.getLogger(__name__)

INTERVAL_MS = 30_000
_FILES_A_TIME = 32


class TimerLogCleaning:
    def __init__(self, disk: Disk, worker: DiskWorker, log: TimerLog, now: Now) -> None:
        self._disk = disk
        self._worker = worker
        self._timer_log = log
        self._look_ms = now.monotonic_ms + INTERVAL_MS

    def step(self, log_offset_min: int, now: Now) -> None:
        """From time to time remove files whose records are all before this log offset."""
        if now.monotonic_ms < self._look_ms:
            return
        self._look_ms = now.monotonic_ms + INTERVAL_MS
        for _ in range(_FILES_A_TIME):
            file = self._timer_log.take_first(log_offset_min)
            if file is None:
                break
            self._worker.submit(Lane.BACKGROUND, _Removal(self._disk, file))


class _Removal:
    """A disk job that removes a file. Unmapping it takes longest, and is done there, too."""

    def __init__(self, disk: Disk, file: MappedFile) -> None:
        self._disk = disk
        self._path = file.disk_file.path
        self._file: MappedFile | None = file

    def run(self) -> None:
        self._disk.remove(self._path)
        self._file = None

    def done(self, error: BaseException | None) -> None:
        if error is not None:
            _log.warning("a file of the timer log stays: %s", error)
