"""PutLatency has percentiles of the time of sends over the last minute, as tools ask for them.

Nothing is done per message: histograms that are there anyway (`request_times`) are read every ten
seconds. A percentile lies in its bucket; it is told as if values were spread evenly there.
"""

from collections import deque
from collections.abc import Callable, Sequence

from aerobee.ports.clock import Now

STEP_MS = 10_000
STEPS = 6

Counts = Sequence[int]
"""By bucket, since the start."""


class PutLatency:
    def __init__(self, bounds: Sequence[float], counts: Callable[[], Counts], now: Now) -> None:
        self._bounds = bounds
        self._counts = counts
        self._looked_ms = now.monotonic_ms
        self._before: deque[Counts] = deque([tuple(counts())], maxlen=STEPS + 1)

    def on_tick(self, now: Now) -> None:
        if now.monotonic_ms - self._looked_ms >= STEP_MS:
            self._looked_ms = now.monotonic_ms
            self._before.append(tuple(self._counts()))

    def percentile(self, share: float) -> float:
        """Return the time in ms that this share of the sends did not exceed; 0: there were none."""
        counts = [new - old for new, old in zip(self._counts(), self._before[0], strict=True)]
        wanted = sum(counts) * share
        passed, low = 0.0, 0.0
        for high, count in zip(self._bounds, counts, strict=False):
            if count and passed + count >= wanted:
                return low + (high - low) * (wanted - passed) / count
            passed, low = passed + count, high
        return self._bounds[-1] if sum(counts) else 0.0
