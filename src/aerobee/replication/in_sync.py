"""InSync turns acknowledgements of slaves into the offset that enough copies have.

RocketMQ's HA protocol names nobody: a slave is known by its connection alone, and a slave that was
cut off leaves a connection behind that looks alive until it has been silent for long enough. So a
connection is a `Copy`, and connections from different hosts are different slaves. Several from one
host may be several slaves (on one machine, or behind one address) or one slave that came back:

    a slave has one connection at a time, and opens the next after it gave up the last

When a connection makes its first report, the older ones of its host are in doubt, and do not count,
until the slave behind them has shown that it is alive beside the new one. Each of these shows it:

    progress    it acknowledges bytes that it had not been sent when the new one reported
    presence    two reports after that, half a heartbeat interval or more apart (what a dead
                connection has left on the network comes at once, and its end behind it)

C1. `copied_offset` never falls, and is never more than so many different brokers have had.
C2. An acknowledgement below the last one, beyond what was sent or beyond the end of the log is
    refused: its copy counts no more (R2).
"""

from typing import NamedTuple

from aerobee.model.broker_role import BrokerRole
from aerobee.ports.clock import Now
from aerobee.ports.service import LinkId, Peer
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.log_growth import LogGrowth

NOT_REPORTED = -1


class Copy:
    """One connection of a slave, as far as it counts."""

    __slots__ = (
        "ack_offset",
        "doubted_at",
        "doubted_ms",
        "link",
        "peer",
        "present_ms",
        "sent_offset",
    )

    def __init__(self, link: LinkId, peer: Peer) -> None:
        self.link = link
        self.peer = peer
        self.ack_offset = NOT_REPORTED
        # Everything below was sent, or was there before.
        self.sent_offset = NOT_REPORTED
        # While in doubt: since when, what had been sent then, and the first report after it.
        self.doubted_ms: int | None = None
        self.doubted_at = 0
        self.present_ms: int | None = None

    @property
    def has_reported(self) -> bool:
        return self.ack_offset != NOT_REPORTED

    @property
    def counts(self) -> bool:
        return self.ack_offset != NOT_REPORTED and self.doubted_ms is None


class CopyStatus(NamedTuple):
    """A slave, as operators see it."""

    peer: Peer
    ack_offset: int
    """-1 before its first report."""
    lag_bytes: int
    lag_ms: int
    """For how long the master has had bytes that the slave has not acknowledged."""
    is_in_sync: bool
    why_not: str
    """Why it is not in sync; empty if it is."""


class InSync:
    """The copies of one master's log. The master itself is one of them, always in sync."""

    def __init__(self, config: ReplicationConfig) -> None:
        self._config = config
        self.waits = config.role is BrokerRole.SYNC_MASTER and config.in_sync_replicas > 1
        """Whether sends wait for slaves."""
        self._copies: dict[LinkId, Copy] = {}
        self._growth = LogGrowth()
        self._copied = 0

    # Copies come, report and go.

    def open(self, link: LinkId, peer: Peer) -> Copy:
        copy = self._copies[link] = Copy(link, peer)
        return copy

    def close(self, copy: Copy) -> None:
        self._copies.pop(copy.link, None)
        if not self._copies:
            self._growth.forget()

    def note_end(self, end_offset: int, monotonic_ms: int) -> None:
        """The log has grown."""
        self._growth.note(end_offset, monotonic_ms)

    def begin(self, copy: Copy, ack_offset: int, sent_offset: int, end: int, now: Now) -> None:
        """Take the first report of a connection, which the master has accepted. `sent_offset` is
        the offset from which on it is sent the log."""
        self._growth.note(end, now.monotonic_ms)
        copy.ack_offset = ack_offset
        copy.sent_offset = sent_offset
        for other in self._copies.values():
            if other is not copy and other.peer.host == copy.peer.host and other.has_reported:
                other.doubted_ms = now.monotonic_ms
                other.doubted_at = other.sent_offset
                other.present_ms = None

    def acknowledge(self, copy: Copy, ack_offset: int, now: Now) -> str:
        """Take a later report; the reason why it cannot be true, or nothing."""
        if ack_offset < copy.ack_offset:
            return f"it acknowledges {ack_offset} after {copy.ack_offset}"
        if ack_offset > copy.sent_offset:
            return f"it acknowledges {ack_offset}, and was sent the log up to {copy.sent_offset}"
        copy.ack_offset = ack_offset
        if copy.doubted_ms is not None:
            self._look_for_life(copy, now.monotonic_ms)
        return ""

    def _look_for_life(self, copy: Copy, monotonic_ms: int) -> None:
        if copy.present_ms is None:
            copy.present_ms = monotonic_ms
        apart_ms = self._config.heartbeat_interval_ms // 2
        if copy.ack_offset > copy.doubted_at or monotonic_ms - copy.present_ms >= apart_ms:
            copy.doubted_ms = None

    # Answers.

    def copied_offset(self, end: int) -> int | None:
        """Everything below is on as many brokers as a send waits for; None: no send waits."""
        if not self.waits:
            return None
        needed = self.needed(end)
        if needed <= 1:
            # Acknowledged without a slave: it stays so when one is in sync again.
            self._copied = max(self._copied, end)
            return None
        acks = sorted(copy.ack_offset for copy in self._copies.values() if copy.counts)
        if len(acks) >= needed - 1:
            self._copied = max(self._copied, acks[1 - needed])
        return self._copied

    def needed(self, end: int) -> int:
        """Copies that a send waits for, the master's included."""
        config = self._config
        if not self.waits:
            return 1
        if not config.adapts_in_sync:
            return config.in_sync_replicas
        return max(min(config.in_sync_replicas, self.count(end)), config.in_sync_replicas_min)

    def count(self, end: int) -> int:
        """Brokers in sync, the master included."""
        least = end - self._config.gap_bytes_max
        return 1 + sum(
            1 for copy in self._copies.values() if copy.counts and copy.ack_offset > least
        )

    def connected(self) -> int:
        """Slaves that are connected and have reported, each counted once."""
        return sum(1 for copy in self._copies.values() if copy.counts)

    def shortage(self, end: int) -> str:
        """Why a send must be refused before it is appended; nothing if it need not be."""
        if not self.waits:
            return ""
        count, needed = self.count(end), self.needed(end)
        if count >= needed:
            return ""
        return f"in-sync replicas not enough: {needed} are needed and {count} in sync"

    def statuses(self, end: int, now: Now) -> list[CopyStatus]:
        """Every connection of a slave, in the order in which they came."""
        return [self._status(copy, end, now.monotonic_ms) for copy in self._copies.values()]

    def _status(self, copy: Copy, end: int, monotonic_ms: int) -> CopyStatus:
        why_not = self._why_not(copy, end)
        lag_ms = self._growth.lag_ms(copy.ack_offset, monotonic_ms) if copy.has_reported else 0
        lag_bytes = end - max(0, copy.ack_offset)
        return CopyStatus(copy.peer, copy.ack_offset, lag_bytes, lag_ms, not why_not, why_not)

    def _why_not(self, copy: Copy, end: int) -> str:
        if not copy.has_reported:
            return "it has not reported yet"
        if copy.doubted_ms is not None:
            return "another connection came from the same host, perhaps of the same slave"
        gap, gap_max = end - copy.ack_offset, self._config.gap_bytes_max
        if gap >= gap_max:
            return f"{gap} bytes behind; {gap_max} are too many (haMaxGapNotInSync)"
        return ""
