from aerobee.model.replica_status import FOLLOWING, MasterStatus, SlaveStatus
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.replication.raft.member_status import NO_LEADER, Majority
from tests.member_kit import MemberGroup


def test_a_leader_names_its_followers_and_says_which_count() -> None:
    group = MemberGroup(3)
    leader = group.elected()
    group.run(1_000)
    status = leader.side.status(group.clock.now())
    assert isinstance(status, MasterStatus)
    assert (status.copies_wanted, status.in_sync) == (2, 2)
    assert {one.lag_bytes for one in status.replicas} == {0}
    gone = next(one for one in group.members if one is not leader)
    group.stop(gone.number)
    group.run(1_500)
    status = leader.side.status(group.clock.now())
    assert isinstance(status, MasterStatus)
    (lost,) = [one for one in status.replicas if not one.is_in_sync]
    assert (lost.address, lost.why) == (
        f"b{gone.number}:10911",
        "it does not answer: nobody listens there",
    )


def test_a_follower_names_its_leader_or_says_that_there_is_none() -> None:
    group = MemberGroup(3)
    leader = group.elected()
    group.run(500)
    follower = next(one for one in group.members if one is not leader)
    status = follower.side.status(group.clock.now())
    assert isinstance(status, SlaveStatus)
    assert (status.state, status.master) == (FOLLOWING, f"b{leader.number}:10911")
    for other in group.members:
        if other is not follower:
            group.stop(other.number)
    group.run(3_000)
    alone = follower.side.status(group.clock.now())
    assert isinstance(alone, SlaveStatus)
    assert (alone.state, alone.master) == (NO_LEADER, "")


def test_a_send_that_no_majority_has_in_time_is_not_known_to_be_safe() -> None:
    majority = Majority(3_000)
    assert majority.timeout_ms == 3_000
    assert majority.late_code() is ResponseCode.FLUSH_SLAVE_TIMEOUT
