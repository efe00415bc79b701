from aerobee.model.replica_status import (
    NO_NODE,
    GroupMember,
    GroupMembers,
    MasterStatus,
    ReplicaLag,
)


def test_slaves_that_are_not_in_sync_are_not_counted() -> None:
    there, behind = (ReplicaLag("a:1", 9, 0, 0, is_in_sync) for is_in_sync in (True, False))
    assert MasterStatus(9, 2, [there, behind]).in_sync == 1
    assert MasterStatus(9, 2, []).in_sync == 0


FIRST, SECOND = GroupMember(0, "h0:1", True), GroupMember(3, "h3:1", False)


def test_a_member_is_found_by_its_number_and_called_by_its_name() -> None:
    group = GroupMembers(0, "g", 2, 0, True, (FIRST, SECOND))
    assert group.find(3) is SECOND
    assert group.find(1) is None
    assert SECOND.name == "n3"


def test_only_a_leader_tells_as_one() -> None:
    assert GroupMembers(0, "g", 2, 0, True, ()).is_of_leader
    assert not GroupMembers(1, "g", 2, 0, True, ()).is_of_leader
    assert not GroupMembers(1, "g", 2, NO_NODE, True, ()).is_of_leader
