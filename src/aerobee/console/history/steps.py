"""Steps of the history, and a series of numbers in one step: some in memory, all in chunks.

    1 s for an hour · 10 s for a day · 5 min for thirty days

A chunk is 60 neighbouring values of one series in one step, as floats of four bytes; NaN is no
value. It begins at a multiple of its length, so the place of a moment in it is arithmetic.
"""

import math
from array import array
from typing import NamedTuple

VALUES = 60
"""Of a chunk."""
NOTHING = math.nan


class Step(NamedTuple):
    ms: int
    kept_ms: int

    @property
    def chunk_ms(self) -> int:
        return self.ms * VALUES

    def chunk_start(self, at_ms: int) -> int:
        return at_ms - at_ms % self.chunk_ms

    def place(self, at_ms: int) -> int:
        """The place of a moment in its chunk."""
        return at_ms % self.chunk_ms // self.ms


SECOND = Step(1_000, 3_600_000)
TEN_SECONDS = Step(10_000, 86_400_000)
FIVE_MINUTES = Step(300_000, 30 * 86_400_000)
STEPS = (SECOND, TEN_SECONDS, FIVE_MINUTES)


def best_step(start_ms: int, end_ms: int, now_ms: int, points: int) -> Step:
    """Return the finest step that has no more than so many points and is kept that long."""
    for step in STEPS:
        fits = (end_ms - start_ms) // step.ms <= points
        if fits and now_ms - start_ms <= step.kept_ms + step.ms:
            return step
    return FIVE_MINUTES


class Chunk:
    """The chunk of a series that is being filled."""

    __slots__ = ("is_dirty", "start", "values")

    def __init__(self, start: int, values: bytes | None = None) -> None:
        self.start = start
        self.values = array("f", values if values is not None else array("f", [NOTHING] * VALUES))
        self.is_dirty = False

    def put(self, place: int, value: float) -> None:
        self.values[place] = value
        self.is_dirty = True


class Mean:
    """The mean of values in one interval."""

    __slots__ = ("_count", "_sum", "at")

    def __init__(self, at: int) -> None:
        self.at = at
        self._sum = 0.0
        self._count = 0

    def add(self, value: float) -> None:
        self._sum += value
        self._count += 1

    @property
    def value(self) -> float:
        return self._sum / self._count if self._count else NOTHING
