"""Disk work on threads: one per lane, so that a long deletion never holds up a sync.

    core thread                      disk thread of the lane
    submit ──▶ lane's queue ───────▶ run
    collect ◀── finished jobs ◀───── remember the outcome, wake the core
      └▶ done

Threads call `run` and `wake`; everything else belongs to the core's thread and needs no lock
beyond the two queues, whose ends are safe on their own.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

from aerobee.errors import Misuse
from aerobee.ports.disk_worker import DiskJob, Lane

_log = logging.getLogger(__name__)


class ThreadDiskWorker:
    """I1: `_open` holds the ids of jobs submitted and not yet collected, on the core's thread."""

    __slots__ = (
        "_finished",
        "_finished_more",
        "_is_closed",
        "_lanes",
        "_open",
        "_threads",
        "_wake",
    )

    def __init__(self, wake: Callable[[], None] | None = None) -> None:
        """`wake` is called on a disk thread after each job: an event loop's call_soon_threadsafe
        of `collect` belongs there."""
        self._wake = wake
        self._open: set[int] = set()
        self._finished: deque[tuple[DiskJob, BaseException | None]] = deque()
        self._finished_more = threading.Condition()
        self._is_closed = False
        self._lanes: dict[Lane, SimpleQueue[DiskJob | None]] = {
            lane: SimpleQueue() for lane in Lane
        }
        self._threads = [
            threading.Thread(
                target=self._serve, args=(queue,), name=f"aerobee-disk-{lane.value}", daemon=True
            )
            for lane, queue in self._lanes.items()
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, lane: Lane, job: DiskJob) -> None:
        if self._is_closed:
            raise Misuse("the disk worker was closed")
        if id(job) in self._open:
            raise Misuse("this job was submitted before and has not been collected")
        self._open.add(id(job))
        self._lanes[lane].put(job)

    def collect(self) -> int:
        """If a `done` raises, the jobs behind it wait for the next call."""
        count = 0
        while self._finished:
            job, error = self._finished.popleft()
            self._open.discard(id(job))
            count += 1
            job.done(error)
        return count

    def wait(self, job: DiskJob) -> None:
        """Returns at once if the job was collected already."""
        while id(job) in self._open:
            self._wait_for_more()
            self.collect()

    def wait_alone(self, job: DiskJob) -> None:
        """Returns at once if the job was collected already."""
        if id(job) not in self._open:
            return
        with self._finished_more:
            while (outcome := self._outcome_of(job)) is None:
                self._finished_more.wait()
            self._finished.remove(outcome)
        self._open.discard(id(job))
        job.done(outcome[1])

    def _outcome_of(self, job: DiskJob) -> tuple[DiskJob, BaseException | None] | None:
        return next((outcome for outcome in self._finished if outcome[0] is job), None)

    def close(self) -> None:
        """Also runs what a `done` submits meanwhile; leaves no thread behind."""
        if self._is_closed:
            return
        while self._open:
            self._wait_for_more()
            self.collect()
        self._is_closed = True
        for queue in self._lanes.values():
            queue.put(None)
        for thread in self._threads:
            thread.join()

    def _wait_for_more(self) -> None:
        with self._finished_more:
            while not self._finished:
                self._finished_more.wait()

    def _serve(self, queue: "SimpleQueue[DiskJob | None]") -> None:
        """The whole life of a disk thread."""
        while (job := queue.get()) is not None:
            error: BaseException | None = None
            try:
                job.run()
            except BaseException as raised:  # whatever it is, it is the job's owner who must know
                error = raised
            with self._finished_more:
                self._finished.append((job, error))
                self._finished_more.notify_all()
            # Neither may keep a file mapped until the next job comes.
            del job, error
            if self._wake is not None:
                try:
                    self._wake()
                except Exception:
                    # A loop that is gone cannot be woken; the outcome is kept for collect().
                    _log.exception("could not wake the core")
