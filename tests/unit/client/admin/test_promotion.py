import pytest

from aerobee.client.admin.promotion import (
    UnsafeChange,
    check_promotion,
    plan_demotion,
    plan_promotion,
)
from aerobee.client.admin.replica_group import ReplicaGroup, ReplicaMember
from aerobee.errors import NotFound
from aerobee.model.replica_status import FOLLOWING, MasterStatus, ReplicaStatus, SlaveStatus


def member(broker_id: int, status: ReplicaStatus | None, **settings: str) -> ReplicaMember:
    address = f"10.0.0.{broker_id}:10911"
    return ReplicaMember(broker_id, address, status, settings, "" if status else "no connection")


def slave(broker_id: int, end: int, **settings: str) -> ReplicaMember:
    status = SlaveStatus("m:2", FOLLOWING, end, end, end, 0, 0)
    return member(broker_id, status, brokerRole="SLAVE", brokerName="broker-a", **settings)


def master(end: int = 510, role: str = "ASYNC_MASTER", broker_id: int = 0) -> ReplicaMember:
    status = MasterStatus(end, 1, [])
    return member(broker_id, status, brokerRole=role, brokerName="broker-a")


def group(*members: ReplicaMember) -> ReplicaGroup:
    return ReplicaGroup("c", "broker-a", members)


def check(
    found: ReplicaGroup, wanted: str = "", *, shorter: bool = False, second: bool = False
) -> str:
    """The address that may be promoted."""
    plan = plan_promotion(found, wanted=wanted)
    check_promotion(found, plan, may_be_shorter=shorter, may_be_second=second)
    return plan.slave.address


def test_the_longest_slave_is_promoted() -> None:
    assert check(group(slave(1, 400), slave(2, 500))) == "10.0.0.2:10911"
    assert check(group(slave(1, 500), slave(2, 500))) == "10.0.0.1:10911"
    assert check(group(slave(1, 500), slave(2, 500)), "2") == "10.0.0.2:10911"


@pytest.mark.parametrize("wanted", ["1", "10.0.0.1:10911"])
def test_a_shorter_slave_is_promoted_only_by_force(wanted: str) -> None:
    found = group(slave(1, 400), slave(2, 500))
    with pytest.raises(UnsafeChange, match=r"lacks 100 bytes that 10\.0\.0\.2:10911 has") as caught:
        check(found, wanted)
    assert "--force-shorter broker-a" in caught.value.hint
    assert check(found, wanted, shorter=True) == "10.0.0.1:10911"


def test_a_slave_that_does_not_answer_may_be_longer() -> None:
    found = group(slave(1, 400), member(2, None))
    with pytest.raises(UnsafeChange, match=r"10\.0\.0\.2:10911 did not answer"):
        check(found)
    assert check(found, shorter=True) == "10.0.0.1:10911"


def test_no_slave_is_promoted_beside_a_master_that_answers_unless_that_is_said() -> None:
    found = group(master(), slave(1, 510))
    with pytest.raises(UnsafeChange, match=r"answers: 10\.0\.0\.0:10911") as caught:
        check(found, shorter=True)
    assert "--beside-master" in caught.value.hint
    assert check(found, second=True) == "10.0.0.1:10911"
    with pytest.raises(UnsafeChange, match="lacks"):
        check(group(master(), slave(1, 5), slave(2, 510)), "1", second=True)


def test_a_master_that_does_not_answer_or_is_a_slave_now_is_in_nobodys_way() -> None:
    assert check(group(member(0, None), slave(1, 510))) == "10.0.0.1:10911"
    assert check(group(slave(0, 500), slave(1, 510))) == "10.0.0.1:10911"


def test_there_must_be_a_slave_that_answers() -> None:
    with pytest.raises(NotFound, match="no slave of broker-a answers"):
        plan_promotion(group(master(), member(1, None)))
    with pytest.raises(NotFound, match="no slave '7' that answers") as caught:
        plan_promotion(group(slave(1, 5)), wanted="7")
    assert caught.value.hint == "there: 10.0.0.1:10911 (id 1)"


def test_the_role_is_that_of_the_old_master_or_what_the_slave_is_set_up_for() -> None:
    old = master(role="SYNC_MASTER")
    assert plan_promotion(group(old, slave(1, 5))).role == "SYNC_MASTER"
    assert plan_promotion(group(slave(1, 5, inSyncReplicas="2"))).role == "SYNC_MASTER"
    assert plan_promotion(group(slave(1, 5, inSyncReplicas="1"))).role == "ASYNC_MASTER"
    assert plan_promotion(group(slave(1, 5, inSyncReplicas="odd"))).role == "ASYNC_MASTER"
    assert plan_promotion(group(old, slave(1, 5)), role="ASYNC_MASTER").role == "ASYNC_MASTER"


def test_an_old_master_follows_the_registered_one_under_the_smallest_free_id() -> None:
    old = ReplicaMember(0, "10.0.0.9:10911", MasterStatus(600, 1, []), {"brokerName": "broker-a"})
    plan = plan_demotion(old, group(master(), slave(1, 510), slave(3, 510)))
    assert (plan.name, plan.broker_id, plan.master.address) == ("broker-a", 2, "10.0.0.0:10911")
    assert plan_demotion(old, group(master()), broker_id=7).broker_id == 7
    other = master(broker_id=8)
    assert plan_demotion(old, None, master=other).master is other
    assert plan_demotion(old, None, master=other).broker_id == 1


def test_a_broker_cannot_follow_itself_a_slave_or_nobody() -> None:
    old = master()
    for found in (group(old, slave(1, 5)), group(slave(1, 5)), None):
        with pytest.raises(UnsafeChange, match="no other master of broker-a") as caught:
            plan_demotion(old, found)
        assert "promote a slave first: aerobee broker promote broker-a" in caught.value.hint
        assert "--master" in caught.value.hint
    with pytest.raises(UnsafeChange, match="cannot be followed: it says that it is a slave"):
        plan_demotion(old, None, master=slave(1, 5))
    with pytest.raises(UnsafeChange, match="cannot be followed: no connection"):
        plan_demotion(old, None, master=member(1, None))
    with pytest.raises(NotFound, match="does not answer: no connection"):
        plan_demotion(member(0, None), group(master()))


def test_an_id_that_another_broker_has_is_refused() -> None:
    old = ReplicaMember(0, "10.0.0.9:10911", MasterStatus(600, 1, []), {"brokerName": "broker-a"})
    with pytest.raises(UnsafeChange, match="has the id 1") as caught:
        plan_demotion(old, group(master(), slave(1, 5)), broker_id=1)
    assert caught.value.hint == "2 is free"
