from aerobee.protocol.bodies.epoch_cache import decode_epoch_cache
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from tests.member_kit import Member, MemberGroup

ELECT, EPOCHS, CHANGE_ROLE = 1002, 1007, 28008


def asked(group: MemberGroup, member: Member, code: int, **fields: str) -> RemotingCommand:
    kit = member.kit  # it may be followed by another life
    kit.tell(code, fields)
    group.run(20)
    return kit.heard()[-1]


def settled() -> tuple[MemberGroup, Member, list[Member]]:
    group = MemberGroup(3)
    leader = group.elected()
    group.run(500)
    return group, leader, [one for one in group.members if one is not leader]


def test_the_leader_hands_over_to_the_member_that_is_named() -> None:
    group, leader, (other, _) = settled()
    answer = asked(group, leader, ELECT, brokerId=str(other.number + 1))
    assert answer.code == 0
    assert answer.ext_fields["masterAddress"] == f"b{other.number}:10911"
    assert group.elected() is other


def test_any_member_may_be_asked_and_the_nearest_one_leads() -> None:
    group, leader, others = settled()
    assert asked(group, others[0], ELECT, brokerId="-1").code == 0
    assert group.elected(leader.number) in others


def test_a_member_that_is_none_gets_nothing() -> None:
    group, leader, _ = settled()
    answer = asked(group, leader, ELECT, brokerId="8")
    assert answer.code == ResponseCode.CONTROLLER_ELECT_MASTER_FAILED
    assert "node 7 is no other voter" in answer.remark
    assert group.elected() is leader


def test_the_terms_in_the_log_are_shown() -> None:
    group, leader, _ = settled()
    first = decode_epoch_cache(bytes(asked(group, leader, EPOCHS).body))
    assert [one.epoch for one in first.epochs] == [leader.side.node.term]
    group.stop(leader.number)
    second = group.elected()
    shown = decode_epoch_cache(bytes(asked(group, second, EPOCHS).body))
    assert [one.epoch for one in shown.epochs] == [leader.side.node.term, second.side.node.term]
    assert shown.epochs[0].end_offset == shown.epochs[1].start_offset


def test_no_person_changes_the_role_of_a_member() -> None:
    group, leader, _ = settled()
    answer = asked(group, leader, CHANGE_ROLE, role="SLAVE", brokerId="1")
    assert answer.code == ResponseCode.INVALID_PARAMETER
    assert "aerobee broker transfer" in answer.remark
