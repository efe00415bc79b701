from aerobee.errors import DiskFull, StoreBusy
from aerobee.service.broker.replication.raft.preferred_leader import (
    FULL_PAUSE_MS,
    LOOK_MS,
    PreferredLeader,
    Relief,
)
from tests.member_kit import MemberGroup


def test_the_member_that_is_preferred_leads_when_it_is_back() -> None:
    group = MemberGroup(3, preferred=(2, 1))
    group.elected()
    group.run(2 * LOOK_MS)
    assert group.elected() is group[2]
    group.stop(2)
    group.elected(2)
    group.run(2 * LOOK_MS)
    assert group.elected(2) is group[1]
    group[2].restart()
    group.run(2 * LOOK_MS)
    assert group.elected() is group[2]


def test_without_a_preference_leadership_stays() -> None:
    group = MemberGroup(3)
    leader = group.elected()
    group.run(2 * LOOK_MS)
    assert group.elected() is leader
    assert not PreferredLeader((), 0).is_due(10 * LOOK_MS)


def test_a_member_that_does_not_answer_gets_nothing() -> None:
    group = MemberGroup(3)
    leader = group.elected()
    other = next(one for one in group.members if one is not leader)
    preference = PreferredLeader((other.number,), 0)
    group.run(500)
    now_ms = group.clock.now().monotonic_ms
    assert preference.find_target(leader.side.node, now_ms) == other.number
    group.stop(other.number)
    group.run(2_000)
    assert preference.find_target(leader.side.node, group.clock.now().monotonic_ms) is None


def test_a_leader_that_becomes_full_is_relieved_at_once_and_one_that_began_full_now_and_then() -> (
    None
):
    full = DiskFull("no room")
    later = Relief(0)
    assert not later.is_due(None, 10_000)
    assert not later.is_due(StoreBusy("slow"), 10_000)
    assert later.is_due(full, 20_000)
    assert not later.is_due(full, 20_000 + LOOK_MS - 1)
    assert later.is_due(full, 20_000 + LOOK_MS)
    from_begin = Relief(0)
    assert not from_begin.is_due(full, 1_000)
    assert not from_begin.is_due(full, FULL_PAUSE_MS - 1)
    assert from_begin.is_due(full, FULL_PAUSE_MS)
