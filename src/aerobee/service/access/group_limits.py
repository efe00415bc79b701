"""GroupLimits holds consumer groups to their limits: pulls and pops in a second, and bytes of
messages in a second.

Pulls and pops of the general path are counted one by one. What fast paths answered, and the bytes
of all answers, are counted by flows, one for each group and topic; their increase is taken from the
group's tokens when it asks next, and before fast paths serve one of its connections. So a group may
be beyond by one read before it has to wait, and nothing is counted twice.
"""

from collections.abc import Callable
from typing import Protocol

from aerobee.ports.service import ChannelId
from aerobee.service.access.token_bucket import Rate

PAIRS_MAX = 64
"""Limit of groups and topics of one connection; beyond, fast paths do not serve it while groups
have limits."""
NOTED_MAX = 50_000
"""Limit of groups and topics whose counts are known; beyond, all are forgotten, which only favours
somebody."""


class HandedOut(Protocol):
    """Counts what a group got of a topic since the start."""

    @property
    def bytes(self) -> int: ...

    @property
    def fast_answers(self) -> int:
        """Pulls and pops that fast paths answered."""


FindFlow = Callable[[str, str], HandedOut | None]
"""(group, topic) → its counts; None: nothing was handed out."""
_Pair = tuple[str, str]


def no_flow(group: str, topic: str) -> HandedOut | None:
    """Nobody counts."""
    return None


class GroupLimits:
    """G1. `_noted` has the counts of each pair up to which the tokens of its group are taken."""

    def __init__(self, find_flow: FindFlow = no_flow) -> None:
        self._find_flow = find_flow
        self._requests, self._bytes = Rate(), Rate()
        self._pairs: dict[ChannelId, set[_Pair]] = {}
        self._noted: dict[_Pair, tuple[int, int]] = {}
        self.is_on = False

    def set(self, requests: int, size: int) -> None:
        """Limits of requests and of bytes in a second; 0: none."""
        self.is_on = bool(requests or size)
        self._requests.set(requests)
        self._bytes.set(size)
        if not self.is_on:
            self._pairs.clear()
            self._noted.clear()

    def wait_ms(self, channel: ChannelId, group: str, topics: tuple[str, ...], now_ms: int) -> int:
        """The time for which a request of a group has to wait; 0: it need not. `topics` are those
        that it may get messages of."""
        known = self._pairs.setdefault(channel, set())
        for topic in topics:
            if len(known) <= PAIRS_MAX:
                known.add((group, topic))
            self._catch_up((group, topic), now_ms)
        return self._left_ms(group, now_ms)

    def take(self, group: str, now_ms: int) -> None:
        """A request of the general path may run."""
        self._requests.take(group, 1, now_ms)

    def may_be_fast(self, channel: ChannelId, now_ms: int) -> bool:
        """Whether fast paths may take what comes on a connection: none of its groups is beyond a
        limit."""
        pairs = self._pairs.get(channel, ())
        for pair in pairs:
            self._catch_up(pair, now_ms)
        return len(pairs) <= PAIRS_MAX and not any(
            self._left_ms(group, now_ms) for group, _ in pairs
        )

    def forget(self, channel: ChannelId) -> None:
        """A connection is closed."""
        self._pairs.pop(channel, None)

    def _left_ms(self, group: str, now_ms: int) -> int:
        return max(self._requests.wait_ms(group, now_ms), self._bytes.wait_ms(group, now_ms))

    def _catch_up(self, pair: _Pair, now_ms: int) -> None:
        """Take what a group has got of a topic since the last look."""
        flow = self._find_flow(*pair)
        counts = (0, 0) if flow is None else (flow.fast_answers, flow.bytes)
        before = self._noted.get(pair, counts)  # what came before its limit is not counted
        if len(self._noted) >= NOTED_MAX:
            self._noted.clear()
        self._noted[pair] = counts
        answers, size = counts[0] - before[0], counts[1] - before[1]
        # Below 0: the topic or the group was deleted and made again.
        if answers > 0:
            self._requests.take(pair[0], answers, now_ms)
        if size > 0:
            self._bytes.take(pair[0], size, now_ms)
