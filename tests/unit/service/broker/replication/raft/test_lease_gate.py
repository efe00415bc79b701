"""LeaseGate: a leader answers reads while no other can lead."""

from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.replication.raft.leader_requests import HOLD_MS
from aerobee.service.broker.replication.raft.lease_gate import LeaseGate
from tests.broker_kit import pull_fields
from tests.member_kit import Member, MemberGroup
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)
PULL, QUERY = 11, 14
OFFSET = {"consumerGroup": "g", "topic": "Orders", "queueId": "1"}


class Never:
    """A lease that nobody has."""

    def may_answer(self, asked_ms: int, now: Now) -> bool:
        return False

    def confirm_soon(self, now: Now) -> None:
        pass


def group_with_a_message() -> tuple[MemberGroup, Member]:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    leader.kit.send_frames(send_frame())
    group.run(500)
    leader.kit.heard()
    return group, leader


def codes(member: Member) -> list[int]:
    return [one.code for one in member.kit.heard()]


def pull(leader: Member) -> None:
    leader.kit.tell(PULL, pull_fields(queueId=1, sysFlag=4))


def pass_lease(group: MemberGroup, leader: Member) -> None:
    """Let time pass until the lease is over, and the leader has not stepped down yet."""
    leading = leader.side.node.leading
    assert leading is not None
    age_ms = group.clock.now().monotonic_ms - leading.lease.confirmed_ms
    group.clock.advance(900 - age_ms)


def alone(group: MemberGroup, leader: Member) -> None:
    group.cuts = {frozenset((leader.number, one.number)) for one in group.members}


def test_a_leader_with_its_lease_answers_at_once() -> None:
    _, leader = group_with_a_message()
    pull(leader)
    leader.kit.tell(QUERY, OFFSET)
    assert codes(leader) == [0, 0]


def test_a_leader_that_was_paused_answers_nothing_before_a_majority_has_confirmed_it() -> None:
    group, leader = group_with_a_message()
    pass_lease(group, leader)  # nobody was heard meanwhile
    for _ in range(2):  # the second of them on the way of the first
        pull(leader)
        leader.kit.tell(QUERY, OFFSET)
    assert codes(leader) == []
    group.run(60)
    assert codes(leader) == [0, 0, 0, 0]


def test_a_read_without_a_lease_waits_for_an_extra_heartbeat_only() -> None:
    group, leader = group_with_a_message()
    leading = leader.side.node.leading
    assert leading is not None
    leading.lease.give_up()  # as after a transfer of which nothing came
    group.until(lambda: leading.deadline_ms() - group.clock.now().monotonic_ms >= 150)
    pull(leader)
    assert codes(leader) == []
    group.run(50)
    assert codes(leader) == [0]


def test_a_leader_that_is_alone_shows_nothing_past_its_lease() -> None:
    group, leader = group_with_a_message()
    alone(group, leader)
    pass_lease(group, leader)
    assert leader.side.takes_messages
    pull(leader)
    group.run(HOLD_MS)
    found = codes(leader)
    assert 0 not in found


def test_a_read_that_waits_too_long_is_to_be_tried_again() -> None:
    group, leader = group_with_a_message()
    gate = LeaseGate(Never())
    (row,) = gate.rows([leader.kit.broker.table[PULL]])
    leader.kit.broker.table[PULL] = row
    pass_lease(group, leader)
    pull(leader)
    gate.on_tick(group.clock.advance(HOLD_MS - 1))
    leader.kit.carry_out(leader.kit.broker._sent())
    assert codes(leader) == []
    gate.on_tick(group.clock.advance(1))
    leader.kit.carry_out(leader.kit.broker._sent())
    assert codes(leader) == [ResponseCode.SERVICE_NOT_AVAILABLE]


def test_a_follower_needs_no_lease() -> None:
    group, leader = group_with_a_message()
    follower = next(one for one in group.members if one is not leader)
    alone(group, follower)
    group.run(400)
    pull(follower)
    assert codes(follower) == [0]
