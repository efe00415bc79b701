"""GroupBook: the members of a Raft group by a script, for tools that list and change them.

A new member is unheard, or copies as much as `lags` says at each look; a promotion is refused until
nothing is left.
"""

from aerobee.model.replica_status import GroupMember, GroupMembers
from aerobee.protocol.headers.replication import (
    ADD_MEMBER,
    PROMOTE_MEMBER,
    REMOVE_MEMBER,
    ChangeMembersHeader,
)
from aerobee.protocol.response_codes import ResponseCode

LATER = ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED


class GroupBook:
    def __init__(self, *nodes: int, leader: int = 0) -> None:
        self.leader = leader
        self.members = {
            node: GroupMember(node, f"h{node}:40911", True, f"h{node}:10911", 0, True)
            for node in nodes
        }
        self.asked: list[str] = []
        """Every change that was asked for, and `elect`."""
        self.refusals: list[tuple[ResponseCode, str]] = []
        """Answers to the next changes."""
        self.unheard: set[int] = set()
        self.lags: list[int] = []
        """How far a learner is behind, look after look; then not at all."""

    def view(self) -> GroupMembers:
        for node, member in self.members.items():
            if not member.is_voter:
                is_heard = node not in self.unheard
                lag = self.lags.pop(0) if is_heard and self.lags else 0
                why = "" if is_heard else "it does not answer: nobody listens there"
                self.members[node] = member._replace(lag_bytes=lag, is_answering=is_heard, why=why)
        listed = [self.members[node] for node in sorted(self.members)]
        return GroupMembers(self.leader, "broker-a", 3, self.leader, True, listed)

    def change(self, header: ChangeMembersHeader) -> tuple[ResponseCode, str]:
        self.asked.append(f"{header.operation} {header.node}")
        if self.refusals:
            return self.refusals.pop(0)
        node = header.node
        if header.operation == ADD_MEMBER:
            self.members[node] = GroupMember(node, header.address or "", False)
        elif header.operation == PROMOTE_MEMBER:
            if self.lags:
                return LATER, f"node {node} is {self.lags[0]} bytes behind"
            self.members[node] = self.members[node]._replace(is_voter=True)
        elif header.operation == REMOVE_MEMBER:
            del self.members[node]
        return ResponseCode.SUCCESS, ""

    def elect(self) -> None:
        self.asked.append("elect")
        self.leader = next(node for node in sorted(self.members) if node != self.leader)
