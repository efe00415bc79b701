"""RaftGroupConfig: the settings of a broker that is a member of a Raft group, frozen.

RocketMQ's DLedger has names for most of them, with a spelling of its own; each has a second name
here, which means the same.

    dLegerPeers=n0-10.0.0.1:40911;n1-10.0.0.2:40911;n2-10.0.0.3:40911      the same on all brokers
    dLegerSelfId=n0                                                        which of them this one is
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from aerobee.errors import Misuse
from aerobee.model.setting import TEXT, TRUTH, Setting, Whole
from aerobee.raft.config import RaftConfig
from aerobee.raft.membership import Member, Members

NOT_GIVEN = -1

_ID = re.compile(r"[A-Za-z]([0-9]{1,6})")
_PEER = re.compile(r"([A-Za-z][0-9]{1,6})-(.+):([0-9]{1,5})")


class RaftPeer(NamedTuple):
    """A member as the settings name it."""

    node: int
    address: str
    """Its Raft address, `host:port`."""


class PeersKind:
    """Members, as `n0-host:port` joined by semicolons."""

    def read(self, text: str) -> tuple[RaftPeer, ...]:
        peers = []
        for part in filter(None, (one.strip() for one in text.split(";"))):
            found = _PEER.fullmatch(part)
            if found is None or not 0 < int(found[3]) < 65536:
                raise ValueError("members like n0-10.0.0.1:40911;n1-10.0.0.2:40911")
            peers.append(RaftPeer(node_of(found[1]), f"{found[2]}:{int(found[3])}"))
        if len({one.node for one in peers}) != len(peers):
            raise ValueError("members with a number each: n0, n1, n2")
        return tuple(peers)

    def write(self, value: tuple[RaftPeer, ...]) -> str:
        return ";".join(f"n{one.node}-{one.address}" for one in value)


class NodeIds:
    """Names of members such as n0, joined by semicolons; nothing is nobody."""

    def read(self, text: str) -> tuple[int, ...]:
        names = [one.strip() for one in text.split(";") if one.strip()]
        if not all(_ID.fullmatch(one) for one in names):
            raise ValueError("names of members like n0 or n0;n1")
        return tuple(node_of(one) for one in names)

    def write(self, value: tuple[int, ...]) -> str:
        return ";".join(f"n{one}" for one in value)


class NodeId:
    """The name of one member, such as n0."""

    def read(self, text: str) -> int:
        if not text:
            return NOT_GIVEN
        if not _ID.fullmatch(text):
            raise ValueError("the name of a member: a letter and a number, like n0; or empty")
        return node_of(text)

    def write(self, value: int) -> str:
        return f"n{value}" if value >= 0 else ""


def node_of(name: str) -> int:
    """The number of a member in its name: n2 → 2."""
    return int(name[1:])


@dataclass(frozen=True, slots=True)
class RaftGroupConfig:
    is_on: bool = False
    """This broker is a member of a Raft group: a majority stores every message, and elects a new
    leader if the old one is lost."""
    group: str = ""
    """The name of the group. Empty: the broker's name."""
    peers: tuple[RaftPeer, ...] = ()
    """The first members; later ones are in the log."""
    node: int = NOT_GIVEN
    """Which of them this broker is."""
    preferred: tuple[int, ...] = ()
    """Members that lead if they can."""
    joins: bool = False
    """A broker with an empty store waits until it is added to a group that exists."""
    election_timeout_ms: int = RaftConfig().election_timeout_ms
    """A member that hears nothing of its leader for so long stands for election, at most twice as
    long after. The same on all members."""
    heartbeat_ms: int = RaftConfig().heartbeat_ms
    """How often a leader with nothing to send says that it leads."""
    forwarding_quiet_ms: int = 3_000
    """A member that is stopped closes when no client has asked it for anything for so long."""
    forwarding_time_ms: int = 60_000
    """Or when it was stopped so long ago. Clients ask for routes every 30 seconds."""

    @property
    def address(self) -> str:
        """This member's own Raft address; empty if it is not listed."""
        return next((one.address for one in self.peers if one.node == self.node), "")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def broker_id(self) -> int:
        """The broker id of this member while it follows."""
        return self.node + 1

    def members(self) -> Members:
        """The first members of a new group: all of them vote."""
        return Members(tuple(Member(one.node, one.address, True) for one in self.peers))

    def core(self) -> RaftConfig:
        """The times of the state machine."""
        return RaftConfig(
            election_timeout_ms=self.election_timeout_ms, heartbeat_ms=self.heartbeat_ms
        )


GROUP_SETTINGS = (
    Setting("enableDLegerCommitLog", "is_on", TRUTH),
    Setting("dLegerGroup", "group", TEXT),
    Setting("dLegerPeers", "peers", PeersKind()),
    Setting("dLegerSelfId", "node", NodeId()),
    Setting("preferredLeaderId", "preferred", NodeIds()),
    Setting("raftJoin", "joins", TRUTH),
    Setting("raftElectionTimeout", "election_timeout_ms", Whole(100, 60_000)),
    Setting("raftHeartbeatInterval", "heartbeat_ms", Whole(10, 20_000)),
    Setting("raftForwardingQuiet", "forwarding_quiet_ms", Whole(0, 60_000)),
    Setting("raftForwardingTime", "forwarding_time_ms", Whole(0, 600_000)),
)
SECOND_NAMES = {
    "raftEnable": "enableDLegerCommitLog",
    "raftGroup": "dLegerGroup",
    "raftPeers": "dLegerPeers",
    "raftSelfId": "dLegerSelfId",
    "raftPreferredLeader": "preferredLeaderId",
}
"""Names of our own for settings that have one of RocketMQ's."""


def group_mistakes(config: RaftGroupConfig) -> list[str]:
    """Settings that do not fit together."""
    if not config.is_on:
        return []
    found = []
    if not config.address:
        found.append(
            "a member of a Raft group must be one of dLegerPeers: write dLegerPeers="
            "n0-10.0.0.1:40911;n1-10.0.0.2:40911;n2-10.0.0.3:40911 and dLegerSelfId=n0"
        )
    try:
        config.core()
    except Misuse:
        found.append(
            f"raftHeartbeatInterval={config.heartbeat_ms} is too long for raftElectionTimeout="
            f"{config.election_timeout_ms}: write raftHeartbeatInterval="
            f"{config.election_timeout_ms // 5}"
        )
    return found
