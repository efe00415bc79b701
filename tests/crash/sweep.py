"""A story, crashed at every moment of it: before each disk call and after each action.

At each moment the process is killed, and the power is cut: of the states that a cut can leave, a
share is drawn by the seed (`crash_choice` says which there are). Every one is opened and judged
(`recovery_check`). What a killed process leaves is also read back and compared with what was sent.
"""

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from aerobee.app.chaos.log_check import Found, check, explain
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.config import FlushMode
from aerobee.storage.defects import NO_DEFECTS, Defects
from aerobee.storage.store import Store
from tests.crash.recovery_check import RecoveryCheck, Truth
from tests.crash.story import QUEUES, Story
from tests.store_kit import ROOT, read_all

PROCESSES = 2


class Sweep(NamedTuple):
    """How much was checked."""

    moments: int
    states: int


class Job(NamedTuple):
    seed: int
    mode: FlushMode
    actions: int
    share: float
    """Of the states that a power cut can leave at each moment."""


def sweep(job: Job, defects: Defects = NO_DEFECTS, recovery_defects: Defects = NO_DEFECTS) -> Sweep:
    """AssertionError if any state breaks a law; it says how to see it again.

    `defects` are those of the store that crashes, `recovery_defects` of the one that is opened
    after it.
    """
    crashes = _Crashes(job, recovery_defects)
    story = Story(job.seed, job.mode, crashes.visit, defects=defects)
    crashes.check = RecoveryCheck(story.config, recovery_defects)
    try:
        story.run(job.actions)
    except AssertionError as error:
        raise AssertionError(f"{job} at moment {story.moments}: {error}") from error
    return Sweep(story.moments, crashes.check.count)


def sweep_all(jobs: Iterable[Job]) -> Sweep:
    """Side by side: each job is alone with its store."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        done = list(pool.map(sweep, jobs))
    return Sweep(sum(one.moments for one in done), sum(one.states for one in done))


class _Crashes:
    """Stages the crashes of one story."""

    check: RecoveryCheck

    def __init__(self, job: Job, defects: Defects) -> None:
        self._job = job
        self._defects = defects
        self._truth = Truth(b"")

    def visit(self, story: Story) -> None:
        if len(self._truth.log) != story.appended_to:
            self._truth = Truth(story.log)
        self.check.check(story.disk.kill(), self._truth, story.appended_to)
        seed = self._job.seed << 32 | story.moments
        for state in story.disk.crash_states(seed=seed, share=self._job.share):
            self.check.check(state, self._truth, story.durable_to)
        if story.moments % 16 == 0:
            self._read_back(story)

    def _read_back(self, story: Story) -> None:
        store = Store.open(
            story.disk.kill(), ROOT, story.config, SimDiskWorker(), defects=self._defects
        )
        there = {
            queue: [
                Found(message.body.partition(b" ")[0], message.queue_offset, message.body)
                for message in read_all(store, *queue)
            ]
            for queue in QUEUES
        }
        anomalies = check(story.sent, there)
        assert not anomalies, explain(anomalies)
