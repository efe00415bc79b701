"""Histogram counts values by bucket, as Prometheus needs them, and their sum.

Adding a value costs a binary search for its bucket and two additions.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate


class Histogram:
    """H1. `counts` has one more than `bounds`: the values above all of them."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        """`bounds` rise; a value belongs to the first that is not below it."""
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum: float = 0

    def add(self, value: float, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.sum += value * times

    @property
    def count(self) -> int:
        return sum(self.counts)

    def joined(self, other: "Histogram") -> "Histogram":
        """The sum of both; their bounds must be the same."""
        both = Histogram(self.bounds)
        both.counts = [mine + its for mine, its in zip(self.counts, other.counts, strict=True)]
        both.sum = self.sum + other.sum
        return both

    def cumulative(self) -> list[int]:
        """For each bound the number of values not above it; the last is the number of all."""
        return list(accumulate(self.counts))
