"""The highest rate that holds a limit, found by trying.

    double while it holds ─▶ halve while it does not ─▶ bisect until the gap is small

B1. What is found was tried and held; what is above it by the precision was tried and did not hold,
    unless the highest rate that may be tried held.
B2. It ends: after at most `tries_max` tries.
"""

_GROWTH = 2.0


class RateSearch:
    def __init__(
        self,
        first: float,
        *,
        lowest: float = 1.0,
        highest: float = float("inf"),
        precision: float = 0.05,
        tries_max: int = 20,
    ) -> None:
        self._held = 0.0
        self._broke = float("inf")
        self._lowest = lowest
        self._highest = highest
        self._precision = precision
        self._left = tries_max
        self._next: float | None = min(max(first, lowest), highest)

    @property
    def found(self) -> float | None:
        """The highest that held so far."""
        return self._held or None

    def next_rate(self) -> float | None:
        """What to try; None: it is over."""
        return self._next if self._left > 0 else None

    def tell(self, holds: bool) -> None:
        """How the rate that was to be tried did."""
        assert self._next is not None
        rate = self._next
        self._left -= 1
        if holds:
            self._held = rate
        else:
            self._broke = rate
        self._next = self._following()

    def _following(self) -> float | None:
        if self._held >= self._highest:
            return None
        if self._broke == float("inf"):
            return min(self._held * _GROWTH, self._highest)
        if self._held == 0.0:
            lower = self._broke / _GROWTH
            return lower if lower >= self._lowest else None
        if self._broke / self._held <= 1 + self._precision:
            return None
        return (self._held + self._broke) / 2
