"""RaftConfig: times and sizes of a Raft group, frozen.

All members of a group must have the same election timeout: a leader's lease ends before the
earliest moment at which a follower of it may vote for another.
"""

from dataclasses import dataclass

from aerobee.errors import Misuse


@dataclass(frozen=True, slots=True)
class RaftConfig:
    election_timeout_ms: int = 1_000
    """A follower that hears nothing for so long, and for a random part of as much again, asks for
    an election. It votes for nobody before."""
    heartbeat_ms: int = 200
    clock_drift_percent: int = 10
    """No clock of the group runs faster or slower than real time by more."""
    batch_bytes: int = 1 << 20
    """One message of records, unless its first record is larger."""
    window_bytes: int = 8 << 20
    """Records that were sent to a follower and are not known to be on its disk."""
    promotion_lag_bytes: int = 4 << 20
    """A learner that is further behind does not become a voter."""

    def __post_init__(self) -> None:
        if not 0 < 2 * self.heartbeat_ms <= self.lease_ms:
            raise Misuse(
                f"heartbeats every {self.heartbeat_ms} ms with a lease of {self.lease_ms} ms",
                hint="two heartbeats must fit into the lease: a longer election timeout",
            )
        if self.batch_bytes < 1 or self.window_bytes < self.batch_bytes:
            raise Misuse("a window that is smaller than one batch", hint="a larger window")

    @property
    def answer_interval_ms(self) -> int:
        """Between two answers of a follower to messages without records, and between two heartbeats
        that a leader sends for reads that wait: a fraction of what those would wait otherwise."""
        return max(1, self.heartbeat_ms // 10)

    @property
    def lease_ms(self) -> int:
        """How long after a heartbeat was sent no other leader can be elected, by the leader's
        clock: its own may be slow by the drift, a follower's fast. Two milliseconds are rounding.
        """
        slowest, fastest = 100 - self.clock_drift_percent, 100 + self.clock_drift_percent
        return self.election_timeout_ms * slowest // fastest - 2
