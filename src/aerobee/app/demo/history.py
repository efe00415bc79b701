"""History keeps figures over time: current rates, and columns for charts.

column   the average over COLUMN_SECONDS, one column of a chart; the last one is still being filled
"""

from collections import deque
from collections.abc import Callable, Sequence

from aerobee.app.demo.figures import Figures

COLUMN_SECONDS = 2.0
COLUMNS = 20
RATE_SECONDS = 2.0
_SEEN_SECONDS = COLUMN_SECONDS * (COLUMNS + 1)
_Value = Callable[[Figures], int]


class History:
    def __init__(self) -> None:
        self._seen: deque[Figures] = deque()

    def add(self, figures: Figures) -> None:
        self._seen.append(figures)
        while figures.seconds - self._seen[0].seconds > _SEEN_SECONDS:
            self._seen.popleft()

    @property
    def last(self) -> Figures:
        return self._seen[-1]

    def rate(self, value: _Value) -> float:
        """Return the recent rate per second of a count that grows."""
        last = self.last
        before = (one for one in reversed(self._seen) if last.seconds - one.seconds >= RATE_SECONDS)
        return _between(next(before, self._seen[0]), last, value)

    def rates(self, value: _Value) -> list[float]:
        """Return the rates, column by column."""
        found = []
        before: Figures | None = None
        for column in self._columns():
            found.append(_between(before or column[0], column[-1], value))
            before = column[-1]
        return found[-COLUMNS:]

    def levels(self, value: _Value) -> list[float]:
        """Return the averages of a figure that goes up and down, column by column."""
        found = [sum(map(value, column)) / len(column) for column in self._columns()]
        return found[-COLUMNS:]

    def _columns(self) -> Sequence[Sequence[Figures]]:
        columns: dict[int, list[Figures]] = {}
        for one in self._seen:
            columns.setdefault(int(one.seconds // COLUMN_SECONDS), []).append(one)
        return list(columns.values())


def _between(first: Figures, last: Figures, value: _Value) -> float:
    seconds = last.seconds - first.seconds
    return max(0, value(last) - value(first)) / seconds if seconds > 0 else 0.0
