"""Renewals: the receipts of messages that the service keeps invisible for their client.

A push consumer asks for messages without saying for how long; the service hides each for a minute,
and for longer while the client works on it. The client's own receipt stays valid: the newest one of
its message takes its place. A renewal ends

    when the client acknowledges, changes or forwards the message
    when the message was popped three hours ago: it comes again after its group's delay
    when the client is gone, or the service stops: it comes again after a second
    when the broker refuses it, or three times in a row cannot do it: the receipt runs out

While the broker is asked for a new receipt nobody knows the newest: what needs it waits for the
answer (`when_known`).
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
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
_DUE_SPARE = 10_000

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
    waiting: list[Callable[[], None]] = field(default_factory=list)
    """Called when the broker that is asked has answered."""
    attempt: int = 1
    """The number of this delivery, from 1 on."""


class Renewals:
    """R1. A renewal is in `_by_key` and in the set of its client, or in neither."""

    def __init__(
        self,
        change: Callable[[Renewal, int, Now], None],
        outlived: Callable[[Renewal, Now], None],
    ) -> None:
        """`change` asks for a new invisible time of a message, and calls `changed` or `failed`;
        `outlived` is called for one that is not renewed any more because of its age."""
        self._change = change
        self._outlived = outlived
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
        if len(self._due) > _DUE_SPARE + 2 * len(self._by_key):
            self._rebuild_due()
        heapq.heappush(self._due, (renewal.expiry_ms - AHEAD_MS, renewal.key))

    def _rebuild_due(self) -> None:
        """Drop the places of renewals that have ended: most end long before they are due."""
        self._due = [(one.expiry_ms - AHEAD_MS, one.key) for one in self._by_key.values()]
        heapq.heapify(self._due)

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
                self._outlived(renewal, now)
                continue
            renewal.is_asking = True
            self._change(renewal, STEPS_MS[min(renewal.times, len(STEPS_MS) - 1)], now)

    def changed(self, renewal: Renewal, handle: str, expiry_ms: int) -> None:
        """The broker has given a new receipt."""
        renewal.handle = handle
        renewal.expiry_ms = expiry_ms
        renewal.times += 1
        renewal.failures = 0
        if self._by_key.get(renewal.key) is renewal:
            heapq.heappush(self._due, (expiry_ms - AHEAD_MS, renewal.key))
        self._answered(renewal)

    def failed(self, renewal: Renewal, now: Now, *, is_final: bool) -> None:
        """There is no new receipt: the broker is asked again, but not for ever, nor if its refusal
        is final."""
        renewal.failures += 1
        is_here = self._by_key.get(renewal.key) is renewal
        if is_here and (is_final or renewal.failures >= FAILURES_MAX):
            self.take(renewal.key)
        elif is_here:
            heapq.heappush(self._due, (now.wall_ms + 1_000, renewal.key))
        self._answered(renewal)

    def _answered(self, renewal: Renewal) -> None:
        renewal.is_asking = False
        waiting, renewal.waiting = renewal.waiting, []
        for go_on in waiting:
            go_on()

    def when_known(self, renewal: Renewal | None, go_on: Callable[[], None]) -> None:
        """Call `go_on` when the newest receipt of a message is known: at once, unless a broker is
        being asked for it."""
        if renewal is not None and renewal.is_asking:
            renewal.waiting.append(go_on)
        else:
            go_on()

    def next_ms(self) -> int | None:
        """When the next one is due, on the wall clock."""
        return self._due[0][0] if self._due else None
