"""DueTimes: delayed messages counted by the time at which they are due, in intervals of one length.

Of a queue whose messages are due in the order of their offsets, some offsets and their times are
enough: between two of them messages are spread evenly. Values, and arithmetic on them.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class DuePoint(NamedTuple):
    """A message of a queue, and when it is due."""

    offset: int
    due_ms: int


class DueTimes:
    """Counts in [start, start + step · count), those before and those after it."""

    def __init__(self, start_ms: int, step_ms: int, count: int) -> None:
        self.start_ms = start_ms
        self.step_ms = step_ms
        self.counts = [0.0] * count
        self.overdue = 0.0
        self.later = 0.0

    def add(self, due_ms: float, messages: float = 1.0) -> None:
        place = (due_ms - self.start_ms) // self.step_ms
        if place < 0:
            self.overdue += messages
        elif place >= len(self.counts):
            self.later += messages
        else:
            self.counts[int(place)] += messages

    def add_queue(self, points: Sequence[DuePoint], end: int) -> None:
        """Add the messages from the first point's offset to `end`, by points in their order."""
        for here, after in pairwise(points):
            self._spread(here.due_ms, after.due_ms, after.offset - here.offset)
        if points:
            last = points[-1]
            self._spread(last.due_ms, last.due_ms, end - last.offset)

    def _spread(self, first_ms: int, last_ms: int, messages: int) -> None:
        if messages <= 0:
            return
        if last_ms <= first_ms:
            self.add(first_ms, messages)
            return
        edge, per_ms = float(first_ms), messages / (last_ms - first_ms)
        while edge < last_ms:
            place = (edge - self.start_ms) // self.step_ms
            if edge >= self.start_ms + self.step_ms * len(self.counts):
                until = float(last_ms)
            elif edge < self.start_ms:
                until = min(float(self.start_ms), last_ms)
            else:
                until = min(self.start_ms + (place + 1) * self.step_ms, last_ms)
            self.add(edge, (until - edge) * per_ms)
            edge = until
