import random

import pytest

from aerobee.errors import Misuse
from aerobee.ports.disk_worker import Lane
from aerobee.sim.timed_worker import TimedDiskWorker
from tests.unit.sim.kit import Place


class Job:
    def __init__(self, log: list[str], name: str, error: Exception | None = None) -> None:
        self._log = log
        self._name = name
        self._error = error

    def run(self) -> None:
        self._log.append(f"run {self._name}")
        if self._error is not None:
            raise self._error

    def done(self, error: BaseException | None) -> None:
        self._log.append(f"done {self._name}" if error is None else f"failed {self._name}")


def worker_on(place: Place, ms: int = 10) -> TimedDiskWorker:
    return TimedDiskWorker(place.timeline, place.loop, random.Random(3), lambda lane: ms)


def test_jobs_of_a_lane_follow_each_other_and_lanes_do_not_wait() -> None:
    place, log = Place(), list[str]()
    worker = worker_on(place)
    for name in ("a", "b"):
        worker.submit(Lane.SYNC, Job(log, name))
    worker.submit(Lane.BACKGROUND, Job(log, "c"))
    place.run(9)
    assert worker.collect() == 0
    place.run(1)
    assert worker.collect() == 2
    assert "done a" in log
    assert "done c" in log
    place.run(10)
    assert worker.collect() == 1
    assert log.index("run a") < log.index("run b")


def test_a_job_takes_effect_somewhere_between_its_begin_and_its_end() -> None:
    place = Place()
    worker = worker_on(place)
    early = 0
    for _ in range(40):
        log: list[str] = []
        worker.submit(Lane.SYNC, Job(log, "a"))
        place.run(5)
        early += log == ["run a"]
        place.run(5)
        worker.collect()
        assert log == ["run a", "done a"]
    assert 5 < early < 35


def test_whoever_waits_is_woken_when_a_job_is_over() -> None:
    place, log = Place(), list[str]()
    worker = worker_on(place)
    woken: list[int] = []
    worker.wake = lambda: woken.append(place.timeline.now_ms)
    worker.submit(Lane.SYNC, Job(log, "a", OSError("no")))
    place.run(100)
    assert woken == [10]
    worker.collect()
    assert log == ["run a", "failed a"]


def test_waiting_for_a_job_does_all_of_its_lane_before_it_and_no_time_passes() -> None:
    place, log = Place(), list[str]()
    worker = worker_on(place)
    last = Job(log, "b")
    worker.submit(Lane.SYNC, Job(log, "a"))
    worker.submit(Lane.SYNC, last)
    worker.submit(Lane.BACKGROUND, Job(log, "c"))
    worker.wait(last)
    assert log == ["run a", "run b", "done a", "done b"]
    place.run(100)
    assert log[4:] == ["run c"]


def test_who_waits_alone_is_told_alone() -> None:
    place, log = Place(), list[str]()
    worker = worker_on(place)
    last = Job(log, "b")
    worker.submit(Lane.SYNC, Job(log, "a"))
    worker.submit(Lane.SYNC, last)
    worker.wait_alone(last)
    assert log == ["run a", "run b", "done b"]
    worker.collect()
    assert log[3:] == ["done a"]


def test_a_worker_that_is_closed_has_done_everything_and_takes_nothing() -> None:
    place, log = Place(), list[str]()
    worker = worker_on(place)
    worker.submit(Lane.SYNC, Job(log, "a"))
    worker.close()
    assert log == ["run a", "done a"]
    with pytest.raises(Misuse):
        worker.submit(Lane.SYNC, Job(log, "b"))


def test_a_job_dies_with_its_process() -> None:
    place, log = Place(), list[str]()
    worker = worker_on(place)
    worker.submit(Lane.SYNC, Job(log, "a"))
    place.near.kill()
    place.run(100)
    assert log == []
