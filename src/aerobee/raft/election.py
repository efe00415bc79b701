"""Candidacy: the votes of one election, or of the question that comes before it.

PreVote asks whether an election would be won before a term is spent on it: a node that was cut off
and comes back does not depose a leader that everybody else hears.
"""

from aerobee.raft.membership import Members


class Candidacy:
    __slots__ = ("_votes", "is_asking")

    def __init__(self, node: int, *, is_asking: bool) -> None:
        """`is_asking`: it is the question before the election."""
        self.is_asking = is_asking
        self._votes = {node}

    def count(self, voter: int) -> None:
        self._votes.add(voter)

    def is_won(self, members: Members) -> bool:
        return len(self._votes & members.voters) >= members.quorum
