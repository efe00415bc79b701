"""Blocking disk work, done beside the core.

The core never blocks: it submits a job. `run` is called once on a disk thread and must touch
nothing that the core changes; `done` is called once, later, on the core's own thread from
`collect`, with the error that `run` raised, if any. Jobs of one lane run in the order submitted.
"""

from enum import Enum
from typing import Protocol


class Lane(Enum):
    """Which jobs may hold each other up."""

    SYNC = "sync"  # what a waiting producer waits for: syncs of the commit log, nothing else
    WARM = "warm"  # pages for the next appends: late, they cost the core what they should save
    BACKGROUND = "background"  # new files, deletion, checkpoints


class DiskJob(Protocol):
    def run(self) -> None: ...

    def done(self, error: BaseException | None) -> None: ...


class DiskWorker(Protocol):
    def submit(self, lane: Lane, job: DiskJob) -> None: ...

    def collect(self) -> int:
        """Call `done` of every finished job; how many there were."""

    def wait(self, job: DiskJob) -> None:
        """Block until this submitted job has run, then collect. Only for the rare moment in
        which the core cannot go on without it, and has nothing begun."""

    def wait_alone(self, job: DiskJob) -> None:
        """The same in the middle of something: call only this job's `done`. Others may begin
        something of their own when they are told, as a send does that waited for its topic."""

    def close(self) -> None:
        """Run what was submitted, collect it, and stop."""
