"""Long polls of POP: pops and NOTIFICATION requests that found no message and wait for one.

Kept by topic, group and queue, because any member of a group may get any message: an arrival wakes
one waiting pop, and that one the next if it leaves messages. A pop of any queue of a topic waits
under queue -1. A message for the group's retry topic wakes them as well. Bounded per key, per
channel and in all. Only bookkeeping: the caller that takes pops out answers them.

H1. A pop is under exactly one key, counted once for its channel, once for its group and once in
    all.
H2. A key is found under the names of its topic and of its retry topic while a pop waits there.
"""

import heapq
import itertools
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from aerobee.model.names import pop_retry_topic
from aerobee.ports.service import ChannelId
from aerobee.protocol.headers.popping import ANY_QUEUE
from aerobee.service.broker.clients.waiting_counts import WaitingCounts
from aerobee.service.broker.state.subscription_filter import SubscriptionFilter
from aerobee.service.request import Request

LATE_MS_MAX = 500
"""A pop that arrives so long after its deadline gets no message: its client has given up."""

WaitKey: TypeAlias = tuple[str, str, int]
"""Topic, group, queue or ANY_QUEUE."""


class PopPlan(NamedTuple):
    """A pop that passed its checks: the messages that it asks for. It can be run repeatedly."""

    topic: str
    group: str
    queue_id: int
    count_max: int
    invisible_ms: int
    is_from_min: bool = True
    choice: SubscriptionFilter = SubscriptionFilter(None)
    is_orderly: bool = False
    attempt_id: str = ""

    @property
    def key(self) -> WaitKey:
        return (self.topic, self.group, self.queue_id)


class HeldPop(NamedTuple):
    request: Request
    plan: PopPlan
    deadline_ms: int
    """On the monotonic clock."""
    is_question: bool = False
    """NOTIFICATION: it only asks whether there are messages."""


class HeldPopLimits(NamedTuple):
    per_key: int = 1_024
    per_channel: int = 4_096
    total: int = 100_000


class HeldPops:
    def __init__(self, limits: HeldPopLimits | None = None) -> None:
        self._limits = limits if limits is not None else HeldPopLimits()
        self._numbers = itertools.count()
        self._by_key: dict[WaitKey, dict[int, HeldPop]] = {}
        self._by_topic: dict[bytes, set[WaitKey]] = {}
        self._by_channel: dict[ChannelId, dict[Request, tuple[int, WaitKey]]] = {}
        self.owners = WaitingCounts()
        self._deadlines: list[tuple[int, int, WaitKey]] = []
        self.count = 0

    def hold(self, pop: HeldPop) -> bool:
        """Keep a pop waiting; False if there are too many: answer it now."""
        key, channel = pop.plan.key, pop.request.channel
        waiting = self._by_key.get(key, {})
        mine = self._by_channel.get(channel, {})
        if (
            self.count >= self._limits.total
            or len(waiting) >= self._limits.per_key
            or len(mine) >= self._limits.per_channel
        ):
            return False
        number = next(self._numbers)
        if not waiting:
            for name in _names(key):
                self._by_topic.setdefault(name, set()).add(key)
        self._by_key.setdefault(key, waiting)[number] = pop
        self._by_channel.setdefault(channel, mine)[pop.request] = (number, key)
        heapq.heappush(self._deadlines, (pop.deadline_ms, number, key))
        self.owners.add(pop.request, pop.plan.group)
        self.count += 1
        return True

    def has_topic(self, topic: bytes) -> bool:
        """Whether a pop waits for messages of a topic."""
        return topic in self._by_topic

    def keys_for(self, topic: bytes, queue_id: int) -> list[WaitKey]:
        """The keys of pops that may take a message of this queue."""
        name = topic.decode()
        return sorted(
            key
            for key in self._by_topic.get(topic, ())
            if key[0] != name or key[2] in (ANY_QUEUE, queue_id)
        )

    def waiting(self, key: WaitKey) -> int:
        return len(self._by_key.get(key, ()))

    def take_first(self, key: WaitKey) -> HeldPop | None:
        """Take out the pop that has waited longest, to be run again."""
        waiting = self._by_key.get(key)
        return self._remove(key, next(iter(waiting))) if waiting else None

    def take_due(self, monotonic_ms: int) -> list[HeldPop]:
        """Take out the pops whose long-poll time is over."""
        due = []
        while self._deadlines and self._deadlines[0][0] <= monotonic_ms:
            _, number, key = heapq.heappop(self._deadlines)
            if number in self._by_key.get(key, ()):
                due.append(self._remove(key, number))
        return due

    def next_due_ms(self) -> int | None:
        """A lower bound of the next deadline, on the monotonic clock; None: no pop waits."""
        return self._deadlines[0][0] if self._deadlines else None

    def take_if(self, is_taken: Callable[[HeldPop], bool]) -> list[HeldPop]:
        """Take out the pops of which something holds."""
        return [
            self._remove(key, number)
            for key, waiting in list(self._by_key.items())
            for number, pop in list(waiting.items())
            if is_taken(pop)
        ]

    def drop_channel(self, channel: ChannelId) -> None:
        """Forget the pops of a connection that is gone."""
        for number, key in list(self._by_channel.get(channel, {}).values()):
            self._remove(key, number)

    def drop(self, request: Request) -> None:
        """Forget the pop of a request that its client has given up, if it waits here."""
        found = self._by_channel.get(request.channel, {}).get(request)
        if found is not None:
            number, key = found
            self._remove(key, number)

    def _remove(self, key: WaitKey, number: int) -> HeldPop:
        pop = self._by_key[key].pop(number)
        del self._by_channel[pop.request.channel][pop.request]
        self.count -= 1
        self.owners.remove(pop.request, pop.plan.group)
        if not self._by_key[key]:
            del self._by_key[key]
            for name in _names(key):
                self._by_topic[name].discard(key)
                if not self._by_topic[name]:
                    del self._by_topic[name]
        if not self._by_channel[pop.request.channel]:
            del self._by_channel[pop.request.channel]
        if len(self._deadlines) > 2 * self.count + 1000:
            self._forget_old_deadlines()
        return pop

    def _forget_old_deadlines(self) -> None:
        """Drop deadlines of pops that were woken before: a busy topic leaves one per message."""
        self._deadlines = [
            entry for entry in self._deadlines if entry[1] in self._by_key.get(entry[2], ())
        ]
        heapq.heapify(self._deadlines)


def _names(key: WaitKey) -> tuple[bytes, bytes]:
    topic, group, _ = key
    return topic.encode(), pop_retry_topic(group, topic).encode()
