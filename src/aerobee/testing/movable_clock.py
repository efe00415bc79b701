"""The machine's time, and as much more as a test has added.

It goes on by itself, so nothing that waits for a few milliseconds waits for ever; it jumps when
told, on both clocks at once. Whoever watches is told of a jump, on the thread that made it.
"""

from collections.abc import Callable

from aerobee.client.api.client_options import Duration, seconds_of
from aerobee.ports.clock import Now
from aerobee.system.clock import SystemClock


class MovableClock:
    def __init__(self) -> None:
        self._system = SystemClock()
        self._ahead_ms = 0
        self._watchers: list[Callable[[], None]] = []

    def now(self) -> Now:
        now = self._system.now()
        return Now(now.wall_ms + self._ahead_ms, now.monotonic_ms + self._ahead_ms)

    def monotonic_ms(self) -> int:
        return self._system.monotonic_ms() + self._ahead_ms

    def advance(self, duration: Duration) -> None:
        """Have so much time pass at once. A clock does not go back: Misuse."""
        self._ahead_ms += round(seconds_of(duration, "the time that passes") * 1000)
        for moved in tuple(self._watchers):
            moved()

    def watch(self, moved: Callable[[], None]) -> None:
        self._watchers.append(moved)
