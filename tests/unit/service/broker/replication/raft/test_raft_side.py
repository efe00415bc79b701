"""RaftSide: groups of whole brokers, in one process."""

import pytest

from aerobee.errors import StorageError
from aerobee.model.broker_role import Stage
from aerobee.model.replica_status import FOLLOWING, WITHOUT_ROOM, SlaveStatus
from aerobee.model.topic import TopicConfig
from aerobee.raft.membership import AddLearner
from aerobee.replication.group_config import RaftGroupConfig, RaftPeer
from aerobee.replication.raft_seat import RaftSeat
from aerobee.service.broker.config import BrokerIdentity
from tests.broker_kit import SYNC, BrokerKit
from tests.member_kit import Member, MemberGroup, Turns
from tests.replica_kit import log_bytes
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)
QUEUE = 1


def send(member: Member, body: bytes = b"a body") -> None:
    member.kit.send_frames(send_frame(body=body))


def codes(member: Member) -> list[int]:
    return [command.code for command in member.kit.heard()]


def test_a_leader_acknowledges_what_a_majority_has() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    others = [one for one in group.members if one is not leader]
    for other in others:
        group.cuts.add(frozenset((leader.number, other.number)))
    send(leader, b"alone")
    group.run(100)
    assert codes(leader) == []
    assert leader.kit.bodies(queue_id=QUEUE) == []
    group.cuts.pop()
    group.run(400)
    assert codes(leader) == [0]
    assert leader.kit.bodies(queue_id=QUEUE) == [b"alone"]


def test_followers_have_the_same_log_and_show_what_is_committed() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    for number in range(5):
        send(leader, b"%d" % number)
        group.run(20)
    group.run(500)
    assert codes(leader) == [0] * 5
    logs = {log_bytes(member.kit.store) for member in group.members}
    assert len(logs) == 1
    for member in group.members:
        assert member.kit.bodies(queue_id=QUEUE) == [b"0", b"1", b"2", b"3", b"4"]


def test_when_the_leader_is_lost_another_has_everything_and_goes_on() -> None:
    group = MemberGroup(3, ORDERS)
    first = group.elected()
    send(first, b"acknowledged")
    group.run(100)
    assert codes(first) == [0]
    group.stop(first.number)
    second = group.elected()
    assert second is not first
    assert second.kit.bodies(queue_id=QUEUE) == [b"acknowledged"]
    send(second, b"and on")
    group.run(100)
    assert codes(second) == [0]
    first.restart()
    group.run(2_000)
    assert first.kit.bodies(queue_id=QUEUE) == [b"acknowledged", b"and on"]


def test_the_tail_that_nobody_else_has_is_cut() -> None:
    group = MemberGroup(3, ORDERS)
    first = group.elected()
    others = [one for one in group.members if one is not first]
    for other in others:
        group.cuts.add(frozenset((first.number, other.number)))
    send(first, b"never acknowledged")
    second = group.elected(first.number)
    send(second, b"acknowledged")
    group.run(100)
    assert codes(second) == [0]
    group.cuts.clear()
    group.run(6_000)
    assert [one.cut_at for one in first.lives if one.cut_at is not None]
    assert first.kit.bodies(queue_id=QUEUE) == [b"acknowledged"]
    assert log_bytes(first.kit.store) == log_bytes(second.kit.store)


def test_a_leader_without_a_majority_steps_down_and_takes_nothing() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    group.cuts = {frozenset((leader.number, one.number)) for one in group.members}
    group.run(1_500)
    assert not leader.side.leads
    end = leader.kit.store.end_offset
    send(leader)
    group.run(50)
    assert leader.kit.store.end_offset == end


def test_leadership_is_handed_over_at_once() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    group.run(300)
    target = next(one for one in group.members if one is not leader)
    now_ms = group.clock.now().monotonic_ms
    order = leader.side.order
    assert order(lambda node: node.transfer(target.number, now_ms), group.clock.now()) == ""
    group.run(100)
    assert group.elected() is target
    assert [one.stage for one in leader.lives][-1] is Stage.FOLLOWING


