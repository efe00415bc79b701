from aerobee.app.explaining.findings import Cause
from aerobee.app.explaining.replica_causes import BEHIND_BYTES, BEHIND_MS, explain_replicas
from aerobee.client.admin.replica_group import ReplicaGroup, ReplicaMember
from aerobee.model.replica_status import (
    ACTING,
    DIVERGED,
    FOLLOWING,
    MasterStatus,
    ReplicaLag,
    ReplicaStatus,
    SlaveStatus,
)

LINK = "10.0.0.2:7"
IN_SYNC = ReplicaLag(LINK, 510, 0, 0, True)


def member(broker_id: int, status: ReplicaStatus | None, **settings: str) -> ReplicaMember:
    address = f"10.0.0.{broker_id + 1}:10911"
    return ReplicaMember(broker_id, address, status, settings, "" if status else "no connection")


def master(*replicas: ReplicaLag, copies: int = 1, role: str = "ASYNC_MASTER") -> ReplicaMember:
    return member(0, MasterStatus(510, copies, replicas), brokerRole=role)


def slave(
    broker_id: int = 1, *, link: str = LINK, state: str = FOLLOWING, why: str = ""
) -> ReplicaMember:
    status = SlaveStatus("10.0.0.1:10912", state, 510, 510, 510, 0, 0, why, link=link)
    return member(broker_id, status, brokerRole="SLAVE")


def group(*members: ReplicaMember) -> ReplicaGroup:
    return ReplicaGroup("c", "broker-a", members)


def causes(*members: ReplicaMember) -> list[Cause]:
    return [one.cause for one in explain_replicas(group(*members))]


def text(*members: ReplicaMember) -> str:
    (found,) = explain_replicas(group(*members))
    return found.text


def test_a_master_alone_and_one_with_slaves_in_sync_are_well() -> None:
    assert text(master()) == "broker-a: a master without slaves"
    assert text(master(IN_SYNC), slave()) == "broker-a: a master and 1 slave, all in sync"
    sync = master(IN_SYNC, copies=2, role="SYNC_MASTER")
    assert causes(sync, slave()) == [Cause.WELL]


def test_a_name_without_a_master_cannot_be_sent_to() -> None:
    (found,) = explain_replicas(group(slave()))
    assert found.cause is Cause.NO_MASTER
    assert found.next == "aerobee broker promote broker-a --dry-run"
    assert "acts as master" not in found.text
    acting = slave(state=ACTING)
    assert text(acting).endswith("10.0.0.2:10911 acts as master")
    assert acting.role == "ACTING_MASTER"
    demoted = member(0, slave().status)
    assert causes(demoted, slave()) == [Cause.NO_MASTER]


def test_a_broker_that_does_not_answer_is_named() -> None:
    assert "10.0.0.1:10911 is registered as id 0" in text(member(0, None), slave())
    assert causes(master(), member(1, None)) == [Cause.NOT_FOLLOWING, Cause.NO_ANSWER]


def test_a_synchronous_master_that_waits_for_nobody_promises_nothing() -> None:
    assert "inSyncReplicas=1" in text(master(IN_SYNC, role="SYNC_MASTER"), slave())
    assert causes(master(role="SYNC_MASTER")) == [Cause.NO_PROMISE]
    assert causes(master(IN_SYNC, copies=2, role="SYNC_MASTER"), slave()) == [Cause.WELL]


def test_too_few_copies_refuse_sends() -> None:
    none = master(copies=2, role="SYNC_MASTER")
    assert "no slave is connected: broker-a has 1 of 2 copies" in text(none)
    behind = IN_SYNC._replace(is_in_sync=False, why="310 bytes behind")
    found = explain_replicas(group(master(behind, copies=2, role="SYNC_MASTER"), slave()))
    assert [one.cause for one in found] == [Cause.TOO_FEW_COPIES, Cause.NOT_FOLLOWING]
    assert "too few slaves are in sync" in found[0].text
    assert "310 bytes behind" in found[1].text


def test_a_slave_that_is_not_connected_is_named_with_its_reason() -> None:
    found = explain_replicas(group(master(), slave(link="", why="refused")))
    assert [one.cause for one in found] == [Cause.NOT_FOLLOWING, Cause.NOT_FOLLOWING]
    assert "no slave of broker-a is connected" in found[0].text
    assert found[1].text.endswith("is not in sync: refused")


def test_a_slave_that_has_diverged_is_told_apart() -> None:
    found = explain_replicas(group(master(IN_SYNC), slave(state=DIVERGED, why="since 300")))
    assert [one.cause for one in found] == [Cause.DIVERGED]
    assert found[0].text.endswith("since 300")
    assert found[0].next == "aerobee broker replicas broker-a"


def test_a_slave_in_sync_is_behind_beyond_a_bound() -> None:
    for lag, is_behind in (
        (IN_SYNC._replace(lag_bytes=BEHIND_BYTES), False),
        (IN_SYNC._replace(lag_bytes=BEHIND_BYTES + 1), True),
        (IN_SYNC._replace(lag_ms=BEHIND_MS), False),
        (IN_SYNC._replace(lag_bytes=9, lag_ms=BEHIND_MS + 1), True),
    ):
        assert causes(master(lag), slave()) == [Cause.SLAVE_BEHIND if is_behind else Cause.WELL]
    assert "is 9 bytes and 1001 ms behind" in text(master(lag), slave())


def test_two_masters_of_a_name_are_told() -> None:
    second = member(1, MasterStatus(9, 1, []))
    found = explain_replicas(group(master(IN_SYNC), second))
    assert found[0].cause is Cause.TWO_MASTERS
    assert found[0].next == "aerobee broker demote 10.0.0.2:10911 --dry-run"


def test_a_slave_that_no_name_server_has_is_told() -> None:
    assert "a slave is connected" in text(master(IN_SYNC))
    assert "2 slaves are connected" in text(master(IN_SYNC, IN_SYNC))
