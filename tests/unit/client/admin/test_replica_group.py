import pytest

from aerobee.client.admin.replica_group import (
    NO_MASTER,
    NOT_CONNECTED,
    SILENT_MASTER,
    ReplicaGroup,
    ReplicaMember,
    Standing,
)
from aerobee.model.replica_status import (
    FOLLOWING,
    UNKNOWN,
    WITHOUT_ROOM,
    MasterStatus,
    ReplicaLag,
    ReplicaStatus,
    SlaveStatus,
)


def slave(
    end: int = 500, *, link: str = "", why: str = "", lag_bytes: int = 10, lag_ms: int = 3
) -> SlaveStatus:
    return SlaveStatus(
        "10.0.0.1:10912", FOLLOWING, end, end, 510, lag_bytes, lag_ms, why, link=link
    )


def member(broker_id: int, status: ReplicaStatus | None, host: str = "") -> ReplicaMember:
    address = f"{host or f'10.0.0.{broker_id + 1}'}:10911"
    problem = "" if status is not None else "no connection"
    return ReplicaMember(broker_id, address, status, problem=problem)


def group(*members: ReplicaMember) -> ReplicaGroup:
    return ReplicaGroup("c", "broker-a", members)


def lag(
    address: str, behind: int = 0, ms: int = 0, *, is_in_sync: bool = True, why: str = ""
) -> ReplicaLag:
    return ReplicaLag(address, 510 - behind, behind, ms, is_in_sync, why)


def test_the_master_judges_the_slave_that_is_on_its_connection() -> None:
    status = MasterStatus(510, 2, [lag("10.0.0.9:1", 10, 7), lag("10.0.0.9:2", is_in_sync=False)])
    found = group(member(0, status), member(1, slave(link="10.0.0.9:1")))
    assert found.standing(found.slaves[0]) == Standing(10, 7, True, "")


@pytest.mark.parametrize(
    ("seen", "own", "why"),
    [("it is slow", "mine", "it is slow"), ("", "mine", "mine"), ("", "", "310 bytes behind")],
)
def test_a_slave_out_of_sync_has_the_best_reason_that_is_known(
    seen: str, own: str, why: str
) -> None:
    status = MasterStatus(510, 2, [lag("10.0.0.2:1", 310, UNKNOWN, is_in_sync=False, why=seen)])
    found = group(member(0, status), member(1, slave(200, why=own, lag_ms=9)))
    assert found.standing(found.slaves[0]) == Standing(310, 9, False, why)


def test_a_slave_that_its_master_does_not_list_is_not_connected() -> None:
    status = MasterStatus(510, 2, [lag("10.0.0.3:1")])
    alone = group(member(0, status), member(1, slave()))
    assert alone.standing(alone.slaves[0]) == Standing(10, 3, False, NOT_CONNECTED)
    told = group(member(0, status), member(1, slave(link="10.0.0.3:7", why="refused")))
    assert told.standing(told.slaves[0]) == Standing(10, 3, False, "refused")


def test_a_slave_is_not_taken_for_another_one_of_its_host() -> None:
    status = MasterStatus(510, 2, [lag("10.0.0.2:1")])
    here = member(1, slave(link="10.0.0.2:1"))
    found = group(member(0, status), here, member(2, slave(why="refused"), "10.0.0.2"))
    standings = [found.standing(one) for one in found.slaves]
    assert standings == [Standing(0, 0, True, ""), Standing(10, 3, False, "refused")]


def test_a_slave_that_its_master_sees_under_another_port_is_known_by_its_host() -> None:
    status = MasterStatus(510, 2, [lag("10.0.0.2:9")])
    found = group(member(0, status), member(1, slave(link="10.0.0.2:1")))
    assert found.standing(found.slaves[0]) == Standing(0, 0, True, "")


def test_of_several_slaves_on_a_host_nobody_can_say_which_is_in_sync_unless_all_are() -> None:
    for is_in_sync, wanted in ((True, True), (False, None)):
        lags = [lag("10.0.0.2:1"), lag("10.0.0.2:2", is_in_sync=is_in_sync)]
        found = group(
            member(0, MasterStatus(510, 2, lags)),
            member(1, slave(), "10.0.0.2"),
            member(2, slave(510), "10.0.0.2"),
        )
        standings = [found.standing(one) for one in found.slaves]
        assert [one.is_in_sync for one in standings] == [wanted, wanted]
        assert [one.lag_bytes for one in standings] == [10, 0]
        assert all(bool(one.why) != is_in_sync for one in standings)


def test_without_a_master_that_answers_nobody_can_say() -> None:
    without = group(member(1, slave()))
    assert without.standing(without.slaves[0]) == Standing(10, 3, None, NO_MASTER)
    silent = group(member(0, None), member(1, slave()))
    assert silent.standing(silent.slaves[0]) == Standing(10, 3, None, SILENT_MASTER)
    demoted = group(member(0, slave()), member(1, slave(why="it waits")))
    assert demoted.standing(demoted.slaves[0]).why == "it waits"


def test_a_slave_that_is_none_or_does_not_answer_is_not_in_sync() -> None:
    found = group(member(0, MasterStatus(510, 1, [])), member(1, None), member(2, found_master()))
    silent, second = (found.standing(one) for one in found.slaves)
    assert silent == Standing(UNKNOWN, UNKNOWN, False, "no connection")
    assert (second.is_in_sync, "master itself" in second.why) == (False, True)


def found_master() -> MasterStatus:
    return MasterStatus(9, 1, [])


def test_the_longest_slave_comes_first_and_of_equal_ones_the_smallest_id() -> None:
    found = group(
        member(0, MasterStatus(510, 1, [])),
        member(1, slave(400)),
        member(2, slave(500)),
        member(3, slave(500)),
        member(4, None),
        member(5, found_master()),
    )
    assert [one.broker_id for one in found.longest_slaves()] == [2, 3, 1]


def test_slaves_that_are_connected_and_not_registered_are_counted() -> None:
    lags = [lag("10.0.0.2:1"), lag("10.0.0.3:1")]
    assert group(member(0, MasterStatus(510, 1, lags)), member(1, slave())).unregistered == 1
    assert group(member(0, MasterStatus(510, 1, [])), member(1, slave())).unregistered == 0
    assert group(member(1, slave())).unregistered == 0


def test_a_role_is_the_configured_one_or_what_the_status_shows() -> None:
    status = MasterStatus(510, 1, [])
    assert ReplicaMember(0, "a:1", status, {"brokerRole": "SYNC_MASTER"}).role == "SYNC_MASTER"
    assert ReplicaMember(0, "a:1", status).role == "MASTER"
    assert ReplicaMember(1, "a:1", slave()).role == "SLAVE"
    assert (ReplicaMember(1, "a:1").role, ReplicaMember(1, "a:1").end_offset) == ("", UNKNOWN)


def test_a_follower_without_room_is_not_in_sync_although_its_leader_hears_it() -> None:
    full = slave(400)._replace(state=WITHOUT_ROOM, why="it copies nothing: the disk is full")
    lag = ReplicaLag("10.0.0.2:10911", 400, 110, 0, True)
    group = ReplicaGroup("c", "b", (member(0, MasterStatus(510, 2, [lag])), member(1, full)))
    standing = group.standing(group.members[1])
    assert standing == Standing(110, 3, False, "it copies nothing: the disk is full")
