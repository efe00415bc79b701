import pytest

from aerobee.model.replica_status import GroupMember, GroupMembers
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.group_members import decode_group_members
from aerobee.protocol.headers.replication import ChangeMembersHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from aerobee.raft.membership import AddLearner, Promote, Remove
from aerobee.service.broker.replication.raft.member_changes import read_change
from tests.member_kit import Member, MemberGroup
from tests.replica_kit import log_bytes
from tests.send_rig import send_frame

CHANGE, LIST = 28011, 28012
LATER = ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED
NEVER = ResponseCode.CONTROLLER_INVALID_REQUEST
ORDERS = TopicConfig("Orders", 4, 4)


def settled(count: int = 3) -> tuple[MemberGroup, Member, list[Member]]:
    group = MemberGroup(count, ORDERS)
    leader = group.elected()
    group.run(500)
    return group, leader, [one for one in group.members if one is not leader]


def change(
    group: MemberGroup, member: Member, operation: str, node: int, address: str = ""
) -> RemotingCommand:
    fields = write_header(ChangeMembersHeader(operation, node, address or None))
    return group.ask(member, CHANGE, fields)


def listed(group: MemberGroup, member: Member) -> GroupMembers:
    return decode_group_members(bytes(group.ask(member, LIST).body))


def test_a_learner_joins_copies_and_becomes_a_voter_and_any_member_may_be_asked() -> None:
    group, leader, (follower, _) = settled()
    leader.kit.send_frames(send_frame(body=b"before it joins"))
    group.run(50)
    joining = group.join()
    answer = change(group, follower, "add", 3, "n3:40911")
    assert answer.code == 0, answer.remark
    group.until(lambda: log_bytes(joining.kit.store) == log_bytes(leader.kit.store))
    group.run(100)
    told = listed(group, leader)
    assert told.is_settled
    assert told.find(3) == GroupMember(
        3, "n3:40911", False, "b3:10911", 0, True, "it is a learner: it does not count"
    )
    assert change(group, follower, "promote", 3).code == 0
    group.run(100)
    assert [one.is_voter for one in listed(group, leader).members] == [True] * 4
    # With four voters two are no majority any more.
    for other in group.members:
        if other not in (leader, follower):
            group.stop(other.number)
    group.run(3_000)
    assert not leader.leads


def test_followers_list_members_and_know_nothing_of_lags() -> None:
    group, leader, (follower, _) = settled()
    told = listed(group, follower)
    assert (told.node, told.leader, told.is_of_leader) == (follower.number, leader.number, False)
    assert [one.is_answering for one in told.members] == [None] * 3
    assert [one.lag_bytes for one in told.members] == [-1] * 3


def test_the_group_goes_on_without_the_member_that_was_removed() -> None:
    group, leader, (first, second) = settled()
    assert change(group, leader, "remove", first.number).code == 0
    group.run(200)
    assert {one.node for one in listed(group, leader).members} == {leader.number, second.number}
    group.stop(first.number)
    group.run(100)
    leader.kit.heard()
    leader.kit.send_frames(send_frame(body=b"by two"))
    group.run(100)
    assert [one.code for one in leader.kit.heard()] == [0]
    assert leader.kit.bodies(queue_id=1) == [b"by two"]


def test_sends_wait_while_a_change_takes_its_place_in_the_log() -> None:
    """The state is saved before the record is appended, and nothing may come in between."""
    group, leader, _ = settled()
    leader.kit.heard()
    leader.kit.tell(CHANGE, write_header(ChangeMembersHeader("add", 3, "n3:40911")))
    leader.kit.send_frames(send_frame(body=b"meanwhile"))
    group.run(200)
    assert [one.code for one in leader.kit.heard()] == [0, 0]
    assert leader.kit.bodies(queue_id=1) == [b"meanwhile"]
    assert listed(group, leader).is_settled


def test_one_change_at_a_time() -> None:
    group, leader, (first, second) = settled()
    for other in (first, second):
        group.cuts.add(frozenset((leader.number, other.number)))
    assert change(group, leader, "add", 3, "n3:40911").code == 0
    group.run(50)
    assert not listed(group, leader).is_settled
    answer = change(group, leader, "add", 4, "n4:40911")
    assert (answer.code, "not committed yet" in answer.remark) == (LATER, True)


def test_a_removal_that_would_leave_too_few_is_refused() -> None:
    group, leader, (first, second) = settled()
    group.stop(first.number)
    group.run(1_500)
    answer = change(group, leader, "remove", second.number)
    assert answer.code == NEVER
    assert "of the 2 voters after it 1 would answer, and 2 are needed" in answer.remark
    assert change(group, leader, "remove", first.number).code == 0


def test_a_learner_that_does_not_answer_does_not_become_a_voter() -> None:
    group, leader, _ = settled()
    assert change(group, leader, "add", 3, "n3:40911").code == 0
    group.run(300)
    answer = change(group, leader, "promote", 3)
    assert (answer.code, answer.remark) == (LATER, "n3 does not answer")
    told = listed(group, leader).find(3)
    assert told is not None
    assert (told.is_answering, told.why) == (False, "it does not answer: no answer")


def test_a_leader_does_not_remove_itself_and_the_last_voter_stays() -> None:
    group, leader, _ = settled()
    answer = change(group, leader, "remove", leader.number)
    assert (answer.code, "have another member lead first" in answer.remark) == (LATER, True)
    alone, only, _ = settled(1)
    answer = change(alone, only, "remove", 0)
    assert (answer.code, answer.remark) == (NEVER, "node 0 is the last voter")


@pytest.mark.parametrize(
    ("operation", "node", "address", "remark"),
    [
        ("add", 1, "n9:40911", "node 1 is a member already"),
        ("remove", 9, "", "node 9 is no member"),
        ("promote", 1, "", "node 1 is a voter already"),
        ("add", 3, "n2:40911", "n2 is at n2:40911"),
        ("add", 3, "n3", "is no address of a member: say host:port"),
        ("add", 3, "n3:70000", "is no address of a member: say host:port"),
        ("add", 3, "0.0.0.0:40911", "every address of a machine"),
        ("add", 3, "127.0.0.1:40911", "each machine's own address, and n0:40911 is on another one"),
        ("add", 3, "[::1]:40911", "each machine's own address"),
        ("add", 3, "localhost:40911", "each machine's own address"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(
    operation: str, node: int, address: str, remark: str
) -> None:
    group, leader, _ = settled()
    answer = change(group, leader, operation, node, address)
    assert (answer.code, remark in answer.remark) == (NEVER, True), answer.remark


def test_a_request_that_means_no_change_is_refused() -> None:
    group, leader, _ = settled()
    for operation, node in (("rename", 1), ("add", -1), ("add", 1_000_000)):
        assert change(group, leader, operation, node).code == ResponseCode.INVALID_PARAMETER
    assert read_change(ChangeMembersHeader("add", 3, "h:1")) == AddLearner(3, "h:1")
    assert read_change(ChangeMembersHeader("promote", 3)) == Promote(3)
    assert read_change(ChangeMembersHeader("remove", 3)) == Remove(3)
