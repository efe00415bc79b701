"""LeaderRequests: any member of a group may be asked."""

from aerobee.model.topic import TopicConfig
from aerobee.ports.service import Dial
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.replication.raft.leader_requests import FORWARDED, HOLD_MS
from tests.broker_kit import pull_fields
from tests.member_kit import Member, MemberGroup
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)
OFFSET = {"consumerGroup": "g", "topic": "Orders", "queueId": "1"}


def follower_of(group: MemberGroup, leader: Member) -> Member:
    group.run(500)
    return next(one for one in group.members if one is not leader and one.is_up)


def codes(member: Member) -> list[int]:
    return [command.code for command in member.kit.heard()]


def dials_of(member: Member) -> list[Dial]:
    """Requests that were forwarded since the last look, and are kept from the leader."""
    dials = [one for one in member.kit.dialed if FORWARDED in one.command.ext_fields]
    member.kit.dialed.clear()
    return dials


def test_a_send_to_a_follower_is_stored_by_the_leader() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    follower = follower_of(group, leader)
    follower.kit.send_frames(send_frame(body=b"by the follower"))
    group.run(200)
    assert codes(follower) == [0]
    assert leader.kit.bodies(queue_id=1) == [b"by the follower"]


def test_offsets_are_those_of_the_leader_whoever_is_asked() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    leader.kit.send_frames(send_frame())
    follower = follower_of(group, leader)
    leader.kit.heard()
    follower.kit.tell(15, {**OFFSET, "commitOffset": "1"})
    group.run(50)
    leader.kit.tell(14, OFFSET)
    follower.kit.tell(14, OFFSET)
    group.run(50)
    found = [one.kit.heard()[-1].ext_fields["offset"] for one in (leader, follower)]
    assert found == ["1", "1"]


def test_a_send_is_held_while_there_is_no_leader_and_served_by_the_next() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    follower = follower_of(group, leader)
    group.stop(leader.number)
    group.until(lambda: not follower.side.find_leader())
    # As if the election were nearly over.
    group.run(600)
    follower.kit.send_frames(send_frame(body=b"held"))
    second = group.elected(leader.number)
    group.run(300)
    if second is follower:
        # Its connections were closed when it became the leader: clients come again.
        return
    assert codes(follower) == [0]
    assert second.kit.bodies(queue_id=1) == [b"held"]


def test_a_leader_that_was_killed_and_is_back_has_its_clients_served_by_its_successor() -> None:
    group = MemberGroup(3, ORDERS)
    first = group.elected()
    group.run(500)
    group.stop(first.number)
    second = group.elected(first.number)
    first.restart()
    first.kit.send_frames(send_frame(body=b"by its old address"))
    group.run(HOLD_MS)
    assert codes(first) == [0]
    assert second.kit.bodies(queue_id=1) == [b"by its old address"]


def test_a_send_that_nobody_can_take_is_refused_in_a_way_that_clients_repeat() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    follower = follower_of(group, leader)
    for other in group.members:
        if other is not follower:
            group.stop(other.number)
    group.run(3_000)
    follower.kit.send_frames(send_frame())
    group.run(HOLD_MS - 50)
    assert codes(follower) == []
    group.run(200)
    assert codes(follower) == [ResponseCode.SERVICE_NOT_AVAILABLE]


def test_a_leader_that_does_not_answer_may_have_stored_it() -> None:
    group = MemberGroup(3, ORDERS)
    follower = follower_of(group, group.elected())
    follower.kit.send_frames(send_frame())
    (dial,) = dials_of(follower)
    now = group.clock.now()
    follower.kit.carry_out(follower.kit.broker.on_answer(dial.ticket, None, now))
    assert codes(follower) == [ResponseCode.SYSTEM_ERROR]


