import time

from aerobee.system.clock import SystemClock


def test_both_clocks_count_milliseconds_of_the_machine() -> None:
    before = (time.time_ns() // 1_000_000, time.monotonic_ns() // 1_000_000)
    now = SystemClock().now()
    alone = SystemClock().monotonic_ms()
    after = (time.time_ns() // 1_000_000, time.monotonic_ns() // 1_000_000)
    assert before[0] <= now.wall_ms <= after[0]
    assert before[1] <= now.monotonic_ms <= alone <= after[1]
