"""Members of a Raft group: voters, and learners that copy the log and count for nothing; and the
changes of them, one voter at a time.

Any majority of the members before such a change shares a voter with any majority after it. So the
new members count from the moment at which their record is in the log, committed or not, and no
decision needs both groups.
"""

from typing import NamedTuple, TypeAlias

from aerobee.errors import Misuse


class Member(NamedTuple):
    node: int
    address: str
    is_voter: bool


class Members:
    """Who belongs to the group, by the number of the node."""

    __slots__ = ("listed", "nodes", "quorum", "voters")

    def __init__(self, listed: tuple[Member, ...]) -> None:
        self.listed = tuple(sorted(listed))
        self.nodes = tuple(member.node for member in self.listed)
        self.voters = frozenset(member.node for member in self.listed if member.is_voter)
        self.quorum = len(self.voters) // 2 + 1
        """Voters that must agree."""
        if len(set(self.nodes)) != len(self.nodes):
            raise Misuse(f"a node is listed twice among {self.nodes}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Members) and self.listed == other.listed

    def __hash__(self) -> int:
        return hash(self.listed)

    def __repr__(self) -> str:
        learners = [node for node in self.nodes if node not in self.voters]
        return f"Members(voters {sorted(self.voters)}, learners {learners})"

    def address(self, node: int) -> str:
        """The address of a node; empty if it is no member."""
        return next((member.address for member in self.listed if member.node == node), "")


NOBODY = Members(())
"""A node that waits to be added knows nobody."""


def voters(*nodes: int) -> Members:
    """Members without addresses, all of them voters."""
    return Members(tuple(Member(node, "", True) for node in nodes))


class AddLearner(NamedTuple):
    node: int
    address: str


class Promote(NamedTuple):
    """Make a learner a voter."""

    node: int


class Remove(NamedTuple):
    """Remove a learner or a voter."""

    node: int


Change: TypeAlias = AddLearner | Promote | Remove


def changed(members: Members, change: Change) -> Members | str:
    """The members after a change, or the reason why it cannot be made."""
    node = change.node
    is_member = node in members.nodes
    others = tuple(member for member in members.listed if member.node != node)
    if isinstance(change, AddLearner):
        if is_member:
            return f"node {node} is a member already"
        return Members((*others, Member(node, change.address, False)))
    if not is_member:
        return f"node {node} is no member"
    if isinstance(change, Promote):
        if node in members.voters:
            return f"node {node} is a voter already"
        return Members((*others, Member(node, members.address(node), True)))
    if members.voters == {node}:
        return f"node {node} is the last voter"
    return Members(others)
