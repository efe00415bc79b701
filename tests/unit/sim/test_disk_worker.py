from collections.abc import Callable

import pytest

from aerobee.errors import Misuse
from aerobee.ports.disk_worker import Lane
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.sim.faults import PowerCut


class Story:
    """What happened, in order: "run a", "done a"."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def job(
        self, name: str, work: Callable[[], object] = int, then: Callable[[], object] = int
    ) -> "StoryJob":
        return StoryJob(self, name, work, then)


class StoryJob:
    def __init__(
        self, story: Story, name: str, work: Callable[[], object], then: Callable[[], object]
    ) -> None:
        self._story = story
        self._name = name
        self._work = work
        self._then = then

    def run(self) -> None:
        self._story.events.append(f"run {self._name}")
        self._work()

    def done(self, error: BaseException | None) -> None:
        self._story.events.append(f"done {self._name}" + (f" {error}" if error else ""))
        self._then()


def _submitted() -> tuple[SimDiskWorker, Story]:
    worker, story = SimDiskWorker(), Story()
    worker.submit(Lane.BACKGROUND, story.job("b1"))
    worker.submit(Lane.SYNC, story.job("s1"))
    worker.submit(Lane.BACKGROUND, story.job("b2"))
    worker.submit(Lane.SYNC, story.job("s2"))
    return worker, story


def test_nothing_runs_until_told_and_nothing_is_done_until_collected() -> None:
    worker, story = _submitted()
    assert worker.collect() == 0
    assert story.events == []
    assert worker.pending() == 4
    assert worker.pending(Lane.SYNC) == 2
    assert worker.run_next()
    assert story.events == ["run b1"]
    assert worker.collect() == 1
    assert story.events == ["run b1", "done b1"]


def test_left_alone_jobs_run_by_time_of_submission() -> None:
    worker, story = _submitted()
    assert worker.run_all() == 4
    assert story.events == ["run b1", "run s1", "run b2", "run s2"]
    assert not worker.run_next()
    assert worker.collect() == 4


def test_lanes_can_run_in_any_order_and_each_keeps_its_own() -> None:
    worker, story = _submitted()
    assert worker.run_all([Lane.SYNC, Lane.BACKGROUND]) == 4
    assert story.events == ["run s1", "run s2", "run b1", "run b2"]
    worker, story = _submitted()
    assert worker.run_all([Lane.BACKGROUND]) == 2
    assert worker.run_next(Lane.SYNC)
    assert not worker.run_next(Lane.BACKGROUND)
    assert story.events == ["run b1", "run b2", "run s1"]


def test_inline_jobs_run_at_once_and_are_done_when_collected() -> None:
    worker, story = SimDiskWorker(inline=True), Story()
    worker.submit(Lane.SYNC, story.job("a"))
    assert story.events == ["run a"]
    worker.collect()
    assert story.events == ["run a", "done a"]


def test_waiting_runs_the_jobs_lane_up_to_it_and_no_other() -> None:
    worker, story = SimDiskWorker(), Story()
    wanted = story.job("s2")
    worker.submit(Lane.BACKGROUND, story.job("b1"))
    worker.submit(Lane.SYNC, story.job("s1"))
    worker.submit(Lane.SYNC, wanted)
    worker.submit(Lane.SYNC, story.job("s3"))
    worker.wait(wanted)
    assert story.events == ["run s1", "run s2", "done s1", "done s2"]
    worker.wait(wanted)
    assert worker.pending() == 2


def test_who_waits_alone_is_told_alone() -> None:
    worker, story = SimDiskWorker(), Story()
    wanted = story.job("s2")
    worker.submit(Lane.SYNC, story.job("s1"))
    worker.submit(Lane.SYNC, wanted)
    worker.wait_alone(wanted)
    worker.wait_alone(wanted)
    assert story.events == ["run s1", "run s2", "done s2"]
    worker.collect()
    assert story.events[3:] == ["done s1"]


def test_an_error_reaches_done_and_a_power_cut_comes_out() -> None:
    def fail() -> None:
        raise OSError("broken")

    def cut() -> None:
        raise PowerCut("dark")

    worker, story = SimDiskWorker(), Story()
    worker.submit(Lane.SYNC, story.job("a", fail))
    worker.submit(Lane.SYNC, story.job("b", cut))
    worker.run_next()
    with pytest.raises(PowerCut):
        worker.run_next()
    worker.collect()
    assert story.events == ["run a", "run b", "done a broken"]


def test_closing_runs_what_was_submitted_and_what_follows_from_it() -> None:
    worker, story = SimDiskWorker(), Story()
    last = story.job("last")
    worker.submit(Lane.SYNC, story.job("a", then=lambda: worker.submit(Lane.SYNC, last)))
    worker.close()
    assert story.events == ["run a", "done a", "run last", "done last"]
    with pytest.raises(Misuse, match="closed"):
        worker.submit(Lane.SYNC, last)
