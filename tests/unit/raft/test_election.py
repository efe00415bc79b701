"""Candidacy: votes of voters, each once."""

from aerobee.raft.election import Candidacy
from aerobee.raft.membership import Member, Members, voters


def test_a_majority_of_voters_wins() -> None:
    candidacy = Candidacy(1, is_asking=False)
    assert not candidacy.is_won(voters(1, 2, 3))
    candidacy.count(3)
    assert candidacy.is_won(voters(1, 2, 3))


def test_a_vote_that_comes_twice_counts_once() -> None:
    candidacy = Candidacy(1, is_asking=True)
    candidacy.count(2)
    candidacy.count(2)
    assert not candidacy.is_won(voters(1, 2, 3, 4, 5))


def test_votes_of_learners_and_strangers_do_not_count() -> None:
    members = Members((Member(1, "", True), Member(2, "", True), Member(3, "", False)))
    candidacy = Candidacy(1, is_asking=False)
    candidacy.count(3)
    candidacy.count(8)
    assert not candidacy.is_won(members)


def test_a_candidate_that_is_no_voter_does_not_count_itself() -> None:
    candidacy = Candidacy(9, is_asking=False)
    candidacy.count(1)
    assert not candidacy.is_won(voters(1, 2, 3))


def test_the_only_voter_has_won() -> None:
    assert Candidacy(1, is_asking=True).is_won(voters(1))
