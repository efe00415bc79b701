"""Long polls: pulls that found nothing and wait for a message, a deadline or the end of their
connection.

Keyed by queue, because arrival names a queue; bounded per queue, per channel and in all, because a
peer decides how many it asks for. Pure bookkeeping: whoever takes pulls out answers them.

Invariants:
H1. A pull is in exactly one queue's list, counted once for its channel and once in all.
H2. A channel holds at most one pull per (queue, group): a client that asks again has given the
    older one up, and gets no answer to it.
"""

import heapq
import itertools
from typing import NamedTuple

from aerobee.ports.service import ChannelId
from aerobee.protocol.command_header import CommandHeader

QueueKey = tuple[bytes, int]


class HeldPull(NamedTuple):
    """What is needed to run the pull again."""

    channel: ChannelId
    request: CommandHeader
    group: str
    queue: QueueKey
    offset: int
    count_max: int
    tag_codes: frozenset[int] | None
    deadline_ms: int
    """On the monotonic clock."""


class HeldPullLimits(NamedTuple):
    per_queue: int = 10_000
    per_channel: int = 4_096
    total: int = 100_000


class HeldPulls:
    """The pulls that wait."""

    def __init__(self, limits: HeldPullLimits | None = None) -> None:
        self._limits = limits if limits is not None else HeldPullLimits()
        self._by_queue: dict[QueueKey, dict[tuple[ChannelId, str], HeldPull]] = {}
        self._by_channel: dict[ChannelId, set[tuple[QueueKey, str]]] = {}
        self._deadlines: list[tuple[int, int, HeldPull]] = []
        self._order = itertools.count()
        self.count = 0

    def hold(self, pull: HeldPull) -> bool:
        """Keep a pull waiting; False if there are too many: answer it now."""
        waiting = self._by_queue.setdefault(pull.queue, {})
        key = (pull.channel, pull.group)
        if key not in waiting:
            mine = self._by_channel.setdefault(pull.channel, set())
            if (
                self.count >= self._limits.total
                or len(waiting) >= self._limits.per_queue
                or len(mine) >= self._limits.per_channel
            ):
                self._tidy(pull.queue, pull.channel)
                return False
            mine.add((pull.queue, pull.group))
            self.count += 1
        waiting[key] = pull
        heapq.heappush(self._deadlines, (pull.deadline_ms, next(self._order), pull))
        return True

    def take_for(self, queue: QueueKey) -> list[HeldPull]:
        """The pulls of a queue that got a message, to be run again."""
        waiting = self._by_queue.get(queue)
        if not waiting:
            return []
        pulls = list(waiting.values())
        for pull in pulls:
            self._remove(pull)
        return pulls

    def take_due(self, monotonic_ms: int) -> list[HeldPull]:
        """The pulls that have waited as long as they asked to."""
        due = []
        while self._deadlines and self._deadlines[0][0] <= monotonic_ms:
            pull = heapq.heappop(self._deadlines)[2]
            if self._is_held(pull):
                self._remove(pull)
                due.append(pull)
        return due

    def drop_channel(self, channel: ChannelId) -> None:
        """Forget the pulls of a connection that is gone."""
        for queue, group in list(self._by_channel.get(channel, ())):
            self._remove(self._by_queue[queue][channel, group])

    def _is_held(self, pull: HeldPull) -> bool:
        waiting = self._by_queue.get(pull.queue, {})
        return waiting.get((pull.channel, pull.group)) is pull

    def _remove(self, pull: HeldPull) -> None:
        del self._by_queue[pull.queue][pull.channel, pull.group]
        self._by_channel[pull.channel].discard((pull.queue, pull.group))
        self.count -= 1
        self._tidy(pull.queue, pull.channel)

    def _tidy(self, queue: QueueKey, channel: ChannelId) -> None:
        if not self._by_queue.get(queue, True):
            del self._by_queue[queue]
        if not self._by_channel.get(channel, True):
            del self._by_channel[channel]
