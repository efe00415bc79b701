from datetime import timedelta

import pytest

from aerobee.errors import Misuse
from aerobee.system.clock import SystemClock
from aerobee.testing import MovableClock

SOON_MS = 60_000  # the machine may be slow; the jump is larger


def test_both_clocks_jump_together_and_go_on_from_there() -> None:
    clock, system = MovableClock(), SystemClock()
    clock.advance(3600)
    clock.advance(timedelta(days=1))
    ahead = 25 * 3_600_000
    for ours, machines in zip(clock.now(), system.now(), strict=True):
        assert machines + ahead - SOON_MS < ours <= machines + ahead
    assert clock.monotonic_ms() >= clock.now().monotonic_ms - SOON_MS


def test_whoever_watches_is_told_of_a_jump() -> None:
    clock = MovableClock()
    told: list[int] = []
    clock.watch(lambda: told.append(clock.now().wall_ms))
    before = clock.now().wall_ms
    clock.advance(10)
    assert [one >= before + 10_000 for one in told] == [True]


def test_time_does_not_go_back() -> None:
    with pytest.raises(Misuse, match="not negative"):
        MovableClock().advance(-1)
