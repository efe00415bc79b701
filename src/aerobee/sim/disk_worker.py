"""Disk work that happens when told, in one thread: every interleaving is a choice of the test.

A job that was submitted waits in its lane until `run_next` or `run_all` runs it (or at once, with
`inline`); its `done` still waits for `collect`, as the port says. Inside a lane the order is that
of submission; between lanes it is the caller's.

An `Exception` of a job goes to its `done`. Anything else (a power cut) ends the pretended machine
and comes out of here.
"""

from collections import deque
from collections.abc import Sequence

from aerobee.errors import Misuse
from aerobee.ports.disk_worker import DiskJob, Lane


class SimDiskWorker:
    __slots__ = ("_finished", "_inline", "_is_closed", "_submitted", "_waiting")

    def __init__(self, *, inline: bool = False) -> None:
        self._inline = inline
        self._is_closed = False
        self._submitted = 0
        self._waiting: dict[Lane, deque[tuple[int, DiskJob]]] = {lane: deque() for lane in Lane}
        self._finished: deque[tuple[DiskJob, Exception | None]] = deque()

    def submit(self, lane: Lane, job: DiskJob) -> None:
        if self._is_closed:
            raise Misuse("the disk worker was closed")
        self._waiting[lane].append((self._submitted, job))
        self._submitted += 1
        if self._inline:
            self.run_next(lane)

    def pending(self, lane: Lane | None = None) -> int:
        """How many jobs have not run yet, in one lane or in all."""
        if lane is not None:
            return len(self._waiting[lane])
        return sum(len(jobs) for jobs in self._waiting.values())

    def run_next(self, lane: Lane | None = None) -> bool:
        """Run the first job of a lane, or of all lanes by time of submission. False: none."""
        if lane is None:
            busy = [candidate for candidate in Lane if self._waiting[candidate]]
            if not busy:
                return False
            lane = min(busy, key=lambda candidate: self._waiting[candidate][0][0])
        if not self._waiting[lane]:
            return False
        _, job = self._waiting[lane].popleft()
        error: Exception | None = None
        try:
            job.run()
        except Exception as raised:
            error = raised
        self._finished.append((job, error))
        return True

    def run_all(self, lanes: Sequence[Lane] | None = None) -> int:
        """Run everything: by time of submission, or lane after lane in the order given (only
        those). Returns how many jobs ran."""
        count = 0
        for lane in lanes if lanes is not None else (None,):
            while self.run_next(lane):
                count += 1
        return count

    def collect(self) -> int:
        count = 0
        while self._finished:
            job, error = self._finished.popleft()
            count += 1
            job.done(error)
        return count

    def wait(self, job: DiskJob) -> None:
        """Runs the job's lane up to and including it, and nothing of the other lanes."""
        self._run_up_to(job)
        self.collect()

    def wait_alone(self, job: DiskJob) -> None:
        """The same; what else has run is left for `collect`."""
        self._run_up_to(job)
        for outcome in self._finished:
            if outcome[0] is job:
                self._finished.remove(outcome)
                job.done(outcome[1])
                break

    def _run_up_to(self, job: DiskJob) -> None:
        for lane, jobs in self._waiting.items():
            while any(waiting is job for _, waiting in jobs):
                self.run_next(lane)

    def close(self) -> None:
        """Also runs what a `done` submits meanwhile."""
        while self.run_all() + self.collect():
            pass
        self._is_closed = True
