"""Node: roles, terms and votes; groups of nodes are in tests/raft_sim."""

import pytest

from aerobee.errors import Misuse, RaftBroken
from aerobee.raft.config import RaftConfig
from aerobee.raft.epochs import Epoch
from aerobee.raft.membership import NOBODY, AddLearner, Members, voters
from aerobee.raft.messages import (
    Fetch,
    PreVote,
    PreVoteAnswer,
    Records,
    TimeoutNow,
    Vote,
    VoteAnswer,
)
from aerobee.raft.node import NO_DEADLINE, LogBounds, Node, Role
from aerobee.raft.ready import Control, Ready, Send
from aerobee.raft.saved_state import SavedState, first_state

GROUP = voters(1, 2, 3)
CONFIG = RaftConfig(election_timeout_ms=1000)


class Half:
    """Every random number is in the middle."""

    def below(self, limit: int) -> int:
        return limit // 2


def to_limit(start: int, limit: int) -> int:
    return limit


def node(saved: SavedState | None = None, end: int = 0, now_ms: int = 0) -> Node:
    bounds = LogBounds(0, end, end, 0)
    return Node(1, saved or first_state(GROUP), bounds, CONFIG, Half(), to_limit, now_ms)


def work(one: Node) -> Ready:
    ready = one.ready()
    assert ready is not None
    return ready


def lead(one: Node) -> Ready:
    """Elected in the next term by node 2; with the record of its own appended."""
    one.tick(one.deadline_ms)
    one.ready()
    one.step(2, PreVoteAnswer(one.term + 1, True), one.deadline_ms)
    one.ready()
    one.step(2, VoteAnswer(one.term, True), one.deadline_ms)
    ready = work(one)
    one.appended(one.log.end + 10)
    return ready


def heard(one: Node, now_ms: int, term: int = 1) -> None:
    one.step(2, Records(term, 0, 0, 0, 0, None, 0, 0), now_ms)
    one.ready()


def test_a_follower_asks_before_it_stands_for_election() -> None:
    one = node()
    assert one.deadline_ms == 1500
    one.tick(1499)
    assert one.ready() is None
    one.tick(1500)
    ready = work(one)
    assert ready.save is None
    assert ready.sends == [Send(2, PreVote(1, 0, 0)), Send(3, PreVote(1, 0, 0))]
    assert (one.role, one.term) == (Role.CANDIDATE, 0)


def test_a_candidate_saves_its_vote_before_it_asks_for_others() -> None:
    one = node()
    one.tick(1500)
    one.ready()
    one.step(3, PreVoteAnswer(1, True), 1510)
    ready = work(one)
    assert ready.save is not None
    assert (ready.save.term, ready.save.vote) == (1, 1)
    assert Send(2, Vote(1, 0, 0, False)) in ready.sends


def test_a_leader_begins_with_a_record_of_its_own() -> None:
    one = node()
    ready = lead(one)
    assert one.role is Role.LEADER
    assert one.leader == 1
    assert ready.control == Control(0, 1, GROUP)
    assert ready.save is not None
    assert ready.save.epochs[-1] == Epoch(0, 1, GROUP)
    assert ready.sends == []
    assert [send.to for send in work(one).sends] == [2, 3]


def test_a_group_of_one_leads_at_once_and_commits_what_is_synced() -> None:
    one = node(first_state(voters(1)))
    one.tick(1500)
    assert work(one).control is not None
    one.appended(10)
    assert one.ready() is None
    one.synced(10)
    assert work(one).commit == 10
    assert one.read_offset(99_999) == 10


def test_votes_for_a_term_that_is_over_count_for_nothing() -> None:
    one = node()
    one.tick(1500)
    one.step(2, PreVoteAnswer(1, True), 1500)
    one.step(3, VoteAnswer(0, True), 1500)
    one.step(3, PreVoteAnswer(1, True), 1500)
    assert one.role is Role.CANDIDATE


