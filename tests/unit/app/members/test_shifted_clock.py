from aerobee.app.members.shifted_clock import ShiftedClock
from aerobee.system.clock import SystemClock


def test_the_wall_clock_is_off_and_the_other_is_not() -> None:
    clock, true = ShiftedClock(), SystemClock()
    clock.shift_ms = -3_600_000
    before, now, after = true.now(), clock.now(), true.now()
    assert before.wall_ms <= now.wall_ms + 3_600_000 <= after.wall_ms
    assert before.monotonic_ms <= now.monotonic_ms <= after.monotonic_ms
    assert before.monotonic_ms <= clock.monotonic_ms()
