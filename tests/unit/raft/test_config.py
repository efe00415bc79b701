"""RaftConfig: times that fit together."""

import pytest

from aerobee.errors import Misuse
from aerobee.raft.config import RaftConfig


def test_the_lease_of_a_slow_clock_ends_before_the_timeout_of_a_fast_one() -> None:
    config = RaftConfig(election_timeout_ms=1000, clock_drift_percent=10)
    assert config.lease_ms / 0.9 < 1000 / 1.1
    assert config.lease_ms > 800


def test_clocks_without_drift_give_a_lease_of_nearly_the_whole_timeout() -> None:
    assert RaftConfig(election_timeout_ms=1000, clock_drift_percent=0).lease_ms == 998


@pytest.mark.parametrize("heartbeat_ms", [0, 410, 2000])
def test_heartbeats_that_a_lease_does_not_outlast_are_refused(heartbeat_ms: int) -> None:
    with pytest.raises(Misuse, match="heartbeats every"):
        RaftConfig(election_timeout_ms=1000, heartbeat_ms=heartbeat_ms)


def test_reads_are_confirmed_well_before_a_regular_heartbeat_and_never_all_the_time() -> None:
    assert RaftConfig(heartbeat_ms=200).answer_interval_ms == 20
    assert RaftConfig(heartbeat_ms=5).answer_interval_ms == 1


def test_a_window_below_one_batch_is_refused() -> None:
    with pytest.raises(Misuse, match="window"):
        RaftConfig(batch_bytes=100, window_bytes=99)
