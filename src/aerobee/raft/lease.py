"""Lease: the time during which a leader knows that there is no other.

Every message of a leader carries a stamp, the time on its own clock, and every fetch of a follower
brings the newest one back. A follower votes for nobody for an election timeout after it has heard
its leader. So when a majority has brought a stamp back, no other leader exists until

    stamp + election timeout, less what clocks may differ in speed

Only the leader's own clock is compared with itself; clocks need not show the same time. It must go
on while a machine sleeps (CLOCK_BOOTTIME).

The same stamps decide two more things: a leader that no majority has answered for an election
timeout steps down, and a read that was asked for before a confirmed stamp is answered without any
lease.
"""

from aerobee.raft.config import RaftConfig


class Lease:
    __slots__ = ("_began_ms", "_config", "_is_given_up", "confirmed_ms")

    def __init__(self, config: RaftConfig, now_ms: int) -> None:
        self._config = config
        self._began_ms = now_ms
        # For a transfer: the voters are asked to break their promise, and may do so at any time.
        self._is_given_up = False
        self.confirmed_ms = now_ms - config.election_timeout_ms
        """A majority has heard the leader at this time or later."""

    def begin(self, now_ms: int) -> None:
        """Count the time without answers from now on. The lease is held no longer by it."""
        self._began_ms = now_ms

    def confirm(self, stamp_ms: int) -> None:
        if stamp_ms > self.confirmed_ms:
            self.confirmed_ms = stamp_ms

    def give_up(self) -> None:
        """Lead without a lease from now on."""
        self._is_given_up = True

    def is_held(self, now_ms: int) -> bool:
        return not self._is_given_up and now_ms < self.confirmed_ms + self._config.lease_ms

    def is_lost(self, now_ms: int) -> bool:
        """Whether the leader must step down."""
        since_ms = max(self.confirmed_ms, self._began_ms)
        return now_ms - since_ms >= self._config.election_timeout_ms

    def lost_ms(self) -> int:
        """When the leader must step down if nothing more is heard."""
        return max(self.confirmed_ms, self._began_ms) + self._config.election_timeout_ms
