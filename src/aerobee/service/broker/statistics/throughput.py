"""Throughput samples a counter: totals, and rates over ten seconds, a minute and ten minutes.

Nothing is done per message: an existing counter is read once a second.
"""

from collections import deque
from collections.abc import Callable

from aerobee.ports.clock import Now

WINDOWS_S = (10, 60, 600)
_DAY_MS = 86_400_000


class Throughput:
    """Reads a counter once a second."""

    def __init__(self, count: Callable[[], int], now: Now) -> None:
        self._count = count
        self._looked_ms = now.monotonic_ms
        self._samples = deque([(now.monotonic_ms, count())], maxlen=max(WINDOWS_S) + 1)
        self._day = now.wall_ms // _DAY_MS
        # The counter at the last two midnights, UTC.
        self.at_midnight = count()
        self.at_midnight_before = self.at_midnight

    def on_tick(self, now: Now) -> None:
        if now.monotonic_ms - self._looked_ms < 1000:
            return
        self._looked_ms = now.monotonic_ms
        self._samples.append((now.monotonic_ms, self._count()))
        day = now.wall_ms // _DAY_MS
        if day != self._day:
            self._day = day
            self.at_midnight_before, self.at_midnight = self.at_midnight, self._count()

    @property
    def total(self) -> int:
        return self._count()

    def rates(self) -> list[float]:
        """Rates per second, over each window or as much of it as has passed."""
        last_ms, last = self._samples[-1]
        found = []
        for window_s in WINDOWS_S:
            first_ms, first = self._samples[max(0, len(self._samples) - 1 - window_s)]
            passed_ms = last_ms - first_ms
            found.append((last - first) * 1000 / passed_ms if passed_ms > 0 else 0.0)
        return found
