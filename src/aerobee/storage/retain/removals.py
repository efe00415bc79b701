"""Removing files beside the core: the name, then the mapping, then a sync of the folder.

Whoever adds a file has taken it out of its sequence, so nobody finds it any more. One file at a
time goes, on the background lane. In every folder they go in the order they were added, oldest
first, each durably before the next: whatever a power cut undoes, the names that are left follow
each other without a gap.

- A file is never closed or unmapped here. The last reference to it is let go, on the disk thread:
  unlinking a written 1 GiB file costs nothing, but letting go of its pages 0.3 s (ext4). A slice
  that a reader holds keeps the mapping.
- A name that cannot be removed is tried again every second; only its folder waits meanwhile.
- A folder that cannot be synced is a failed sync like any other: the names of new log files depend
  on the same folder, and the system reports such a failure once.

A crash before a removal is durable brings the file back, and it is found again at the next start.
Called from the core's thread only; the jobs run on a disk thread.
"""

from collections import deque
from contextlib import suppress

from aerobee.errors import DiskFailed
from aerobee.ports.disk import Disk, DiskFile
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.storage.defects import Defect, Defects

RETRY_INTERVAL_MS = 1000


class Removals:
    """Files that are to go, by folder.

    I1. A folder is in `_waiting` as long as it has files that no job has taken.
    I2. The file of the running job is in no list: the job alone holds it.
    """

    def __init__(self, disk: Disk, worker: DiskWorker, defects: Defects) -> None:
        self._disk = disk
        self._worker = worker
        self._is_wiping = Defect.FILE_IN_USE_WIPED in defects
        self._waiting: dict[str, deque[DiskFile]] = {}
        self._running: _RemoveFile | None = None
        # When a folder whose oldest file could not be removed is tried again.
        self._retry_ms: dict[str, int] = {}
        # Of all removals that were started: after a failed one a file counts again.
        self.removed_bytes = 0
        # Set once a folder could not be synced: nothing is removed any more.
        self.failure: DiskFailed | None = None
        # The last name that could not be removed, and why; empty once it could.
        self.problem = ""

    def add(self, file: DiskFile) -> None:
        """Have a file removed. The caller lets go of it."""
        self._waiting.setdefault(_folder_of(file), deque()).append(file)

    def is_pending_in(self, folder: str) -> bool:
        """Whether files of a folder are still to go."""
        if self._running is not None and self._running.folder == folder:
            return True
        return folder in self._waiting

    def step(self, monotonic_ms: int) -> None:
        """Start the next removal, if none is under way."""
        if self._running is not None or self.failure is not None:
            return
        for folder, files in self._waiting.items():
            if monotonic_ms >= self._retry_ms.get(folder, monotonic_ms):
                del self._waiting[folder]
                file = files.popleft()
                if files:
                    self._waiting[folder] = files  # behind the other folders
                self._start(file, monotonic_ms)
                return

    def _start(self, file: DiskFile, monotonic_ms: int) -> None:
        self.removed_bytes += len(file.view)
        self._running = _RemoveFile(self, self._disk, file, monotonic_ms)
        if self._is_wiping:
            file.view[:] = bytes(len(file.view))
        self._worker.submit(Lane.BACKGROUND, self._running)

    def _finish(self, job: "_RemoveFile", error: BaseException | None) -> None:
        self._running = None
        if error is None:
            self._retry_ms.pop(job.folder, None)
            self.problem = ""
        elif job.file is None:
            self.failure = DiskFailed(
                f"a sync of {job.folder} failed: {error}",
                hint="the store takes no more writes; check the disk, then restart",
            )
        else:
            self.problem = f"{job.file.path} could not be removed: {error}"
            self._retry_ms[job.folder] = job.started_ms + RETRY_INTERVAL_MS
            self._waiting.setdefault(job.folder, deque()).appendleft(job.file)

    def close(self) -> None:
        """Block until the removal that is under way is over. The others wait for another start."""
        if self._running is not None:
            self._worker.wait(self._running)


class _RemoveFile:
    """Disk job: one file less."""

    def __init__(self, removals: Removals, disk: Disk, file: DiskFile, started_ms: int) -> None:
        self._removals = removals
        self._disk = disk
        # None once its name is gone.
        self.file: DiskFile | None = file
        self.folder = _folder_of(file)
        self.started_ms = started_ms

    def run(self) -> None:
        assert self.file is not None
        # Not found: somebody else removed it, or the whole folder.
        with suppress(FileNotFoundError):
            self._disk.remove(self.file.path)
        self.file = None
        with suppress(FileNotFoundError):
            self._disk.sync_directory(self.folder)

    def done(self, error: BaseException | None) -> None:
        self._removals._finish(self, error)


def _folder_of(file: DiskFile) -> str:
    return file.path.rpartition("/")[0]