def test_one_vote_a_term() -> None:
    one = node()
    one.step(2, Vote(4, 0, 0, False), 2000)
    ready = work(one)
    assert ready.save is not None
    assert (ready.save.term, ready.save.vote) == (4, 2)
    assert ready.sends == [Send(2, VoteAnswer(4, True))]
    one.step(3, Vote(4, 0, 0, False), 2000)
    assert work(one).sends == [Send(3, VoteAnswer(4, False))]
    one.step(2, Vote(4, 0, 0, False), 2000)
    assert work(one).sends == [Send(2, VoteAnswer(4, True))]


def test_a_saved_vote_binds_the_next_life() -> None:
    one = node(SavedState(4, 2, first_state(GROUP).epochs), now_ms=0)
    one.step(3, Vote(4, 0, 0, False), 5000)
    assert work(one).sends == [Send(3, VoteAnswer(4, False))]


def test_no_vote_for_a_log_that_lacks_records() -> None:
    saved = SavedState(3, None, (Epoch(0, 0, GROUP), Epoch(0, 3, GROUP)))
    one = node(saved, end=100)
    for end, term in ((99, 3), (500, 2)):
        one.step(2, PreVote(9, end, term), 5000)
        assert work(one).sends == [Send(2, PreVoteAnswer(one.term, False))]
        one.step(2, Vote(one.term + 1, end, term, False), 5000)
        assert work(one).sends == [Send(2, VoteAnswer(one.term, False))]


def test_no_vote_while_a_leader_is_heard() -> None:
    one = node()
    heard(one, 5000)
    for now_ms in (5000, 5999):
        one.step(3, PreVote(2, 0, 0), now_ms)
        assert work(one).sends == [Send(3, PreVoteAnswer(1, False))]
        one.step(3, Vote(2, 0, 0, False), now_ms)
        assert work(one).sends == [Send(3, VoteAnswer(1, False))]
    one.step(3, PreVote(2, 0, 0), 6000)
    assert work(one).sends == [Send(3, PreVoteAnswer(2, True))]


def test_a_vote_that_the_leader_has_asked_for_is_given_at_once() -> None:
    one = node()
    heard(one, 5000)
    one.step(3, Vote(2, 0, 0, True), 5000)
    assert work(one).sends == [Send(3, VoteAnswer(2, True))]


def test_no_vote_for_an_election_timeout_after_a_start() -> None:
    one = node(SavedState(1, None, first_state(GROUP).epochs), now_ms=700)
    one.step(3, Vote(2, 0, 0, False), 1699)
    assert work(one).sends == [Send(3, VoteAnswer(1, False))]
    one.step(3, Vote(2, 0, 0, False), 1700)
    assert work(one).sends == [Send(3, VoteAnswer(2, True))]


def test_a_question_changes_no_term() -> None:
    one = node()
    one.step(3, PreVote(99, 0, 0), 5000)
    assert (one.term, work(one).save) == (0, None)


def test_a_follower_follows_the_first_leader_of_a_term_and_no_other() -> None:
    one = node()
    heard(one, 100)
    assert (one.leader, one.term, one.role) == (2, 1, Role.FOLLOWER)
    with pytest.raises(RaftBroken, match="nodes 2 and 3 lead in term 1"):
        one.step(3, Records(1, 0, 0, 0, 0, None, 0, 0), 200)


def test_two_leaders_of_a_term_are_a_broken_promise() -> None:
    one = node()
    lead(one)
    with pytest.raises(RaftBroken, match="nodes 1 and 3 lead"):
        one.step(3, Records(1, 0, 0, 0, 0, None, 0, 0), 200)


def test_a_leader_of_an_earlier_term_is_told_the_later_one() -> None:
    one = node(SavedState(7, None, first_state(GROUP).epochs))
    one.step(2, Records(6, 0, 0, 0, 0, None, 0, 0), 100)
    (send,) = work(one).sends
    assert isinstance(send.message, Fetch)
    assert send.message.term == 7
    assert one.leader is None


def test_a_later_term_ends_leading_and_arms_the_next_election() -> None:
    one = node()
    lead(one)
    one.step(3, VoteAnswer(8, False), 9000)
    assert (one.role, one.term) == (Role.FOLLOWER, 8)
    assert one.deadline_ms == 10_500
    assert not one.may_append


