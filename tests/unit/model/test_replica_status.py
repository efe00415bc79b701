from aerobee.model.replica_status import MasterStatus, ReplicaLag


def test_slaves_that_are_not_in_sync_are_not_counted() -> None:
    there, behind = (ReplicaLag("a:1", 9, 0, 0, is_in_sync) for is_in_sync in (True, False))
    assert MasterStatus(9, 2, [there, behind]).in_sync == 1
    assert MasterStatus(9, 2, []).in_sync == 0
