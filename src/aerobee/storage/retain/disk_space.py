"""DiskSpace asks how full the disk is, and decides whether appends are refused because of it.

The disk is asked once a second, on a disk thread (the answer can take long on a network or a sick
disk); an answer that does not come, or an error, leaves the last one in force.

    free ──▶  refused below `free_bytes_min`     ......  taken again from twice that on
    used ──▶  refused above `used_ratio_full`    ......  taken again at `used_ratio_clean`

Between refusing and taking again lies what retention clears: the oldest log files go, whatever
their age, until the second line of limits is reached. Without that distance a disk at its limit
would refuse and take appends in turns.

Room in the log file that is being written was reserved when the file was made, so this is about
files to come: the limits are to be reached before one of those cannot be made.

Called from the core's thread only.
"""

from contextlib import suppress
from typing import NamedTuple

from aerobee.errors import DiskFull
from aerobee.ports.disk import Disk, DiskSpace
from aerobee.ports.disk_worker import DiskWorker, Lane

MEASURE_INTERVAL_MS = 1000


class SpaceLimits(NamedTuple):
    """From when on a disk is too full, and from when on no longer."""

    used_ratio_clean: float
    used_ratio_full: float
    free_bytes_min: int

    def is_full(self, space: DiskSpace) -> bool:
        used = space.total_bytes - space.free_bytes
        return used > space.total_bytes * self.used_ratio_full or (
            space.free_bytes < self.free_bytes_min
        )

    def excess_bytes(self, space: DiskSpace) -> int:
        """How much has to go until appends are safe; nothing if 0 or less. Positive if full."""
        used = space.total_bytes - space.free_bytes
        return max(
            used - int(space.total_bytes * self.used_ratio_clean),
            2 * self.free_bytes_min - space.free_bytes,
        )


class DiskSpaceWatch:
    """The last answer, and what follows from it."""

    def __init__(self, disk: Disk, path: str, worker: DiskWorker, limits: SpaceLimits) -> None:
        """Asks once, here and now: a store on a full disk refuses from its first append on."""
        self._disk = disk
        self._path = path
        self._worker = worker
        self._limits = limits
        self._asking: _MeasureSpace | None = None
        self._asked_ms: int | None = None
        # The last answer, and the bytes removed by us before it was asked for: it has them as free.
        self._space: DiskSpace | None = None
        self._removed_before = 0
        self.is_full = False
        with suppress(OSError):
            self._believe(disk.space(path), 0)

    def step(self, monotonic_ms: int, removed_bytes: int) -> None:
        """Ask if it is time; `removed_bytes` is all that removals were started for, ever."""
        if self._asking is not None:
            return
        if self._asked_ms is None or monotonic_ms - self._asked_ms >= MEASURE_INTERVAL_MS:
            self._asked_ms = monotonic_ms
            self._asking = _MeasureSpace(self, self._disk, self._path, removed_bytes)
            self._worker.submit(Lane.BACKGROUND, self._asking)

    def _note(self, job: "_MeasureSpace") -> None:
        self._asking = None
        if job.space is not None:
            self._believe(job.space, job.removed_before)

    def _believe(self, space: DiskSpace, removed_before: int) -> None:
        if space.total_bytes <= 0:
            return  # some file systems have no size to tell
        self._space = space
        self._removed_before = removed_before
        if self.is_full:
            self.is_full = self._limits.excess_bytes(space) > 0
        else:
            self.is_full = self._limits.is_full(space)

    def excess_bytes(self, removed_bytes: int) -> int:
        """How much still has to go, taking what was removed since the last answer as gone.

        Jobs of a lane run in order, so the answer shows exactly the removals started before it
        was asked for. (A reader who holds a part of a removed file also holds its room: then the
        next answer shows it in use, and another file may go.)
        """
        if self._space is None:
            return 0
        return self._limits.excess_bytes(self._space) - (removed_bytes - self._removed_before)

    @property
    def space(self) -> DiskSpace | None:
        """The last answer; None: there was none yet."""
        return self._space

    def used_ratio(self) -> float:
        """How full the disk was when last asked; 0 if that is not known."""
        if self._space is None:
            return 0.0
        return 1 - self._space.free_bytes / self._space.total_bytes

    def refusal(self, problem: str) -> DiskFull | None:
        """Why appends are refused now, with the numbers; a new error at every call.

        `problem`: what keeps us from removing files, if anything does.
        """
        if self._space is None or not self.is_full:
            return None
        total, free = self._space
        limits = self._limits
        used_percent = 100 * (total - free) / total
        return DiskFull(
            f"the disk of {self._path} is {used_percent:.1f} % used and {_size(free)} are free; "
            f"appends stop above {100 * limits.used_ratio_full:g} % "
            f"and below {_size(limits.free_bytes_min)}{problem and f'; {problem}'}",
            hint="free room on this disk or shorten the retention; appends go on by themselves "
            f"at {100 * limits.used_ratio_clean:g} % used with "
            f"{_size(2 * limits.free_bytes_min)} free",
        )

    def close(self) -> None:
        if self._asking is not None:
            self._worker.wait(self._asking)


class _MeasureSpace:
    """Disk job: ask how full the disk is."""

    def __init__(self, watch: DiskSpaceWatch, disk: Disk, path: str, removed_before: int) -> None:
        self._watch = watch
        self._disk = disk
        self._path = path
        self.removed_before = removed_before
        self.space: DiskSpace | None = None

    def run(self) -> None:
        self.space = self._disk.space(self._path)

    def done(self, error: BaseException | None) -> None:
        self._watch._note(self)


def _size(count: int) -> str:
    """Bytes for people."""
    for unit, bytes_each in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= bytes_each:
            return f"{count / bytes_each:.1f} {unit}"
    return f"{count} bytes"
