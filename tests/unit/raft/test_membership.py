"""Members, and changes of one voter at a time."""

import pytest

from aerobee.errors import Misuse
from aerobee.raft.membership import AddLearner, Member, Members, Promote, Remove, changed, voters

GROUP = Members((Member(3, "c:1", True), Member(1, "a:1", True), Member(9, "d:1", False)))


@pytest.mark.parametrize(("count", "quorum"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_a_quorum_is_more_than_half_of_the_voters(count: int, quorum: int) -> None:
    assert voters(*range(count)).quorum == quorum


def test_learners_are_members_and_no_voters() -> None:
    assert GROUP.nodes == (1, 3, 9)
    assert GROUP.voters == {1, 3}
    assert GROUP.quorum == 2
    assert repr(GROUP) == "Members(voters [1, 3], learners [9])"


def test_the_address_of_a_stranger_is_empty() -> None:
    assert GROUP.address(3) == "c:1"
    assert GROUP.address(4) == ""


def test_the_order_in_which_members_are_listed_says_nothing() -> None:
    assert voters(1, 2) == voters(2, 1)
    assert len({voters(1, 2), voters(2, 1), voters(1, 2, 3)}) == 2


def test_a_node_is_not_listed_twice() -> None:
    with pytest.raises(Misuse, match="twice"):
        voters(1, 1)


def test_a_node_joins_as_a_learner_and_keeps_its_address_as_a_voter() -> None:
    joined = changed(GROUP, AddLearner(4, "e:1"))
    assert isinstance(joined, Members)
    assert joined.voters == GROUP.voters
    promoted = changed(joined, Promote(4))
    assert isinstance(promoted, Members)
    assert promoted.voters == {1, 3, 4}
    assert promoted.address(4) == "e:1"


def test_voters_and_learners_can_be_removed() -> None:
    assert changed(GROUP, Remove(9)) == Members(GROUP.listed[:2])
    without = changed(GROUP, Remove(3))
    assert isinstance(without, Members)
    assert without.voters == {1}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (AddLearner(1, ""), "member already"),
        (Promote(1), "voter already"),
        (Promote(5), "no member"),
        (Remove(5), "no member"),
    ],
)
def test_a_change_that_changes_nothing_is_refused(
    change: AddLearner | Promote | Remove, reason: str
) -> None:
    refusal = changed(GROUP, change)
    assert isinstance(refusal, str)
    assert reason in refusal


def test_the_last_voter_stays() -> None:
    assert changed(voters(7), Remove(7)) == "node 7 is the last voter"
