"""SavedState of a node that has never been in a group."""

from aerobee.raft.epochs import Epoch
from aerobee.raft.membership import NOBODY, voters
from aerobee.raft.saved_state import first_state


def test_the_first_members_know_each_other_and_have_voted_for_nobody() -> None:
    state = first_state(voters(1, 2))
    assert (state.term, state.vote) == (0, None)
    assert state.epochs == (Epoch(0, 0, voters(1, 2)),)


def test_a_node_that_waits_to_be_added_knows_nobody() -> None:
    assert first_state(log_start=40).epochs == (Epoch(40, 0, NOBODY),)
