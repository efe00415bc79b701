"""Pauses between acknowledged sends: how long clients were without a broker.

Pure functions; times are in seconds, on any clock that only rises.
"""

from bisect import bisect_left
from collections.abc import Sequence


def longest_pause(acknowledged: Sequence[float], start: float, end: float) -> float:
    """The longest time without an acknowledgement between two moments. `acknowledged`: moments, in
    their order."""
    longest, before = 0.0, start
    for at in range(bisect_left(acknowledged, start), len(acknowledged)):
        moment = min(acknowledged[at], end)
        longest = max(longest, moment - before)
        before = moment
        if moment >= end:
            return longest
    return max(longest, end - before)


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that so many percent of the values do not exceed; 0 if there are none."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    at = -(-len(ordered) * percent // 100)  # rounded up: of few values the largest is the p99
    return ordered[max(0, int(at) - 1)]