def fill(group: MemberGroup, leader: Member) -> None:
    """Send more than a file of the log has room for."""
    end = leader.kit.store.end_offset + SYNC.log_file_bytes
    while leader.leads and leader.kit.store.end_offset < end:
        send(leader, bytes(SYNC.log_file_bytes // 8))
        group.run(20)


def test_a_follower_without_room_copies_nothing_and_goes_on_when_there_is_room() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    group.run(500)
    term = leader.side.node.term
    follower = next(one for one in group.members if one is not leader)
    follower.disk.capacity_bytes = follower.disk.used_bytes()
    fill(group, leader)
    group.run(2_000)
    assert set(codes(leader)) == {0}
    status = follower.side.status(group.clock.now())
    assert isinstance(status, SlaveStatus)
    assert (status.state, status.master) == (WITHOUT_ROOM, f"b{leader.number}:10911")
    assert "it copies nothing: " in status.why
    assert follower.kit.store.end_offset < leader.kit.store.end_offset
    follower.disk.capacity_bytes = 1 << 40
    group.until(lambda: log_bytes(follower.kit.store) == log_bytes(leader.kit.store))
    group.run(100)
    status = follower.side.status(group.clock.now())
    assert isinstance(status, SlaveStatus)
    assert (status.state, status.why) == (FOLLOWING, "")
    assert (leader.side.node.term, leader.leads) == (term, True)


def test_a_leader_whose_disk_is_full_hands_over() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    group.run(6_000)
    leader.disk.capacity_bytes = leader.disk.used_bytes()
    fill(group, leader)
    other = group.elected(leader.number)
    send(other, b"by another")
    group.run(200)
    assert codes(other)[-1] == 0
    assert leader.side.status(group.clock.now()).end_offset <= other.kit.store.end_offset


def without_next_file() -> tuple[MemberGroup, Member]:
    """A group whose log ends with its file, on disks without room for another; its leader."""
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    group.run(500)
    store = leader.kit.store
    for member in group.members:
        member.disk.capacity_bytes = member.disk.used_bytes() + SYNC.log_file_bytes // 2
    while (room := SYNC.log_file_bytes - store.end_offset) > 400:
        send(leader, bytes(max(0, min(SYNC.log_file_bytes // 8, room - 700))))
        group.run(10)
    group.run(100)
    assert 0 < room < 400
    assert leader.leads
    return group, leader


def find_room(group: MemberGroup) -> None:
    for member in group.members:
        member.disk.capacity_bytes = 1 << 40


def test_members_without_room_to_begin_a_term_wait_for_it() -> None:
    group, leader = without_next_file()
    group.stop(leader.number)
    group.run(4_000)
    assert not any(member.leads for member in group.members)
    find_room(group)
    other = group.elected()
    send(other, b"in the next file")
    group.run(200)
    assert codes(other) == [0]


def test_a_leader_without_room_for_a_change_of_members_follows() -> None:
    group, leader = without_next_file()
    end = leader.kit.store.end_offset
    added = AddLearner(3, f"{'n' * 400}:40911")
    leader.side.order(lambda node: node.change_members(added), group.clock.now())
    group.run(100)
    assert not leader.side.leads
    assert leader.kit.store.end_offset == end
    find_room(group)
    group.elected()
    assert {one.node for one in leader.side.node.members.listed} == {0, 1, 2}


def test_the_store_of_a_member_is_not_changed_by_a_single_broker() -> None:
    group = MemberGroup(1, ORDERS)
    member = group.elected()
    member.kit.stop()
    with pytest.raises(StorageError, match="that of a member of a Raft group"):
        BrokerKit(disk=member.disk, storage=SYNC)


def test_a_store_with_messages_is_not_put_into_a_new_group() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    kit.send_frames(send_frame())
    kit.stop()
    peers = (RaftPeer(0, "n0:1"), RaftPeer(1, "n1:1"))
    seat = RaftSeat(RaftGroupConfig(is_on=True, peers=peers, node=0), "g", Turns(0))
    with pytest.raises(StorageError, match="has messages"):
        BrokerKit(identity=BrokerIdentity(raft=seat), disk=kit.disk, storage=SYNC)


def test_a_leader_that_stops_hands_over_first_and_a_follower_has_nothing_to_hand_over() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    group.run(500)
    follower = next(one for one in group.members if one is not leader)
    assert not follower.seat.hand_over()
    assert leader.seat.hand_over()
    group.run(100)
    assert leader.seat.node.leading is None
    assert group.elected() is not leader
