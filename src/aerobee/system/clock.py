"""The machine's clocks.

The wall clock may be set while we run; the monotonic one counts from the machine's start.
"""

import time

from aerobee.ports.clock import Now

_NS_PER_MS = 1_000_000


class SystemClock:
    def now(self) -> Now:
        return Now(time.time_ns() // _NS_PER_MS, time.monotonic_ns() // _NS_PER_MS)

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // _NS_PER_MS
