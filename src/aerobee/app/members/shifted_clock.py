"""ShiftedClock: the machine's clocks, the wall clock so many milliseconds off: `aerobee chaos` sets
the clock of a member wrong without touching the machine's.

The monotonic clock cannot be set on any machine, and is as it is.
"""

from aerobee.ports.clock import Now
from aerobee.system.clock import SystemClock


class ShiftedClock:
    def __init__(self) -> None:
        self._clock = SystemClock()
        self.shift_ms = 0

    def now(self) -> Now:
        now = self._clock.now()
        return now._replace(wall_ms=now.wall_ms + self.shift_ms)

    def monotonic_ms(self) -> int:
        return self._clock.monotonic_ms()
