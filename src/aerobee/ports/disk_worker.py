"""DiskWorker runs blocking disk work on disk threads, beside the core.

The core never blocks: it submits a job. `run` is called once on a disk thread and must touch
nothing that the core changes; `done` is called once, later, on the core's own thread from
`collect`, with the error that `run` raised, if any. Jobs of one lane run in the order submitted.
"""

from enum import Enum
from typing import Protocol


class Lane(Enum):
    """A queue of jobs: jobs of one lane may delay each other."""

    SYNC = "sync"  # syncs of the commit log, which producers wait for; nothing else
    WARM = "warm"  # pages for the next appends: if late, the core pays for them
    BACKGROUND = "background"  # new files, deletion, checkpoints


class DiskJob(Protocol):
    def run(self) -> None: ...

    def done(self, error: BaseException | None) -> None: ...


class DiskWorker(Protocol):
    def submit(self, lane: Lane, job: DiskJob) -> None: ...

    def collect(self) -> int:
        """Call `done` of every finished job; returns their number."""

    def wait(self, job: DiskJob) -> None:
        """Block until this submitted job has run, then collect. Only for the rare case in which the
        core cannot continue without it, and is in the middle of nothing."""

    def wait_alone(self, job: DiskJob) -> None:
        """The same in the middle of an operation: call only this job's `done`. Callbacks of others
        may start operations of their own, like a send that waited for its topic."""

    def close(self) -> None:
        """Run the submitted jobs, collect them, and stop."""
