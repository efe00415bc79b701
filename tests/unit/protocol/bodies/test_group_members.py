import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.replica_status import NO_NODE, GroupMember, GroupMembers
from aerobee.protocol.bodies.group_members import decode_group_members, encode_group_members

LISTED = [
    GroupMember(0, "h0:40911", True, "h0:10911", 0, True),
    GroupMember(3, "h3:40911", False, "", 77, False, "it does not answer"),
    GroupMember(4, "h4:40911", True),
]


@pytest.mark.parametrize("leader", [0, NO_NODE])
def test_it_is_read_as_it_was_written(leader: int) -> None:
    told = GroupMembers(0, "broker-a", 7, leader, False, LISTED)
    assert decode_group_members(encode_group_members(told)) == told


def test_what_is_missing_is_not_known_and_what_is_wrong_is_refused() -> None:
    told = decode_group_members(b'{"members":[{"node":1}]}')
    assert told == GroupMembers(-1, "", 0, NO_NODE, False, [GroupMember(1, "", False)])
    with pytest.raises(RemoteProtocolError, match="settled"):
        decode_group_members(b'{"settled":7}')
