"""ChaosCluster: a Raft group that may be broken on purpose, as faults see it.

It is one that is started for the test (`own_cluster`), or one that runs and is marked as a test
cluster (`marked_cluster`).
"""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

from aerobee.errors import AerobeeError


class ChaosRefused(AerobeeError):
    """The cluster must not be broken, or cannot be from here."""


class Fault(Enum):
    KILL = "kill"
    """SIGKILL, as a crash; started again after a while."""
    STOP = "stop"
    """SIGTERM, as before an upgrade: a leader hands over first."""
    PAUSE = "pause"
    """SIGSTOP, then SIGCONT: the process does not know that it slept."""
    CUT = "cut"
    """Other members are not reached any more; clients are."""
    DISK = "disk"
    """No room is left on the disk of its store."""
    CLOCK = "clock"
    """The wall clock jumps by an hour, and back."""


class Victim(Protocol):
    """A broker that can be broken."""

    @property
    def label(self) -> str: ...

    @property
    def address(self) -> str:
        """Where clients reach it."""

    @property
    def is_running(self) -> bool: ...

    def kill(self) -> None: ...

    def stop(self) -> None: ...

    def pause(self) -> None: ...

    def go_on(self) -> None: ...

    def cut(self) -> None: ...

    def join(self) -> None: ...

    def fill_disk(self) -> None: ...

    def empty_disk(self) -> None: ...

    def shift_clock(self, shift_ms: int) -> None: ...

    async def until_ended(self) -> None: ...

    async def start(self) -> None: ...


class ChaosCluster(Protocol):
    @property
    def target(self) -> str:
        """Its name servers."""

    @property
    def broker(self) -> str:
        """The broker name of the group."""

    @property
    def victims(self) -> Sequence[Victim]: ...

    def why_not(self, fault: Fault) -> str:
        """The reason why a fault is not possible here; empty: it is."""
