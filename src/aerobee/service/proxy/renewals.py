"""Renewals: the receipts of messages that the service keeps invisible for their client.

A push consumer asks for messages without saying for how long; the service hides each for a minute,
and for longer while the client works on it, up to some hours. The client's own receipt stays valid:
the newest one of its message takes its place. When the client is gone, its messages are visible
again after a second.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId

AHEAD_MS = 10_000
"""A receipt is renewed so long before it expires."""
_MINUTE_MS = 60_000
STEPS_MS = tuple(minutes * _MINUTE_MS for minutes in (1, 3, 5, 10, 30, 60))
"""The new invisible times, by the number of renewals so far; then the last."""
TOTAL_MS_MAX = 3 * 60 * _MINUTE_MS
FAILURES_MAX = 3
RENEWED_MAX = 200_000

RenewalKey: TypeAlias = tuple[str, str, str, int, int]
"""Client id, group, message id, queue, offset."""


@dataclass(slots=True)
class Renewal:
    key: RenewalKey
    channel: ChannelId
    topic: str
    handle: str
    """The newest."""
    popped_ms: int
    """When the client got the message, on the wall clock."""
    expiry_ms: int
    """When the newest receipt expires, on the wall clock."""
    times: int = 0
    failures: int = 0
    is_asking: bool = False


class Renewals:
    """R1. A renewal is in `_by_key` and in the set of its client, or in neither."""

    def __init__(self, change: Callable[[Renewal, int, Now], None]) -> None:
        """`change` asks for a new invisible time of a message, and calls `changed` or `failed`."""
        self._change = change
        self._by_key: dict[RenewalKey, Renewal] = {}
        self._by_client: dict[str, set[RenewalKey]] = {}
        self._due: list[tuple[int, RenewalKey]] = []

    def __len__(self) -> int:
        return len(self._by_key)

    def add(self, renewal: Renewal) -> None:
        """A client got a message; beyond the limit it is not renewed."""
        if len(self._by_key) >= RENEWED_MAX:
            return
        self._by_key[renewal.key] = renewal
        self._by_client.setdefault(renewal.key[0], set()).add(renewal.key)
        heapq.heappush(self._due, (renewal.expiry_ms - AHEAD_MS, renewal.key))

    def find(self, key: RenewalKey) -> Renewal | None:
        return self._by_key.get(key)

    def take(self, key: RenewalKey) -> Renewal | None:
        """Remove the renewal of a message that its client is done with."""
        renewal = self._by_key.pop(key, None)
        if renewal is not None:
            mine = self._by_client[key[0]]
            mine.discard(key)
            if not mine:
                del self._by_client[key[0]]
        return renewal

    def take_client(self, client_id: str) -> list[Renewal]:
        """Remove the renewals of a client that is gone."""
        keys = list(self._by_client.get(client_id, ()))
        return [one for one in map(self.take, keys) if one is not None]

    def take_all(self) -> list[Renewal]:
        return [one for one in map(self.take, list(self._by_key)) if one is not None]

    def on_tick(self, now: Now) -> None:
        """Renew what expires soon."""
        while self._due and self._due[0][0] <= now.wall_ms:
            _, key = heapq.heappop(self._due)
            renewal = self._by_key.get(key)
            if renewal is None or renewal.is_asking:
                continue
            if renewal.expiry_ms - AHEAD_MS > now.wall_ms:
                continue  # it has another place in the heap
            if now.wall_ms - renewal.popped_ms >= TOTAL_MS_MAX:
                self.take(key)
                continue
            renewal.is_asking = True
            self._change(renewal, STEPS_MS[min(renewal.times, len(STEPS_MS) - 1)], now)

    def changed(self, renewal: Renewal, handle: str, expiry_ms: int) -> None:
        """The broker has given a new receipt."""
        renewal.is_asking = False
        renewal.handle = handle
        renewal.expiry_ms = expiry_ms
        renewal.times += 1
        renewal.failures = 0
        if self._by_key.get(renewal.key) is renewal:
            heapq.heappush(self._due, (expiry_ms - AHEAD_MS, renewal.key))

    def failed(self, renewal: Renewal, now: Now) -> None:
        """The broker has refused: try again, but not for ever."""
        renewal.is_asking = False
        renewal.failures += 1
        if renewal.failures >= FAILURES_MAX:
            self.take(renewal.key)
        elif self._by_key.get(renewal.key) is renewal:
            heapq.heappush(self._due, (now.wall_ms + 1_000, renewal.key))

    def next_ms(self) -> int | None:
        """When the next one is due, on the wall clock."""
        return self._due[0][0] if self._due else None
