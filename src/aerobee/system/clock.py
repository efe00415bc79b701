"""The machine's clocks.

The wall clock may be set while we run; the monotonic one counts from the machine's start, and goes
on while the machine sleeps: a leader that was asleep must know that its lease is over.
"""

import time

from aerobee.ports.clock import Now

_NS_PER_MS = 1_000_000
_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # Linux has both


class SystemClock:
    def now(self) -> Now:
        return Now(time.time_ns() // _NS_PER_MS, time.clock_gettime_ns(_BOOT) // _NS_PER_MS)

    def monotonic_ms(self) -> int:
        return time.clock_gettime_ns(_BOOT) // _NS_PER_MS
