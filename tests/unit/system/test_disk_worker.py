import gc
import threading
import weakref
from collections.abc import Callable, Iterator

import pytest

from aerobee.errors import Misuse
from aerobee.ports.disk_worker import Lane
from aerobee.system.disk_worker import ThreadDiskWorker


class Job:
    """Runs `work`; remembers what `done` was told, on which thread; may go on with `then`."""

    def __init__(self, work: Callable[[], object] = int, then: Callable[[], object] = int) -> None:
        self._work = work
        self._then = then
        self.run_by = ""
        self.outcomes: list[BaseException | None] = []
        self.done_by: threading.Thread | None = None

    def run(self) -> None:
        self.run_by = threading.current_thread().name
        self._work()

    def done(self, error: BaseException | None) -> None:
        self.outcomes.append(error)
        self.done_by = threading.current_thread()
        self._then()


@pytest.fixture
def worker() -> Iterator[ThreadDiskWorker]:
    worker = ThreadDiskWorker()
    yield worker
    worker.close()


def test_a_job_runs_on_its_lanes_thread_and_is_done_on_ours(worker: ThreadDiskWorker) -> None:
    job = Job()
    worker.submit(Lane.SYNC, job)
    worker.wait(job)
    assert job.run_by == "aerobee-disk-sync"
    assert job.done_by is threading.current_thread()
    assert job.outcomes == [None]
    worker.wait(job)
    assert job.outcomes == [None]


def test_jobs_of_a_lane_run_in_the_order_submitted(worker: ThreadDiskWorker) -> None:
    ran: list[int] = []
    jobs = [Job(lambda number=number: ran.append(number)) for number in range(100)]  # type: ignore[misc]
    for job in jobs:
        worker.submit(Lane.BACKGROUND, job)
    worker.wait(jobs[-1])
    assert ran == list(range(100))
    assert all(job.outcomes == [None] for job in jobs)


def test_a_long_job_in_the_background_does_not_hold_up_a_sync(worker: ThreadDiskWorker) -> None:
    gate = threading.Event()
    long = Job(gate.wait)
    short = Job()
    worker.submit(Lane.BACKGROUND, long)
    worker.submit(Lane.SYNC, short)
    worker.wait(short)
    assert short.outcomes == [None]
    assert long.outcomes == []
    gate.set()
    worker.wait(long)
    assert long.outcomes == [None]


def test_who_waits_alone_is_told_alone(worker: ThreadDiskWorker) -> None:
    error = OSError(5, "no")

    def fail() -> None:
        raise error

    other, wanted = Job(), Job(fail)
    worker.submit(Lane.SYNC, other)
    worker.submit(Lane.SYNC, wanted)
    worker.wait_alone(wanted)
    assert (other.outcomes, wanted.outcomes) == ([], [error])
    worker.wait_alone(wanted)
    assert worker.collect() == 1
    assert (other.outcomes, wanted.outcomes) == ([None], [error])


@pytest.mark.parametrize("error", [OSError(5, "no"), SystemExit(1)])
def test_whatever_a_job_raises_reaches_done_and_the_lane_goes_on(
    worker: ThreadDiskWorker, error: BaseException
) -> None:
    def fail() -> None:
        raise error

    failing, next_job = Job(fail), Job()
    worker.submit(Lane.SYNC, failing)
    worker.submit(Lane.SYNC, next_job)
    worker.wait(next_job)
    assert failing.outcomes == [error]
    assert next_job.outcomes == [None]


def test_nothing_is_done_before_it_is_collected(worker: ThreadDiskWorker) -> None:
    ran = threading.Event()
    job = Job(ran.set)
    last = Job()
    worker.submit(Lane.SYNC, job)
    assert ran.wait(10)
    assert job.outcomes == []
    worker.submit(Lane.SYNC, last)
    worker.wait(last)
    assert job.outcomes == [None]
    assert worker.collect() == 0


def test_the_core_is_woken_when_there_is_something_to_collect() -> None:
    woken = threading.Event()
    worker = ThreadDiskWorker(wake=woken.set)
    job = Job()
    worker.submit(Lane.SYNC, job)
    assert woken.wait(10)
    assert worker.collect() == 1
    assert job.outcomes == [None]
    worker.close()


def test_a_wake_that_fails_loses_no_outcome() -> None:
    def fail() -> None:
        raise RuntimeError("the loop is closed")

    worker = ThreadDiskWorker(wake=fail)
    jobs = [Job(), Job()]
    for job in jobs:
        worker.submit(Lane.SYNC, job)
    worker.wait(jobs[1])
    assert [job.outcomes for job in jobs] == [[None], [None]]
    worker.close()


def test_a_done_that_raises_leaves_the_others_for_the_next_collect() -> None:
    def fail() -> None:
        raise ValueError("a bug in done")

    worker = ThreadDiskWorker()
    gate = threading.Event()
    bad, good = Job(then=fail), Job(gate.set)
    worker.submit(Lane.SYNC, bad)
    worker.submit(Lane.SYNC, good)
    assert gate.wait(10)
    with pytest.raises(ValueError, match="a bug in done"):
        worker.wait(bad)
    worker.wait(good)
    assert good.outcomes == [None]
    worker.close()


def test_closing_runs_what_was_submitted_and_what_follows_from_it() -> None:
    worker = ThreadDiskWorker()
    last = Job()
    first = Job(then=lambda: worker.submit(Lane.BACKGROUND, last))
    worker.submit(Lane.SYNC, first)
    worker.close()
    assert first.outcomes == [None]
    assert last.outcomes == [None]
    worker.close()
    with pytest.raises(Misuse, match="closed"):
        worker.submit(Lane.SYNC, Job())


def test_a_job_cannot_be_submitted_twice_before_it_is_collected(worker: ThreadDiskWorker) -> None:
    job = Job()
    worker.submit(Lane.SYNC, job)
    with pytest.raises(Misuse, match="submitted before"):
        worker.submit(Lane.BACKGROUND, job)
    worker.wait(job)
    worker.submit(Lane.BACKGROUND, job)
    worker.wait(job)
    assert job.outcomes == [None, None]


def test_an_idle_thread_keeps_no_job_alive() -> None:
    woken = threading.Event()
    worker = ThreadDiskWorker(wake=woken.set)
    job = Job()
    kept = weakref.ref(job)
    worker.submit(Lane.SYNC, job)
    assert woken.wait(10)
    worker.collect()
    del job
    gc.collect()
    assert kept() is None
    worker.close()
