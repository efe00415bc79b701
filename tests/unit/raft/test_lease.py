"""Lease: how long a leader knows that it is alone."""

from aerobee.raft.config import RaftConfig
from aerobee.raft.lease import Lease

CONFIG = RaftConfig(election_timeout_ms=1000, clock_drift_percent=10)


def test_a_new_leader_has_no_lease_before_a_majority_has_answered() -> None:
    lease = Lease(CONFIG, 5000)
    assert not lease.is_held(5000)
    lease.confirm(5000)
    assert lease.is_held(5001)


def test_a_lease_counts_from_the_stamp_not_from_its_answer() -> None:
    lease = Lease(CONFIG, 5000)
    lease.confirm(5100)
    assert lease.is_held(5100 + CONFIG.lease_ms - 1)
    assert not lease.is_held(5100 + CONFIG.lease_ms)


def test_late_answers_do_not_shorten_it() -> None:
    lease = Lease(CONFIG, 5000)
    lease.confirm(6000)
    lease.confirm(5500)
    assert lease.confirmed_ms == 6000


def test_a_lease_that_was_given_up_does_not_come_back() -> None:
    lease = Lease(CONFIG, 5000)
    lease.give_up()
    lease.confirm(6000)
    assert not lease.is_held(6000)
    assert lease.confirmed_ms == 6000


def test_a_host_that_was_busy_gets_its_time_back_and_no_lease() -> None:
    lease = Lease(CONFIG, 0)
    lease.begin(5_000)
    assert not lease.is_lost(5_000 + CONFIG.election_timeout_ms - 1)
    assert lease.is_lost(5_000 + CONFIG.election_timeout_ms)
    assert not lease.is_held(5_000)


def test_a_leader_has_an_election_timeout_to_be_heard() -> None:
    lease = Lease(CONFIG, 5000)
    assert not lease.is_lost(5999)
    assert lease.is_lost(6000)
    lease.confirm(5400)
    assert not lease.is_lost(6399)
    assert lease.is_lost(6400)
    assert lease.lost_ms() == 6400
