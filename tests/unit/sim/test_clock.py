import pytest

from aerobee.ports.clock import Now
from aerobee.sim.clock import SimClock


def test_time_moves_only_when_told_and_on_both_clocks() -> None:
    clock = SimClock(wall_ms=1000, monotonic_ms=5)
    assert clock.now() == clock.now() == Now(1000, 5)
    assert clock.advance(7) == Now(1007, 12)
    assert clock.now() == Now(1007, 12)
    assert clock.monotonic_ms() == 12


def test_time_does_not_go_back() -> None:
    clock = SimClock()
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance(-1)


def test_the_wall_clock_jumps_alone() -> None:
    clock = SimClock(wall_ms=1000, monotonic_ms=5)
    assert clock.jump_wall(-600) == Now(400, 5)
    assert clock.jump_wall(86_400_000) == Now(86_400_400, 5)
