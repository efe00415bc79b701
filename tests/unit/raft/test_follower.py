"""Follower: records that fit, cuts that are still meant."""

import pytest

from aerobee.errors import RaftBroken
from aerobee.raft.config import RaftConfig
from aerobee.raft.epochs import Epoch
from aerobee.raft.follower import Follower
from aerobee.raft.log_state import LogState
from aerobee.raft.membership import voters
from aerobee.raft.messages import Diverging, Records, Reset

GROUP = voters(1, 2, 3)
CONFIG = RaftConfig(heartbeat_ms=200)


def log() -> LogState:
    epochs = (Epoch(0, 0, GROUP), Epoch(0, 1, GROUP), Epoch(200, 3, GROUP))
    return LogState(0, 300, 250, 100, epochs)


def records(start: int, end: int, previous: int = 3, term: int = 3, commit: int = 0) -> Records:
    return Records(5, start, end, previous, term, None, commit, 1000)


def test_a_new_follower_tells_its_leader_how_its_log_ends() -> None:
    follower = Follower(1, log(), CONFIG)
    assert follower.is_fetch_due
    fetch = follower.fetch(5, 0)
    assert (fetch.end, fetch.last_term, fetch.synced, fetch.is_rewind) == (300, 3, 250, True)
    assert not follower.is_fetch_due


def test_records_at_the_end_are_appended_and_reported_when_synced() -> None:
    state = log()
    follower = Follower(1, state, CONFIG)
    follower.fetch(5, 0)
    assert follower.on_records(records(300, 340, commit=320), 10)
    assert (state.end, state.commit) == (340, 320)
    assert not follower.is_fetch_due


def test_records_of_a_new_epoch_bring_it_along() -> None:
    state = log()
    message = Records(5, 300, 340, 3, 5, voters(1, 2), 0, 1000)
    assert Follower(1, state, CONFIG).on_records(message, 10)
    assert state.epochs.entries[-1] == Epoch(300, 5, voters(1, 2))


def test_a_term_that_begins_without_members_is_a_broken_promise() -> None:
    with pytest.raises(RaftBroken, match="begins nowhere"):
        Follower(1, log(), CONFIG).on_records(records(300, 340, term=5), 10)


@pytest.mark.parametrize(
    "message",
    [records(310, 340), records(260, 340), records(300, 340, previous=2), records(200, 300, 1)],
)
def test_records_that_do_not_fit_change_nothing(message: Records) -> None:
    state = log()
    assert not Follower(1, state, CONFIG).on_records(message._replace(commit=300), 10)
    assert (state.end, state.commit) == (300, 100)


def test_lost_records_are_asked_for_once_in_a_while() -> None:
    follower = Follower(1, log(), CONFIG)
    follower.fetch(5, 0)
    follower.on_records(records(310, 340), 150)
    assert follower.fetch(5, 150).is_rewind
    follower.on_records(records(340, 380), 160)
    assert not follower.is_fetch_due
    follower.on_records(records(380, 400), 250)
    assert follower.fetch(5, 250).is_rewind


def test_every_heartbeat_is_answered_with_its_stamp() -> None:
    follower = Follower(1, log(), CONFIG)
    follower.fetch(5, 0)
    follower.on_records(records(300, 300)._replace(stamp=4444), 10)
    assert follower.is_fetch_due
    fetch = follower.fetch(5, 10)
    assert (fetch.echo, fetch.is_rewind) == (4444, False)
    follower.on_records(records(300, 300)._replace(stamp=4000), 20)
    assert follower.fetch(5, 20).echo == 4444


def test_a_log_is_cut_where_the_nearer_end_of_a_common_term_is() -> None:
    assert Follower(1, log(), CONFIG).find_cut(Diverging(5, 300, 3, 3, 260)) == 260
    assert Follower(1, log(), CONFIG).find_cut(Diverging(5, 300, 3, 1, 900)) == 200
    assert Follower(1, log(), CONFIG).find_cut(Diverging(5, 300, 3, 2, 150)) == 200


@pytest.mark.parametrize("message", [Diverging(5, 299, 3, 1, 150), Diverging(5, 300, 2, 1, 150)])
def test_an_answer_to_an_earlier_fetch_cuts_nothing(message: Diverging) -> None:
    assert Follower(1, log(), CONFIG).find_cut(message) is None


def test_a_leader_without_the_begin_of_this_log_is_a_broken_promise() -> None:
    state = LogState(100, 300, 300, 100, (Epoch(100, 3, GROUP),))
    with pytest.raises(RaftBroken, match="no record of the term 3"):
        Follower(1, state, CONFIG).find_cut(Diverging(5, 300, 3, 2, 90))


def test_a_log_that_ends_before_the_leaders_begins_is_begun_anew() -> None:
    follower = Follower(1, log(), CONFIG)
    assert follower.find_reset(Reset(5, 290, 3, 900, 4, GROUP)) is None
    assert follower.find_reset(Reset(5, 300, 3, 900, 4, GROUP)) == Epoch(900, 4, GROUP)
    assert follower.fetch(5, 0).is_rewind


def test_news_of_a_commit_is_not_answered_until_the_lease_needs_it() -> None:
    follower = Follower(1, log(), CONFIG)
    follower.on_records(records(300, 300), 10)
    follower.fetch(5, 10)
    for stamp in (1001, 1019):
        assert not follower.on_records(records(300, 300, commit=290)._replace(stamp=stamp), 20)
        assert not follower.is_fetch_due
    follower.on_records(records(300, 300)._replace(stamp=1020), 120)
    assert follower.fetch(5, 120).echo == 1020


def test_a_follower_without_room_answers_every_message() -> None:
    follower = Follower(1, log(), CONFIG)
    follower.on_records(records(300, 300), 10)
    follower.fetch(5, 10)
    follower.on_records(records(300, 340), 20, is_full=True)
    assert follower.is_fetch_due
