import pytest

from aerobee.ports.clock import Now
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.transaction.half_timing import HalfTiming
from aerobee.service.broker.transaction.open_half_recovery import OpenHalf
from tests.tables_kit import TablesKit
from tests.transaction_kit import INTERVAL_MS, TIMEOUT_MS

HOUR_MS = 3_600_000
RETENTION_MS = 72 * HOUR_MS
KEPT_MS = RETENTION_MS - RETENTION_MS // 64
NOW = Now(1_700_000_000_000, 5_000)


def timing(config: BrokerConfig | None = None) -> HalfTiming:
    told = config or BrokerConfig()
    return HalfTiming(lambda: told, RETENTION_MS)


def found(
    ago_ms: int, *, times: int = 0, immunity_ms: int | None = None, born_ago_ms: int | None = None
) -> OpenHalf:
    born_ms = NOW.wall_ms - (ago_ms if born_ago_ms is None else born_ago_ms)
    return OpenHalf(0, 0, "g", times, immunity_ms, born_ms, NOW.wall_ms - ago_ms)


@pytest.mark.parametrize(
    ("immunity_ms", "wait_ms"),
    [(None, TIMEOUT_MS), (0, 0), (90_000, 90_000), (10**18, KEPT_MS)],
)
def test_a_new_half_is_left_alone_for_the_timeout_or_for_as_long_as_it_wants(
    immunity_ms: int | None, wait_ms: int
) -> None:
    assert timing().first_check_ms(immunity_ms, NOW) == NOW.monotonic_ms + wait_ms


def test_settings_count_as_they_are_now() -> None:
    kit = TablesKit()
    one = HalfTiming(lambda: kit.config.current, RETENTION_MS)
    kit.change(transactionTimeOut="50", transactionCheckInterval="70", transactionCheckMax="3")
    assert one.first_check_ms(None, NOW) == NOW.monotonic_ms + 50
    assert one.next_check_ms(NOW) == NOW.monotonic_ms + 70
    assert one.times_max == 3


@pytest.mark.parametrize(
    ("half", "left_ms"),
    [
        (found(2_000), TIMEOUT_MS - 2_000),
        (found(60_000), 0),
        (found(2_000, times=1), INTERVAL_MS - 2_000),
        (found(2_000, immunity_ms=10_000), 8_000),
        (found(-HOUR_MS), TIMEOUT_MS),  # the clock was set back
    ],
)
def test_a_half_that_is_found_waits_for_what_is_left_of_its_time(
    half: OpenHalf, left_ms: int
) -> None:
    assert timing().found_check_ms(half, NOW) == NOW.monotonic_ms + left_ms


@pytest.mark.parametrize(
    ("half", "left_ms"),
    [
        (found(HOUR_MS), KEPT_MS - HOUR_MS),
        # Stored again an hour ago: its producer knows better how old it is,
        (found(HOUR_MS, born_ago_ms=50 * HOUR_MS), KEPT_MS - 50 * HOUR_MS),
        # if its clock can be believed.
        (found(HOUR_MS, born_ago_ms=5_000 * HOUR_MS), KEPT_MS - HOUR_MS),
        (found(HOUR_MS, born_ago_ms=-HOUR_MS), KEPT_MS - HOUR_MS),
        (found(80 * HOUR_MS), 0),
        (found(-HOUR_MS), KEPT_MS),
    ],
)
def test_a_half_that_is_found_is_given_up_when_it_is_nearly_as_old_as_the_log_may_be(
    half: OpenHalf, left_ms: int
) -> None:
    assert timing().found_expiry_ms(half, NOW) == NOW.monotonic_ms + left_ms
    assert timing().expiry_ms(NOW) == NOW.monotonic_ms + KEPT_MS
