"""Departure: how long a member that is stopped serves its clients on."""

from aerobee.replication.departure import Departure


def departure() -> Departure:
    return Departure(quiet_ms=3_000, time_ms=60_000, patience_ms=2_000)


def test_a_member_that_nobody_asks_closes_at_once() -> None:
    one = departure()
    one.heard(1_000)
    assert not one.is_over(5_000, has_leader=True)
    one.begin(5_000, leads=False)
    assert one.is_over(5_000, has_leader=True)


def test_clients_of_a_leader_may_come_again_when_it_has_handed_over() -> None:
    one = departure()
    one.begin(5_000, leads=True)
    assert not one.is_over(7_999, has_leader=True)
    assert one.is_over(8_000, has_leader=True)


def test_it_stays_while_it_is_asked() -> None:
    one = departure()
    one.begin(0, leads=True)
    for at_ms in range(0, 59_999, 2_999):
        assert not one.is_over(at_ms, has_leader=True)
        one.heard(at_ms)
    one.heard(59_999)
    assert not one.is_over(59_999, has_leader=True)


def test_it_closes_in_time_however_much_it_is_asked() -> None:
    one = departure()
    one.begin(0, leads=True)
    one.begin(50_000, leads=True)  # elected again, by others that stop
    one.heard(60_000)
    assert one.is_over(60_000, has_leader=True)


def test_it_waits_for_an_election_and_not_for_a_group_that_is_gone() -> None:
    one = departure()
    one.begin(0, leads=True)
    assert not one.is_over(1_000, has_leader=True)
    assert not one.is_over(2_999, has_leader=False)
    assert one.is_over(3_000, has_leader=False)


def test_without_time_to_wait_it_closes_at_once() -> None:
    one = Departure(quiet_ms=0, time_ms=60_000, patience_ms=2_000)
    one.begin(5_000, leads=True)
    assert one.is_over(5_000, has_leader=True)
