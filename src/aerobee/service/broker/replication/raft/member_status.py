"""Status of a member of a Raft group, as tools and monitoring are told: a leader's followers, a
follower's leader, or who belongs to the group.

A follower is in sync if it has answered within an election timeout and its log is known to be a
prefix of the leader's. A learner copies, and counts for nothing.
"""

from collections.abc import Callable

from aerobee.errors import NothingTaken
from aerobee.model.replica_status import (
    FOLLOWING,
    NO_NODE,
    UNKNOWN,
    WITHOUT_ROOM,
    GroupMember,
    GroupMembers,
    MasterStatus,
    ReplicaLag,
    SlaveStatus,
)
from aerobee.protocol.response_codes import ResponseCode
from aerobee.raft.node import Node
from aerobee.raft.progress import NEVER, Progress
from aerobee.replication.raft_links import RaftLinks
from aerobee.service.broker.replication.raft.member_changes import is_answering
from aerobee.storage.store import Store

LEARNER = "it is a learner: it does not count"
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
    why = _why_not(node, other, links, now_ms) or ("" if is_voter else LEARNER)
    return ReplicaLag(
        links.brokers.get(other) or node.members.address(other),
        progress.synced,
        max(0, end - progress.synced),
        0 if progress.synced >= end else max(0, silent_ms),
        not why,
        why,
        transfer_from=progress.next,
    )


def _why_not(node: Node, other: int, links: RaftLinks, now_ms: int) -> str:
    """Why a leader does not count on another member; empty: it may."""
    assert node.leading is not None
    if not is_answering(node, other, now_ms):
        problem = links.problem(other)
        return f"it does not answer: {problem}" if problem else "it does not answer"
    if not node.leading.progress[other].is_agreed:
        return "its log is being compared"
    return ""


def group_members(
    node: Node, group: str, brokers: Callable[[int], str], links: RaftLinks, now_ms: int
) -> GroupMembers:
    """Who belongs to the group, and, as told by its leader, how far each is. `brokers` returns
    where clients reach a member."""
    leading = node.leading
    found = []
    for one in node.members.listed:
        told = GroupMember(one.node, one.address, one.is_voter, brokers(one.node))
        if leading is not None and one.node == node.node:
            told = told._replace(lag_bytes=0, is_answering=True)
        elif leading is not None and one.node in leading.progress:
            why = _why_not(node, one.node, links, now_ms)
            told = told._replace(
                lag_bytes=max(0, node.log.end - leading.progress[one.node].synced),
                is_answering=is_answering(node, one.node, now_ms),
                why=why or ("" if one.is_voter else LEARNER),
            )
        found.append(told)
    leader = NO_NODE if node.leader is None else node.leader
    is_settled = node.log.commit > node.log.epochs.last_start
    return GroupMembers(node.node, group, node.term, leader, is_settled, found)


def follower_status(
    node: Node, store: Store, leader: str, shortage: NothingTaken | None
) -> SlaveStatus:
    """`shortage`: why it copies nothing."""
    end = store.end_offset
    is_following = node.leader is not None and node.leader != node.node
    state = FOLLOWING if is_following else NO_LEADER
    why = "" if is_following else "no leader is known: an election is under way, or too few are up"
    if shortage is not None:
        state, why = WITHOUT_ROOM, f"it copies nothing: {shortage}"
    return SlaveStatus(
        leader,
        state,
        end,
        store.flushed_offset,
        max(end, node.log.commit),
        max(0, node.log.commit - end),
        UNKNOWN,
        why,
    )


class Majority:
    """The `Copies` that the answers of a leader wait for."""

    def __init__(self, timeout_ms: int) -> None:
        self.timeout_ms = timeout_ms

    def late_code(self) -> ResponseCode:
        """Whether it will be committed is not known: the majority may have lost its leader."""
        return ResponseCode.FLUSH_SLAVE_TIMEOUT
