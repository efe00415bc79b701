"""Long polls: the pulls that found no message and wait for one, for a deadline or for a disconnect.

Keyed by queue, because a new message names its queue; bounded per queue, per channel and in all,
because a peer decides how many it sends. Only bookkeeping: the caller that takes pulls out answers
them.

H1. A pull is in exactly one queue's table, counted once for its channel, once for its owners and
    once in all, and so are the tags that it wants.
"""

import heapq
import itertools
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from aerobee.ports.service import ChannelId
from aerobee.protocol.message.property_filter import PropertyFilter
from aerobee.service.broker.clients.waiting_counts import WaitingCounts
from aerobee.service.request import Request

QueueKey: TypeAlias = tuple[bytes, int]


class PullPlan(NamedTuple):
    """A pull that passed its checks: the read that it asks for. It can be run repeatedly."""

    queue: QueueKey
    offset: int
    count_max: int
    tag_codes: frozenset[int] | None
    topic_sys_flag: int = 0
    group_sys_flag: int = 0
    group: str = ""
    chosen: PropertyFilter | None = None
    is_bulk: bool = False
    """Whether the client reads whole queues (the Spark source): it gets larger answers."""


class HeldPull(NamedTuple):
    request: Request
    plan: PullPlan
    deadline_ms: int
    """On the monotonic clock."""


class HeldPullLimits(NamedTuple):
    per_queue: int = 10_000
    per_channel: int = 4_096
    total: int = 100_000
    tags: int = 1_000_000
    """Limit of tags of all waiting pulls: some 100 bytes each."""


class HeldPulls:
    """The table of waiting pulls."""

    def __init__(self, limits: HeldPullLimits | None = None) -> None:
        self._limits = limits if limits is not None else HeldPullLimits()
        self._numbers = itertools.count()
        self._by_queue: dict[QueueKey, dict[int, HeldPull]] = {}
        self._by_channel: dict[ChannelId, dict[int, QueueKey]] = {}
        self.owners = WaitingCounts()
        self._deadlines: list[tuple[int, int, QueueKey]] = []
        self.count = 0
        self.tags = 0

    def hold(self, pull: HeldPull) -> bool:
        """Keep a pull waiting; False if there are too many: answer it now."""
        queue, channel = pull.plan.queue, pull.request.channel
        waiting = self._by_queue.get(queue, {})
        mine = self._by_channel.get(channel, {})
        tags = self.tags + len(pull.plan.tag_codes or ())
        if (
            self.count >= self._limits.total
            or len(waiting) >= self._limits.per_queue
            or len(mine) >= self._limits.per_channel
            or tags > self._limits.tags
        ):
            return False
        number = next(self._numbers)
        self._by_queue.setdefault(queue, waiting)[number] = pull
        self._by_channel.setdefault(channel, mine)[number] = queue
        heapq.heappush(self._deadlines, (pull.deadline_ms, number, queue))
        self.owners.add(pull.request, pull.plan.group)
        self.count += 1
        self.tags = tags
        return True

    def has(self, queue: QueueKey) -> bool:
        return queue in self._by_queue

    def take_for(self, queue: QueueKey) -> list[HeldPull]:
        """The pulls of a queue that got a message, to be run again."""
        return [self._remove(queue, number) for number in list(self._by_queue.get(queue, ()))]

    def take_due(self, monotonic_ms: int) -> list[HeldPull]:
        """Take out the pulls whose long-poll time is over."""
        due = []
        while self._deadlines and self._deadlines[0][0] <= monotonic_ms:
            _, number, queue = heapq.heappop(self._deadlines)
            if number in self._by_queue.get(queue, ()):
                due.append(self._remove(queue, number))
        return due

    def next_due_ms(self) -> int | None:
        """A lower bound of the next deadline, on the monotonic clock; None: no pull waits."""
        return self._deadlines[0][0] if self._deadlines else None

    def take_if(self, is_taken: Callable[[HeldPull], bool]) -> list[HeldPull]:
        """Take out the pulls of which something holds."""
        return [
            self._remove(queue, number)
            for queue, waiting in list(self._by_queue.items())
            for number, pull in list(waiting.items())
            if is_taken(pull)
        ]

    def drop_channel(self, channel: ChannelId) -> None:
        """Forget the pulls of a connection that is gone."""
        for number, queue in list(self._by_channel.get(channel, {}).items()):
            self._remove(queue, number)

    def _remove(self, queue: QueueKey, number: int) -> HeldPull:
        pull = self._by_queue[queue].pop(number)
        del self._by_channel[pull.request.channel][number]
        self.count -= 1
        self.owners.remove(pull.request, pull.plan.group)
        self.tags -= len(pull.plan.tag_codes or ())
        if not self._by_queue[queue]:
            del self._by_queue[queue]
        if not self._by_channel[pull.request.channel]:
            del self._by_channel[pull.request.channel]
        if len(self._deadlines) > 2 * self.count + 1000:
            self._forget_old_deadlines()
        return pull

    def _forget_old_deadlines(self) -> None:
        """Drop deadlines of pulls that were woken before: a busy queue leaves one per message."""
        self._deadlines = [
            entry for entry in self._deadlines if entry[1] in self._by_queue.get(entry[2], ())
        ]
        heapq.heapify(self._deadlines)
