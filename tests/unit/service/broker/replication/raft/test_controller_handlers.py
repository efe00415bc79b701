import json

import pytest

from aerobee.protocol.response_codes import ResponseCode
from tests.member_kit import Member, MemberGroup

REPLICA_INFO, METADATA, SYNC_STATE = 1004, 1005, 1006


def settled() -> tuple[MemberGroup, Member, list[Member]]:
    group = MemberGroup(3)
    leader = group.elected()
    group.run(500)
    return group, leader, [one for one in group.members if one is not leader]


def test_every_member_tells_who_leads_and_where_members_are() -> None:
    group, leader, (follower, _) = settled()
    for member in (leader, follower):
        told = group.ask(member, METADATA).ext_fields
        assert told["controllerLeaderId"] == f"n{leader.number}"
        assert told["controllerLeaderAddress"] == f"b{leader.number}:10911"
        assert told["isLeader"] == str(member is leader).lower()
        assert told["peers"] == "n0:b0:10911;n1:b1:10911;n2:b2:10911;"


def test_members_that_answer_are_the_sync_state_set() -> None:
    group, leader, (first, second) = settled()
    group.stop(second.number)
    group.run(1_500)
    answer = group.ask(first, SYNC_STATE, body=b'["broker-a","another"]')
    (info,) = json.loads(bytes(answer.body))["replicasInfoTable"].values()
    assert info["masterBrokerId"] == leader.number + 1
    assert info["masterEpoch"] == leader.side.node.term
    assert {one["brokerId"] for one in info["inSyncReplicas"]} == {
        leader.number + 1,
        first.number + 1,
    }
    (lost,) = info["notInSyncReplicas"]
    assert (lost["brokerId"], lost["alive"]) == (second.number + 1, False)
    assert group.ask(leader, SYNC_STATE, body=b'["another"]').body == b'{"replicasInfoTable":{}}'
    told = group.ask(first, REPLICA_INFO, {"brokerName": "broker-a"})
    assert told.ext_fields["masterAddress"] == f"b{leader.number}:10911"
    assert len(json.loads(bytes(told.body))["syncStateSet"]) == 2
    other = group.ask(leader, REPLICA_INFO, {"brokerName": "another"})
    assert other.code == ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST


@pytest.mark.parametrize("code", [1001, 1003, 1009, 1010, 1011, 1012, 1013])
def test_what_has_no_meaning_in_a_group_is_refused_with_what_to_do(code: int) -> None:
    group, leader, _ = settled()
    answer = group.ask(leader, code)
    assert answer.code == ResponseCode.CONTROLLER_INVALID_REQUEST
    assert "member of a Raft group, without a controller: " in answer.remark
