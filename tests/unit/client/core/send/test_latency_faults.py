import pytest

from aerobee.client.core.send.latency_faults import LatencyFaults
from aerobee.errors import Misuse


@pytest.mark.parametrize(
    ("latency_ms", "rest_ms"),
    [
        (0, 0),
        (49, 0),
        (100, 0),
        (549, 0),
        (550, 2_000),
        (1_799, 2_000),
        (1_800, 5_000),
        (3_000, 6_000),
        (5_000, 10_000),
        (14_999, 10_000),
        (15_000, 30_000),
        (10**9, 30_000),
    ],
)
def test_a_broker_rests_as_long_as_the_last_row_that_fits_says(
    latency_ms: int, rest_ms: int
) -> None:
    faults = LatencyFaults()
    assert faults.rest_ms(latency_ms) == rest_ms
    faults.note("a", latency_ms, 1_000)
    assert faults.is_available("a", 1_000) == (rest_ms == 0)
    assert faults.is_available("a", 1_000 + rest_ms)
    assert rest_ms == 0 or not faults.is_available("a", 1_000 + rest_ms - 1)


def test_an_isolated_broker_rests_for_ten_seconds_however_fast_it_failed() -> None:
    faults = LatencyFaults()
    faults.note("a", 1, 0, is_isolated=True)
    assert not faults.is_available("a", 9_999)
    assert faults.is_available("a", 10_000)


def test_the_end_of_a_rest_only_moves_forward() -> None:
    faults = LatencyFaults()
    faults.note("a", 15_000, 0)
    faults.note("a", 550, 100)
    faults.note("a", 1, 200)
    assert not faults.is_available("a", 29_999)


def test_a_broker_nobody_knows_is_available_and_reachable() -> None:
    assert LatencyFaults().is_available("a", 0)
    assert LatencyFaults().is_reachable("a")


def test_a_broker_is_reachable_again_once_a_send_succeeds() -> None:
    faults = LatencyFaults()
    faults.note("a", 1, 0, is_isolated=True, is_reachable=False)
    assert not faults.is_reachable("a")
    faults.note("a", 1, 1)
    assert faults.is_reachable("a")


def test_the_table_can_be_another_but_must_rise() -> None:
    assert LatencyFaults([(10, 7)]).rest_ms(10) == 7
    with pytest.raises(Misuse):
        LatencyFaults([(10, 7), (10, 8)])
