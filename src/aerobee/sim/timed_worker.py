"""Disk work that takes virtual time: each lane does one job after another, beside its process.

A job's effect on the disk happens at some instant between its begin and its end, drawn at random:
what is written while a sync is under way may be covered by it or not. Its outcome is known at the
end, when the process is woken.
"""

import random
from collections import deque
from collections.abc import Callable

from aerobee.errors import Misuse
from aerobee.ports.disk_worker import DiskJob, Lane
from aerobee.sim.event_loop import SimLoop
from aerobee.sim.timeline import Timeline

DelayMs = Callable[[Lane], int]


class _Work:
    """A job on its way: submitted, run, over."""

    __slots__ = ("error", "is_over", "is_run", "job")

    def __init__(self, job: DiskJob) -> None:
        self.job = job
        self.error: BaseException | None = None
        self.is_run = False
        self.is_over = False

    def run(self) -> None:
        if not self.is_run:
            self.is_run = True
            try:
                self.job.run()
            except Exception as raised:
                self.error = raised


class TimedDiskWorker:
    """W1. Jobs of a lane run and end in the order submitted."""

    def __init__(
        self, timeline: Timeline, loop: SimLoop, generator: random.Random, delay_ms: DelayMs
    ) -> None:
        """`delay_ms` says for each job how long it takes."""
        self._timeline = timeline
        self._loop = loop
        self._random = generator
        self._delay_ms = delay_ms
        self._waiting: dict[Lane, deque[_Work]] = {lane: deque() for lane in Lane}
        self._free_ms = dict.fromkeys(Lane, 0)
        self._finished: deque[_Work] = deque()
        self._is_closed = False
        self.wake: Callable[[], None] | None = None

    def submit(self, lane: Lane, job: DiskJob) -> None:
        if self._is_closed:
            raise Misuse("the disk worker was closed")
        work = _Work(job)
        self._waiting[lane].append(work)
        now_ms = self._timeline.now_ms
        begin_ms = max(now_ms, self._free_ms[lane])
        end_ms = begin_ms + self._delay_ms(lane)
        self._free_ms[lane] = end_ms
        # Where a sync takes long, most of it is after the disk was told what to write.
        if self._random.random() < 0.5:
            self._timeline.after(begin_ms - now_ms, lambda: self._loop.run(work.run))
        self._timeline.after(end_ms - now_ms, lambda: self._loop.run(lambda: self._end(lane, work)))

    def collect(self) -> int:
        count = 0
        while self._finished:
            work = self._finished.popleft()
            count += 1
            work.job.done(work.error)
        return count

    def wait(self, job: DiskJob) -> None:
        """The process stands still, so no time passes here."""
        self._finish_up_to(job)
        self.collect()

    def wait_alone(self, job: DiskJob) -> None:
        self._finish_up_to(job)
        for work in self._finished:
            if work.job is job:
                self._finished.remove(work)
                job.done(work.error)
                break

    def _finish_up_to(self, job: DiskJob) -> None:
        for lane, works in self._waiting.items():
            while any(work.job is job for work in works):
                self._finish(lane, works[0])

    def close(self) -> None:
        while any(self._waiting.values()) or self._finished:
            for lane, works in self._waiting.items():
                while works:
                    self._finish(lane, works[0])
            self.collect()
        self._is_closed = True

    def _end(self, lane: Lane, work: _Work) -> None:
        if not work.is_over:
            self._finish(lane, work)
            if self.wake is not None:
                self.wake()

    def _finish(self, lane: Lane, work: _Work) -> None:
        assert self._waiting[lane][0] is work, "jobs of a lane end in order"
        work.run()
        self._waiting[lane].popleft()
        work.is_over = True
        self._finished.append(work)
