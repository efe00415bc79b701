"""A histogram of whole numbers with three digits everywhere: log-linear buckets.

    value       bucket
    0 … 2047    one for each value
    2^n …       1024 for each power of two: a bucket is at most 1/1024 of its values wide

H1. Merging histograms is the same as recording everything in one.
H2. A percentile is never below the true one, and above it by at most one part in 1024.
H3. Count, sum, smallest and largest are exact.
"""

from collections.abc import Iterable, Mapping
from typing import Any

_DIGIT_BITS = 11
_HALF = 1 << (_DIGIT_BITS - 1)


class LatencyHistogram:
    __slots__ = ("buckets", "count", "largest", "smallest", "total")

    def __init__(self) -> None:
        self.buckets: dict[int, int] = {}
        self.count = 0
        self.total = 0
        self.smallest = 0
        self.largest = 0

    def record(self, value: int, times: int = 1) -> None:
        """A negative value is a clock's mistake and counts as nothing."""
        if value < 0:
            value = 0
        place = bucket_of(value)
        self.buckets[place] = self.buckets.get(place, 0) + times
        if self.count == 0 or value < self.smallest:
            self.smallest = value
        if value > self.largest:
            self.largest = value
        self.count += times
        self.total += value * times

    def add(self, other: "LatencyHistogram") -> None:
        if not other.count:
            return
        for place, times in other.buckets.items():
            self.buckets[place] = self.buckets.get(place, 0) + times
        self.smallest = min(self.smallest, other.smallest) if self.count else other.smallest
        self.largest = max(self.largest, other.largest)
        self.count += other.count
        self.total += other.total

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    def percentile(self, percent: float) -> int:
        """The smallest value that so many percent are not above; 0 of nothing."""
        wanted = max(1, -(-self.count * percent // 100))
        seen = 0
        for place in sorted(self.buckets):
            seen += self.buckets[place]
            if seen >= wanted:
                return min(last_of(place), self.largest)
        return self.largest

    def spread(self) -> list[tuple[int, int]]:
        """(last value of a bucket, how many there) in order."""
        return [(min(last_of(at), self.largest), self.buckets[at]) for at in sorted(self.buckets)]

    def to_json(self) -> dict[str, Any]:
        return {
            "count": self.count,
            "total": self.total,
            "smallest": self.smallest,
            "largest": self.largest,
            "buckets": {str(place): self.buckets[place] for place in sorted(self.buckets)},
        }


def from_json(said: Mapping[str, Any]) -> LatencyHistogram:
    made = LatencyHistogram()
    made.count = said["count"]
    made.total = said["total"]
    made.smallest = said["smallest"]
    made.largest = said["largest"]
    made.buckets = {int(place): times for place, times in said["buckets"].items()}
    return made


def merged(parts: Iterable[LatencyHistogram]) -> LatencyHistogram:
    whole = LatencyHistogram()
    for part in parts:
        whole.add(part)
    return whole


def bucket_of(value: int) -> int:
    shift = value.bit_length() - _DIGIT_BITS
    return value if shift <= 0 else shift * _HALF + (value >> shift)


def last_of(place: int) -> int:
    """The largest value that belongs to a bucket."""
    if place < 2 * _HALF:
        return place
    shift = place // _HALF - 1
    return ((place - shift * _HALF + 1) << shift) - 1