def test_a_leader_that_refuses_is_asked_again() -> None:
    group = MemberGroup(3, ORDERS)
    follower = follower_of(group, group.elected())
    follower.kit.send_frames(send_frame())
    (dial,) = dials_of(follower)
    refusal = RemotingCommand(ResponseCode.SERVICE_NOT_AVAILABLE, flag=1)
    answered = follower.kit.broker.on_answer(dial.ticket, refusal, group.clock.now())
    follower.kit.carry_out(answered)
    assert codes(follower) == []
    group.run(200)
    assert codes(follower) == [0]


def test_a_forwarded_request_is_not_forwarded_again() -> None:
    group = MemberGroup(3, ORDERS)
    follower = follower_of(group, group.elected())
    follower.kit.tell(14, {**OFFSET, FORWARDED: "true"})
    assert dials_of(follower) == []
    assert codes(follower) == [ResponseCode.SERVICE_NOT_AVAILABLE]


def departed(group: MemberGroup) -> tuple[Member, Member]:
    """A leader that is to stop and has handed over, and its successor."""
    leader = group.elected()
    leader.kit.send_frames(send_frame(body=b"before"))
    group.run(500)
    leader.seat.departure.begin(group.clock.now().monotonic_ms, leads=True)
    assert leader.seat.hand_over()
    successor = group.elected(leader.number)
    group.until(lambda: leader.side.find_leader() != "")
    leader.kit.heard()
    return leader, successor


def pull_of(member: Member) -> list[Dial]:
    member.kit.tell(11, pull_fields(queueId=1))
    return dials_of(member)


def test_a_member_that_is_to_stop_forwards_sends_pulls_offsets_locks_and_ends() -> None:
    group = MemberGroup(3, ORDERS)
    leader, successor = departed(group)
    leader.kit.send_frames(send_frame(body=b"after"))
    group.run(100)
    assert codes(leader) == [0]
    assert successor.kit.bodies(queue_id=1) == [b"before", b"after"]
    assert [one.command.code for one in pull_of(leader)] == [11]
    leader.kit.tell(15, {**OFFSET, "commitOffset": "1"})
    leader.kit.tell(14, OFFSET)
    leader.kit.tell(41, {}, b'{"consumerGroup":"g","clientId":"c","mqSet":[]}')
    leader.kit.tell(37, {"producerGroup": "g", "tranStateTableOffset": "0",
                         "commitLogOffset": "0", "commitOrRollback": "8"})  # fmt: skip
    assert [one.command.code for one in dials_of(leader)] == [15, 14, 41, 37]


def test_what_the_leader_has_for_a_pull_is_handed_on() -> None:
    group = MemberGroup(3, ORDERS)
    leader, _ = departed(group)
    answer = group.ask(leader, 11, pull_fields(queueId=1))
    assert answer.code == 0
    assert answer.ext_fields["nextBeginOffset"] == "1"
    assert b"before" in bytes(answer.body)


def test_a_follower_that_stays_serves_pulls_itself() -> None:
    group = MemberGroup(3, ORDERS)
    follower = follower_of(group, group.elected())
    assert pull_of(follower) == []


def test_requests_keep_a_member_that_is_to_stop_and_those_of_other_members_do_not() -> None:
    group = MemberGroup(3, ORDERS)
    leader, _ = departed(group)
    departure = leader.seat.departure
    group.run(2_900)
    leader.kit.tell(14, {**OFFSET, FORWARDED: "true"})
    leader.kit.tell(14, OFFSET)
    group.run(2_900)
    assert not departure.is_over(group.clock.now().monotonic_ms, has_leader=True)
    leader.kit.tell(14, {**OFFSET, FORWARDED: "true"})
    group.run(200)
    assert departure.is_over(group.clock.now().monotonic_ms, has_leader=True)


def test_a_member_that_is_to_stop_and_knows_no_leader_serves_reads_itself() -> None:
    group = MemberGroup(3, ORDERS)
    leader, _ = departed(group)
    group.cuts = {frozenset((leader.number, one.number)) for one in group.members}
    group.until(lambda: leader.side.find_leader() == "")
    leader.kit.heard()
    leader.kit.tell(11, pull_fields(queueId=1))
    assert codes(leader) == [0]
