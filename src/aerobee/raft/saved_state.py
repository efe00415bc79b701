"""SavedState: all that a node must not forget beside its log: its term, its vote and the epochs.

It is saved as one, so that no crash can separate its parts.
"""

from typing import NamedTuple

from aerobee.raft.epochs import Epoch, fresh_epochs
from aerobee.raft.membership import NOBODY, Members


class SavedState(NamedTuple):
    term: int
    vote: int | None
    """The node that was voted for in this term."""
    epochs: tuple[Epoch, ...]


def first_state(members: Members = NOBODY, log_start: int = 0) -> SavedState:
    """The state of a node that has never been in a group: of the first members of a new one, or,
    with NOBODY, of a node that waits until a leader adds it."""
    return SavedState(0, None, fresh_epochs(members, log_start))
