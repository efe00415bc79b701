"""Status of a member of a Raft group, as tools and monitoring are told: a leader's followers, or a
follower's leader.

A follower is in sync if it has answered within an election timeout and its log is known to be a
prefix of the leader's. A learner copies, and counts for nothing.
"""

from aerobee.model.replica_status import FOLLOWING, UNKNOWN, MasterStatus, ReplicaLag, SlaveStatus
from aerobee.protocol.response_codes import ResponseCode
from aerobee.raft.node import Node
from aerobee.raft.progress import NEVER, Progress
from aerobee.replication.raft_links import RaftLinks
from aerobee.storage.store import Store

NO_LEADER = "without a leader"
"""The state of a follower that knows no leader."""


def leader_status(node: Node, end: int, links: RaftLinks, now_ms: int) -> MasterStatus:
    leading = node.leading
    found = leading.progress.items() if leading is not None else ()
    replicas = [_lag(node, other, progress, end, links, now_ms) for other, progress in found]
    return MasterStatus(end, node.members.quorum, replicas)


def _lag(
    node: Node, other: int, progress: Progress, end: int, links: RaftLinks, now_ms: int
) -> ReplicaLag:
    silent_ms = UNKNOWN if progress.echo_ms == NEVER else now_ms - progress.echo_ms
    is_voter = other in node.members.voters
    is_heard = 0 <= silent_ms <= node.election_timeout_ms
    why = ""
    if not is_heard:
        why = "it does not answer"
    elif not progress.is_agreed:
        why = "its log is being compared"
    elif not is_voter:
        why = "it is a learner: it does not count"
    return ReplicaLag(
        links.brokers.get(other) or node.members.address(other),
        progress.synced,
        max(0, end - progress.synced),
        0 if progress.synced >= end else max(0, silent_ms),
        not why,
        why,
        transfer_from=progress.next,
    )


def follower_status(node: Node, store: Store, leader: str) -> SlaveStatus:
    end = store.end_offset
    is_following = node.leader is not None and node.leader != node.node
    return SlaveStatus(
        leader,
        FOLLOWING if is_following else NO_LEADER,
        end,
        store.flushed_offset,
        max(end, node.log.commit),
        max(0, node.log.commit - end),
        UNKNOWN,
        "" if is_following else "no leader is known: an election is under way, or too few are up",
    )


class Majority:
    """The `Copies` that the answers of a leader wait for."""

    def __init__(self, timeout_ms: int) -> None:
        self.timeout_ms = timeout_ms

    def late_code(self) -> ResponseCode:
        """Whether it will be committed is not known: the majority may have lost its leader."""
        return ResponseCode.FLUSH_SLAVE_TIMEOUT
