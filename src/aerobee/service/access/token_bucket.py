"""`TokenBuckets` limits how often something happens, for each name of a kind: a user, an address.

A bucket has as many tokens as a second has, and gets them back at that rate. Whoever takes more
than there are is in debt: what has happened cannot be undone, but the next has to wait.
"""

from collections.abc import Hashable

NAMES_MAX = 100_000
"""Buckets that are not full; beyond, the fullest are forgotten, which only favours somebody."""


class TokenBuckets:
    def __init__(self, per_second: float) -> None:
        self._per_ms = per_second / 1000
        self._full = per_second
        # Tokens and when that was so. A full bucket is not kept.
        self._buckets: dict[Hashable, tuple[float, int]] = {}

    def take(self, name: Hashable, count: float, now_ms: int) -> None:
        if len(self._buckets) >= NAMES_MAX and name not in self._buckets:
            self._forget_full(now_ms)
        self._buckets[name] = (self._tokens(name, now_ms) - count, now_ms)

    def wait_ms(self, name: Hashable, now_ms: int) -> int:
        """The time until a name has a token; 0: it has one."""
        if name not in self._buckets:
            return 0
        tokens = self._tokens(name, now_ms)
        if tokens >= self._full:
            del self._buckets[name]
        return 0 if tokens >= 1 or tokens >= self._full else int((1 - tokens) / self._per_ms) + 1

    def _tokens(self, name: Hashable, now_ms: int) -> float:
        tokens, then_ms = self._buckets.get(name, (self._full, now_ms))
        return min(self._full, tokens + (now_ms - then_ms) * self._per_ms)

    def _forget_full(self, now_ms: int) -> None:
        left = {name: self._tokens(name, now_ms) for name in self._buckets}
        fullest = sorted(left, key=lambda name: -left[name])[: NAMES_MAX // 10]
        for name in fullest:
            del self._buckets[name]


class Rate:
    """Buckets of one limit that may be changed; what they have is forgotten then. 0: no limit."""

    def __init__(self) -> None:
        self._per_second = 0
        self._buckets = TokenBuckets(1)

    def set(self, per_second: int) -> None:
        if per_second != self._per_second:
            self._per_second = per_second
            self._buckets = TokenBuckets(per_second or 1)

    def take(self, name: str, count: int, now_ms: int) -> None:
        """Of the empty name nothing is counted."""
        if self._per_second and name:
            self._buckets.take(name, count, now_ms)

    def wait_ms(self, name: str, now_ms: int) -> int:
        return self._buckets.wait_ms(name, now_ms) if self._per_second and name else 0
