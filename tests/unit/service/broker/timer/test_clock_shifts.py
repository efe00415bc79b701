from aerobee.ports.clock import Now
from aerobee.service.broker.timer.clock_shifts import STEP_MS_MIN, ClockShifts
from aerobee.sim.clock import SimClock

BEGIN = 1_000_000


def test_a_clock_that_only_runs_is_not_noticed() -> None:
    clock = SimClock()
    shifts = ClockShifts(clock.now(), 0)
    for _ in range(10):
        assert shifts.watch(clock.advance(1_000), 5) == 0
    assert shifts.since(0, 0) == 0
    assert not shifts.has_steps


def test_what_was_stored_before_the_clock_was_set_forward_is_due_later() -> None:
    shifts = ClockShifts(Now(BEGIN, 0), 10)
    assert shifts.watch(Now(BEGIN + 60_500, 500), 10) == 60_000
    assert shifts.has_steps
    assert shifts.watch(Now(BEGIN + 61_000, 1_000), 20) == 0
    assert shifts.watch(Now(BEGIN + 66_100, 1_100), 20) == 5_000
    assert [shifts.since(offset, 0) for offset in (0, 9)] == [65_000, 65_000]
    assert [shifts.since(offset, 0) for offset in (10, 19, 20)] == [5_000, 5_000, 0]


def test_of_what_was_stored_around_that_moment_the_store_time_decides() -> None:
    shifts = ClockShifts(Now(BEGIN, 0), 10)
    assert shifts.watch(Now(BEGIN + 60_500, 500), 20) == 60_000
    assert shifts.since(15, BEGIN + 100) == 60_000
    assert shifts.since(15, BEGIN + 500) == 60_000
    assert shifts.since(15, BEGIN + 60_100) == 0
    assert shifts.since(5, BEGIN + 60_100) == 60_000, "store times never go back"


def test_a_clock_set_back_makes_nothing_due_earlier() -> None:
    shifts = ClockShifts(Now(BEGIN, 0), 10)
    assert shifts.watch(Now(BEGIN - 100_000, 0), 10) == -100_000
    assert shifts.since(3, 0) == 0
    shifts.watch(Now(BEGIN - 100_000, 0), 20)
    shifts.watch(Now(BEGIN + 200_000, 0), 20)
    assert shifts.since(3, 0) == 200_000
    assert shifts.since(15, 0) == 300_000


def test_small_differences_of_the_two_clocks_are_nothing() -> None:
    shifts = ClockShifts(Now(BEGIN, 0), 10)
    assert shifts.watch(Now(BEGIN + STEP_MS_MIN - 1, 0), 10) == 0
    assert shifts.since(3, 0) == 0


def test_however_often_the_clock_is_set_little_is_kept_and_nothing_is_early() -> None:
    clock = SimClock()
    shifts = ClockShifts(clock.now(), 0)
    for number in range(1_000):
        clock.jump_wall(1_000)
        shifts.watch(clock.advance(10), number + 1)
    assert shifts.since(0, 0) >= 1_000_000
    assert shifts.since(999, 0) == 1_000
    assert shifts.since(500, 0) >= 500_000
    assert len(shifts._steps) <= 64
