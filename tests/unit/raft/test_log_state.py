"""LogState: offsets, and what they forbid."""

import pytest

from aerobee.errors import RaftBroken
from aerobee.raft.epochs import Epoch
from aerobee.raft.log_state import LogState
from aerobee.raft.membership import voters

GROUP = voters(1, 2, 3)


def log(commit: int = 100) -> LogState:
    epochs = (Epoch(0, 0, GROUP), Epoch(0, 1, GROUP), Epoch(200, 3, GROUP))
    return LogState(0, 300, 250, commit, epochs)


@pytest.mark.parametrize(
    ("end", "last_term", "is_covered"),
    [(300, 3, True), (301, 3, True), (299, 3, False), (900, 2, False), (10, 4, True)],
)
def test_a_log_is_covered_by_a_later_term_or_by_a_longer_one_of_the_same(
    end: int, last_term: int, is_covered: bool
) -> None:
    assert log().is_covered_by(end, last_term) is is_covered


def test_more_is_never_synced_than_there_is() -> None:
    state = log()
    assert state.note_synced(900)
    assert state.synced == 300
    assert not state.note_synced(280)


def test_commits_only_rise() -> None:
    state = log()
    assert state.note_commit(200)
    assert not state.note_commit(150)
    assert state.commit == 200


def test_a_commit_behind_the_end_is_a_broken_promise() -> None:
    with pytest.raises(RaftBroken, match="behind the end"):
        log().note_commit(301)


def test_a_cut_takes_the_synced_offset_and_the_epochs_with_it() -> None:
    state = log()
    state.cut(200)
    assert (state.end, state.synced, state.last_term) == (200, 200, 1)


def test_nothing_committed_is_cut() -> None:
    with pytest.raises(RaftBroken, match="committed up to 250"):
        log(commit=250).cut(249)


def test_a_reset_begins_an_empty_log_behind_everything_committed() -> None:
    state = log(commit=250)
    with pytest.raises(RaftBroken, match="a reset to 240"):
        state.reset(Epoch(240, 5, GROUP))
    state.reset(Epoch(1000, 5, GROUP))
    assert (state.start, state.end, state.synced, state.commit) == (1000,) * 4
    assert state.last_term == 5


def test_a_start_believes_no_commit_behind_the_end() -> None:
    state = LogState(100, 300, 400, 900, (Epoch(100, 2, GROUP),))
    assert (state.synced, state.commit) == (300, 300)
    assert LogState(100, 300, 300, 0, (Epoch(100, 2, GROUP),)).commit == 100