def test_a_leader_that_nobody_answers_steps_down() -> None:
    one = node()
    lead(one)
    began_ms = one.deadline_ms
    one.tick(began_ms + 2500)
    assert one.role is Role.FOLLOWER
    assert one.leader is None


def test_records_are_appended_after_their_epoch_is_saved() -> None:
    one = node()
    one.step(2, Records(1, 0, 50, 0, 1, GROUP, 0, 0), 100)
    ready = work(one)
    assert ready.has_records
    assert ready.save is not None
    assert ready.save.epochs[-1] == Epoch(0, 1, GROUP)
    one.step(2, Records(1, 50, 90, 1, 1, None, 0, 0), 100)
    ready = work(one)
    assert ready.has_records
    assert ready.save is None
    one.synced(90)
    (send,) = work(one).sends
    assert isinstance(send.message, Fetch)
    assert (send.message.end, send.message.synced) == (90, 90)


def test_a_start_drops_epochs_of_records_that_are_lost() -> None:
    saved = SavedState(2, None, (Epoch(0, 0, GROUP), Epoch(0, 1, GROUP), Epoch(80, 2, GROUP)))
    one = node(saved, end=80)
    ready = work(one)
    assert ready.save is not None
    assert [epoch.term for epoch in ready.save.epochs] == [0, 1]


def test_a_node_that_knows_nobody_waits() -> None:
    one = node(first_state(NOBODY))
    assert one.deadline_ms == NO_DEADLINE
    one.step(2, Records(1, 0, 50, 0, 1, GROUP, 0, 0), 100)
    assert one.deadline_ms == 1600


def test_an_order_to_stand_for_election_is_obeyed_if_the_leader_gave_it() -> None:
    one = node()
    heard(one, 100)
    one.step(3, TimeoutNow(1), 100)
    assert one.role is Role.FOLLOWER
    one.step(2, TimeoutNow(1), 100)
    assert Send(3, Vote(2, 0, 0, True)) in work(one).sends


def test_a_transfer_is_refused_with_its_reason() -> None:
    one = node()
    assert one.transfer(2, 0) == "this node does not lead"
    lead(one)
    assert one.transfer(1, 0) == "node 1 is no other voter"
    assert one.transfer(9, 0) == "node 9 is no other voter"
    assert one.transfer(2, 0) == ""
    assert not one.may_append
    assert one.transfer(3, 0) == "leadership is being handed to node 2"


def test_a_change_of_members_is_saved_and_appended() -> None:
    one = node()
    assert "does not lead" in one.change_members(AddLearner(4, ""))
    lead(one)
    one.synced(10)
    one.step(2, Fetch(1, 10, 1, 10, 0, True), 3000)
    one.ready()
    assert one.change_members(AddLearner(4, "d:1")) == ""
    ready = work(one)
    assert ready.control is not None
    assert ready.control.start == 10
    assert isinstance(one.members, Members)
    assert one.members.nodes == (1, 2, 3, 4)
    assert one.change_members(AddLearner(5, "")) != ""


def test_only_a_leader_appends_and_never_backwards() -> None:
    one = node()
    with pytest.raises(Misuse, match="by a follower"):
        one.appended(10)
    lead(one)
    with pytest.raises(Misuse, match="appended up to 5"):
        one.appended(5)


def test_retention_takes_nothing_that_is_not_committed_and_on_the_disk() -> None:
    one = node(first_state(voters(1)))
    one.tick(1500)
    one.ready()
    one.appended(50)
    one.synced(40)
    with pytest.raises(RaftBroken, match="lasting up to 40"):
        one.log_starts_at(41)
    one.log_starts_at(40)
    assert one.log.start == 40


def test_the_end_of_its_leader_frees_a_node_from_its_promise() -> None:
    one = node()
    heard(one, 10)
    one.ready()
    one.leader_ended(3, 20)
    assert one.leader == 2
    one.leader_ended(2, 20)
    assert one.leader is None
    one.step(3, PreVote(2, 0, 0), 20)
    assert Send(3, PreVoteAnswer(2, True)) in work(one).sends
    assert one.deadline_ms == 20 + CONFIG.heartbeat_ms // 10
    one.leader_ended(2, 30)
    assert one.deadline_ms == 20 + CONFIG.heartbeat_ms // 10
