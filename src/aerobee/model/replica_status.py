"""Replica status: the replication of one broker, as it reports it to tools and to monitoring.

A master reports the slaves that are connected to it, a slave the master that it follows, a member
of a Raft group who belongs to it: a leader knows how far the others are, a follower only who they
are. Offsets are log offsets, moments are milliseconds since 1970.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

FOLLOWING = "following"
"""The state of a slave that copies its master's log."""
DIVERGED = "diverged"
"""The state of a slave whose log has records that its master's has not."""
ACTING = "acting as master"
"""The state of a slave that acts as master, because there is none."""
WITHOUT_ROOM = "without room"
"""The state of a follower that copies nothing, because its disk is full."""
UNKNOWN = -1
"""A lag that the broker does not report: RocketMQ's masters report no time, its slaves no lag."""


class ReplicaLag(NamedTuple):
    """A slave, as its master sees it."""

    address: str
    """The slave's end of the HA connection."""
    ack_offset: int
    """The log offset up to which the slave has acknowledged."""
    lag_bytes: int
    lag_ms: int
    """The time for which the slave has been behind; 0: it is not; UNKNOWN."""
    is_in_sync: bool
    """Whether it counts as a copy."""
    why: str = ""
    """The reason why it is not in sync; empty: it is, or its broker does not say."""
    bytes_per_second: float = 0.0
    transfer_from: int = 0
    """The log offset at which the next bytes for it begin."""


class MasterStatus(NamedTuple):
    end_offset: int
    copies_wanted: int
    """Copies that a send waits for, the master's own included; 1: it waits for no slave."""
    replicas: Sequence[ReplicaLag]

    @property
    def in_sync(self) -> int:
        """The number of slaves that count as copies."""
        return sum(replica.is_in_sync for replica in self.replicas)


class SlaveStatus(NamedTuple):
    master: str
    """The HA address of the master; empty: the slave knows none."""
    state: str
    """FOLLOWING, DIVERGED, or another word for what keeps it from following; empty: the broker does
    not say."""
    end_offset: int
    flushed_offset: int
    """UNKNOWN where the broker does not report it."""
    master_offset: int
    """The master's end of log, as far as the slave has heard; of a RocketMQ slave, the flush offset
    of the master that it remembers."""
    lag_bytes: int
    lag_ms: int
    why: str = ""
    """The reason why it does not follow; empty: it does."""
    last_read_ms: int = 0
    last_write_ms: int = 0
    bytes_per_second: float = 0.0
    link: str = ""
    """The slave's own end of the HA connection: its master lists it under this address."""


ReplicaStatus: TypeAlias = MasterStatus | SlaveStatus

NO_NODE = -1
"""The number of the leader, if the member knows none."""


class GroupMember(NamedTuple):
    node: int
    address: str
    """Where the other members reach it."""
    is_voter: bool
    """False: a learner, which copies the log and does not count."""
    broker: str = ""
    """Where clients reach it; empty: it has not said."""
    lag_bytes: int = UNKNOWN
    """How much of the leader's log is not on its disk; UNKNOWN: the leader is not asked."""
    is_answering: bool | None = None
    """Whether the leader hears it; None: the leader is not asked."""
    why: str = ""
    """The reason why it is not heard, or does not count."""

    @property
    def name(self) -> str:
        return f"n{self.node}"


class GroupMembers(NamedTuple):
    node: int
    """The member that tells it."""
    group: str
    term: int
    leader: int
    """NO_NODE: it knows none."""
    is_settled: bool
    """Whether a majority has these members in its log: the next change may be made."""
    members: Sequence[GroupMember]

    @property
    def is_of_leader(self) -> bool:
        return self.leader == self.node

    def find(self, node: int) -> GroupMember | None:
        return next((one for one in self.members if one.node == node), None)
