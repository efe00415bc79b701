"""Leader: what is sent to whom, what counts, what is committed."""

import pytest

from aerobee.errors import RaftBroken
from aerobee.raft.config import RaftConfig
from aerobee.raft.epochs import Epoch
from aerobee.raft.leader import Leader
from aerobee.raft.log_state import LogState
from aerobee.raft.membership import AddLearner, Member, Members, Promote, Remove, voters
from aerobee.raft.messages import Diverging, Fetch, Records, Reset, TimeoutNow
from aerobee.raft.ready import Send
from aerobee.raft.transfer import Transfer

CONFIG = RaftConfig(heartbeat_ms=200, batch_bytes=100, window_bytes=250, promotion_lag_bytes=50)
NOW = 10_000
THREE = voters(1, 2, 3)


def ten(start: int, limit: int) -> int:
    """Records of ten bytes."""
    return max(limit // 10 * 10, start + 10)


def leader(members: Members = THREE, end: int = 420) -> tuple[Leader, LogState]:
    """Node 1 leads in term 5 from 400 on; terms 1 and 3 before."""
    log = LogState(
        0,
        400,
        400,
        0,
        (Epoch(0, 0, members), Epoch(0, 1, members), Epoch(200, 3, members)),
    )
    leading = Leader(1, 5, log, CONFIG, ten, NOW)
    log.epochs.add(Epoch(400, 5, members))
    log.end = log.synced = end
    return leading, log


def fetch(end: int, last_term: int, synced: int | None = None, echo: int = -1) -> Fetch:
    return Fetch(5, end, last_term, end if synced is None else synced, echo, True)


def pumped(leading: Leader, now_ms: int = NOW) -> list[Send]:
    sends: list[Send] = []
    leading.pump(now_ms, sends)
    return sends


def answered(leading: Leader, message: Fetch, sender: int = 2) -> list[Send]:
    sends: list[Send] = []
    leading.on_fetch(sender, message, NOW, sends)
    return sends


def test_members_that_have_not_fetched_get_heartbeats_only() -> None:
    leading, _ = leader()
    sends = pumped(leading)
    assert [send.to for send in sends] == [2, 3]
    for send in sends:
        assert isinstance(send.message, Records)
        assert send.message.start == send.message.end == 420
    assert pumped(leading) == []


def test_records_go_in_batches_that_end_with_epochs_up_to_a_window() -> None:
    leading, _ = leader()
    assert answered(leading, fetch(150, 1)) == []
    ranges = [
        (send.message.start, send.message.end, send.message.previous_term, send.message.epoch_term)
        for send in pumped(leading)
        if send.to == 2 and isinstance(send.message, Records)
    ]
    assert ranges == [(150, 200, 1, 1), (200, 300, 1, 3), (300, 400, 3, 3)]


def test_an_epoch_comes_with_its_members() -> None:
    leading, _ = leader()
    answered(leading, fetch(400, 3))
    (send,) = (send for send in pumped(leading) if send.to == 2)
    assert isinstance(send.message, Records)
    assert (send.message.epoch_term, send.message.members) == (5, THREE)


def test_room_in_the_window_comes_with_synced_records() -> None:
    leading, _ = leader()
    answered(leading, fetch(150, 1))
    pumped(leading)
    assert pumped(leading) == []
    answered(leading, fetch(250, 3, synced=200)._replace(is_rewind=False))
    assert [send.message[1:3] for send in pumped(leading)] == [(400, 420)]


@pytest.mark.parametrize(
    ("message", "epoch_term", "epoch_end"),
    [(fetch(410, 3), 3, 400), (fetch(300, 4), 3, 400), (fetch(250, 2), 1, 200)],
)
def test_a_log_that_is_no_prefix_is_told_where_they_part(
    message: Fetch, epoch_term: int, epoch_end: int
) -> None:
    leading, log = leader()
    (send,) = answered(leading, message)
    diverging = Diverging(5, message.end, message.last_term, epoch_term, epoch_end)
    assert send.message == diverging
    assert leading.progress[2].synced == 0
    assert log.commit == 0


def test_more_of_the_leaders_own_term_than_it_has_is_a_broken_promise() -> None:
    leading, _ = leader()
    with pytest.raises(RaftBroken, match="bytes of term 5"):
        answered(leading, fetch(430, 5))


@pytest.mark.parametrize("message", [fetch(50, 1), fetch(350, 1)])
def test_a_log_before_the_begin_of_the_leaders_is_told_to_begin_anew(message: Fetch) -> None:
    leading, log = leader()
    log.commit = log.start = 300
    log.epochs.forget_before(300)
    (send,) = answered(leading, message)
    assert send.message == Reset(5, message.end, message.last_term, 300, 3, THREE)


def test_what_a_majority_has_synced_is_committed_if_it_reaches_into_the_term() -> None:
    leading, log = leader()
    answered(leading, fetch(400, 3))
    assert log.commit == 0
    answered(leading, fetch(420, 5, synced=410))
    assert log.commit == 410
    assert leading.has_committed()


def test_members_hear_of_a_commit_at_once() -> None:
    leading, _ = leader()
    answered(leading, fetch(420, 5))
    (send,) = (send for send in pumped(leading) if send.to == 2)
    assert isinstance(send.message, Records)
    assert send.message.commit == 420
    assert pumped(leading) == []


def test_strangers_are_not_counted() -> None:
    leading, log = leader()
    assert answered(leading, fetch(420, 5), sender=9) == []
    assert log.commit == 0


def test_a_lease_is_what_a_majority_has_brought_back() -> None:
    leading, _ = leader(voters(1, 2, 3, 4, 5))
    for node in (2, 3):
        answered(leading, fetch(420, 5, echo=NOW - 50), sender=node)
    assert leading.lease.confirmed_ms == NOW - 50
    assert leading.read_offset(NOW) == 420
    assert leading.read_offset(NOW + CONFIG.lease_ms) is None


def test_an_echo_of_the_future_is_not_believed() -> None:
    leading, _ = leader()
    answered(leading, fetch(420, 5, echo=NOW + 1))
    assert leading.read_offset(NOW) is None


def test_a_read_without_a_lease_needs_an_answer_to_a_later_message() -> None:
    leading, _ = leader()
    answered(leading, fetch(420, 5, echo=NOW))
    assert leading.is_confirmed_since(NOW - 1, NOW)
    assert not leading.is_confirmed_since(NOW, NOW)


def test_the_only_voter_needs_no_answers() -> None:
    leading, log = leader(voters(1))
    leading.count_copies()
    assert log.commit == 420
    assert leading.read_offset(NOW + 99_999) == 420
    assert not leading.is_lost(NOW + 99_999)


def test_a_leader_without_answers_is_lost_after_an_election_timeout() -> None:
    leading, _ = leader()
    assert not leading.is_lost(NOW + 999)
    assert leading.is_lost(NOW + 1000)


def test_heartbeats_and_the_end_of_a_transfer_are_deadlines() -> None:
    leading, _ = leader()
    assert leading.deadline_ms() == NOW
    pumped(leading)
    assert leading.deadline_ms() == NOW + 200
    leading.transfer = Transfer(2, NOW + 100)
    assert leading.deadline_ms() == NOW + 100
    leading.on_tick(NOW + 99)
    assert leading.transfer is not None
    leading.on_tick(NOW + 100)
    assert leading.transfer is None


def test_followers_are_asked_at_once_after_a_transfer_that_failed() -> None:
    leading, _ = leader()
    pumped(leading)
    leading.transfer = Transfer(2, NOW + 100)
    leading.on_tick(NOW + 100)
    assert [send.to for send in pumped(leading, NOW + 100)] == [2, 3]


def test_a_read_that_waits_brings_the_next_heartbeat_forward_but_not_one_for_each_read() -> None:
    leading, _ = leader()
    pumped(leading)
    leading.confirm_soon(NOW + 5)
    assert leading.deadline_ms() == NOW + CONFIG.answer_interval_ms
    assert pumped(leading, NOW + 19) == []
    assert len(pumped(leading, NOW + 20)) == 2
    leading.confirm_soon(NOW + 120)
    leading.confirm_soon(NOW + 121)
    assert leading.deadline_ms() == NOW + 121
    assert len(pumped(leading, NOW + 121)) == 2
    assert leading.deadline_ms() == NOW + 321


def test_a_transfer_waits_for_the_target_and_ends_the_lease() -> None:
    leading, _ = leader()
    leading.transfer = Transfer(2, NOW + 1000)
    assert Send(2, TimeoutNow(5)) not in pumped(leading)
    answered(leading, fetch(420, 5, echo=NOW))
    assert leading.read_offset(NOW) == 420
    assert Send(2, TimeoutNow(5)) in pumped(leading)
    assert leading.read_offset(NOW) is None
    assert pumped(leading) == []


def test_members_change_when_the_last_change_is_committed() -> None:
    leading, log = leader()
    assert "not committed yet" in str(leading.next_members(AddLearner(4, "")))
    log.commit = 420
    assert leading.next_members(Remove(2)) == voters(1, 3)


def test_a_learner_is_promoted_when_it_has_nearly_everything() -> None:
    members = Members((*voters(1, 2).listed, Member(3, "", False)))
    leading, log = leader(members)
    log.commit = 420
    assert leading.next_members(Promote(3)) == "node 3 is 420 bytes behind"
    answered(leading, fetch(420, 5, synced=369), sender=3)
    assert leading.next_members(Promote(3)) == "node 3 is 51 bytes behind"
    answered(leading, fetch(420, 5, synced=370), sender=3)
    assert leading.next_members(Promote(3)) == THREE


def test_progress_follows_the_members() -> None:
    leading, log = leader()
    log.epochs.add(Epoch(420, 5, voters(1, 3, 4)))
    leading.follow_members()
    assert sorted(leading.progress) == [3, 4]


def test_a_leader_is_removed_by_a_committed_change() -> None:
    leading, log = leader()
    log.epochs.add(Epoch(420, 5, voters(2, 3)))
    log.end = 430
    assert not leading.is_removed()
    log.commit = 430
    assert leading.is_removed()
