"""Statistics has all counters of messages, and RocketMQ's names for them.

    stored       per topic          queues count their new units; the counts are fetched from queues
                                    with arrivals, on a query and at the end of every slot
    handed out   per group, topic   the code that answers a pull adds to the flow, once per answer
    events       by name and key    rare ones, noted one by one

So nothing is done per message but two additions in a queue. Totals are since the start; minutes,
hours and days are of the monotonic clock. Tables that peers can make grow are bounded: beyond the
limit, groups share one flow, and events of new keys are not kept.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.service.broker.statistics.flow import Flow
from aerobee.service.broker.statistics.message_sizes import MessageSizes, units_a_queue
from aerobee.service.broker.statistics.windows import SLOT_MS, Stretch
from aerobee.storage.index.consume_queue import ConsumeQueue

TOPIC_PUT_NUMS = "TOPIC_PUT_NUMS"  # by topic
TOPIC_PUT_SIZE = "TOPIC_PUT_SIZE"
GROUP_GET_NUMS = "GROUP_GET_NUMS"  # by topic@group
GROUP_GET_SIZE = "GROUP_GET_SIZE"
BROKER_PUT_NUMS = "BROKER_PUT_NUMS"  # by cluster
BROKER_GET_NUMS = "BROKER_GET_NUMS"
BROKER_PUT_NUMS_OF_USERS = "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC"
BROKER_GET_NUMS_OF_USERS = "BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC"
# Events, by topic@group.
SENT_BACK = "SNDBCK_PUT_NUMS"
DEAD_LETTERS = "DLQ_PUT_NUMS"

PAIRS_MAX = 20_000
"""Limit of (group, topic) pairs with a flow of their own."""
EVENTS_MAX = 20_000
_FORGET_SLOTS = 360  # once an hour


class StretchView(NamedTuple):
    """One window, as VIEW_BROKER_STATS_DATA shows it."""

    sum: int
    tps: float
    avgpt: float
    """The average per message: 1, or its bytes."""


class StatsView(NamedTuple):
    minute: StretchView
    hour: StretchView
    day: StretchView


class Totals(NamedTuple):
    """Counts since the start."""

    messages: int
    bytes: int


class Statistics:
    def __init__(
        self,
        queues: Iterable[ConsumeQueue],
        is_system: Callable[[str], bool],
        now: Now,
        pairs_max: int = PAIRS_MAX,
        events_max: int = EVENTS_MAX,
    ) -> None:
        """`queues`: the existing queues, whose earlier messages do not count. `is_system` tells
        whether a topic is a system topic."""
        for queue in queues:
            queue.new_units = queue.new_bytes = 0
        self.arrivals: set[ConsumeQueue] = set()
        """Queues with new messages since the last fetch. Filled by the dispatch."""
        self.sizes = MessageSizes()
        """Sizes of stored messages."""
        self._is_system = is_system
        self._pairs_max = pairs_max
        self._events_max = events_max
        self._begun_ms = now.monotonic_ms
        self._slot = now.monotonic_ms // SLOT_MS
        self._forgotten_at = self._slot
        self._topics: dict[str, Flow] = {}
        self._groups: dict[tuple[str, str], Flow] = {}
        self._events: dict[tuple[str, str], Flow] = {}
        # Messages handed out to groups beyond the limit, or to deleted ones.
        self._others = Flow()
        self._of_system: list[Flow] = []
        self._all: dict[str, Flow] = {
            name: Flow()
            for name in (
                BROKER_PUT_NUMS,
                BROKER_GET_NUMS,
                BROKER_PUT_NUMS_OF_USERS,
                BROKER_GET_NUMS_OF_USERS,
            )
        }

    # Counting.

    def flow_of(self, group: str, topic: str) -> Flow:
        """The flow of a group in a topic. Callers may keep it: it stays the same object while both
        exist."""
        flow = self._groups.get((group, topic))
        if flow is not None:
            return flow
        if len(self._groups) >= self._pairs_max:
            return self._others
        flow = self._groups[group, topic] = Flow()
        if self._is_system(topic):
            self._of_system.append(flow)
        return flow

    def note_fast(self, group: str, topic: str) -> None:
        """Count an answer of a fast path whose messages are counted elsewhere."""
        self.flow_of(group, topic).fast_answers += 1

    def find_flow(self, group: str, topic: str) -> Flow | None:
        """The flow of a group in a topic; None: it has none of its own."""
        return self._groups.get((group, topic))

    def count_out(self, group: str, topic: str, messages: int, size: int) -> None:
        """Count messages that a group got; frequent callers keep the flow instead."""
        self.flow_of(group, topic).add(messages, size)

    def count_returned(self, topic: str, group: str, is_dead: bool) -> None:
        """Count a message that a group returned, as a retry or as a dead letter."""
        self.note(DEAD_LETTERS if is_dead else SENT_BACK, topic, group)

    def note(self, name: str, topic: str, group: str, count: int = 1, size: int = 0) -> None:
        """Count an event of a group and a topic, by RocketMQ's name."""
        key = (name, f"{topic}@{group}")
        flow = self._events.get(key)
        if flow is None:
            if len(self._events) >= self._events_max:
                return
            flow = self._events[key] = Flow()
        flow.add(count, size)

    def on_tick(self, now: Now) -> None:
        slot = now.monotonic_ms // SLOT_MS
        if slot != self._slot:
            self._note_all()  # all counts until now belong to the slot that is over
            self._slot = slot

    def forget(self, has_topic: Callable[[str], bool], has_group: Callable[[str], bool]) -> None:
        """Forget topics and groups that do not exist any more; done at most once an hour."""
        if self._slot - self._forgotten_at < _FORGET_SLOTS:
            return
        self._forgotten_at = self._slot
        self._topics = {name: flow for name, flow in self._topics.items() if has_topic(name)}
        self.sizes.forget(has_topic)
        for (group, topic), flow in list(self._groups.items()):
            if not (has_topic(topic) and has_group(group)):
                self._others.add(flow.messages, flow.bytes)
                del self._groups[group, topic]
        for name, key in list(self._events):
            topic, _, group = key.partition("@")
            if not (has_topic(topic) and has_group(group)):
                del self._events[name, key]

    # Totals, since the start.

    def topics(self) -> Iterator[tuple[str, Totals]]:
        """The messages stored in each topic."""
        self._fetch()
        for topic, flow in list(self._topics.items()):
            yield topic, Totals(flow.messages, flow.bytes)

    def groups(self) -> Iterator[tuple[str, str, Totals]]:
        """(group, topic, messages handed out)."""
        for (group, topic), flow in list(self._groups.items()):
            yield group, topic, Totals(flow.messages, flow.bytes)

    def handed_out(self) -> Totals:
        flows = (*self._groups.values(), self._others)
        return Totals(sum(one.messages for one in flows), sum(one.bytes for one in flows))

    # The last minute, hour and day.

    def view(self, name: str, key: str, now: Now) -> StatsView | None:
        """RocketMQ's view of a name and a key; None: nothing was counted."""
        self._fetch()
        flow = self._find(name, key)
        if flow is None:
            return None
        if name in self._all:
            self._count_handed_out()
        flow.note(self._slot)
        messages, size = flow.past(now.monotonic_ms, self._begun_ms)
        if name in (TOPIC_PUT_SIZE, GROUP_GET_SIZE):
            return StatsView(*(_shown(*pair) for pair in zip(size, messages, strict=True)))
        return StatsView(*(_shown(one, one) for one in messages))

    def put_tps(self, topic: str, now: Now) -> float:
        """Messages per second stored in a topic, over the last minute."""
        return self._minute_tps(TOPIC_PUT_NUMS, topic, now)

    def get_tps(self, group: str, topic: str, now: Now) -> float:
        """Messages per second handed out to a group of a topic, over the last minute."""
        return self._minute_tps(GROUP_GET_NUMS, f"{topic}@{group}", now)

    def _minute_tps(self, name: str, key: str, now: Now) -> float:
        view = self.view(name, key, now)
        return view.minute.tps if view is not None else 0.0

    def _find(self, name: str, key: str) -> Flow | None:
        if name in (TOPIC_PUT_NUMS, TOPIC_PUT_SIZE):
            return self._topics.get(key)
        if name in (GROUP_GET_NUMS, GROUP_GET_SIZE):
            topic, _, group = key.partition("@")
            return self._groups.get((group, topic))
        if name in self._all:
            return self._all[name]
        return self._events.get((name, key))

    # Looking.

    def _fetch(self) -> None:
        """Fetch the counts of queues with arrivals."""
        units_max = units_a_queue(len(self.arrivals))
        for queue in self.arrivals:
            topic = queue.topic.decode()
            flow = self._topics.get(topic)
            if flow is None:
                flow = self._topics[topic] = Flow()
            messages, size = queue.new_units, queue.new_bytes
            queue.new_units = queue.new_bytes = 0
            flow.add(messages, size)
            self.sizes.add(topic, queue, messages, size, units_max)
            self._all[BROKER_PUT_NUMS].add(messages, size)
            if not self._is_system(topic):
                self._all[BROKER_PUT_NUMS_OF_USERS].add(messages, size)
        self.arrivals.clear()

    def _count_handed_out(self) -> None:
        """Update the flows of the whole broker."""
        total = self.handed_out()
        of_users = self._all[BROKER_GET_NUMS_OF_USERS]
        self._all[BROKER_GET_NUMS].reach(*total)
        of_users.reach(
            total.messages - sum(flow.messages for flow in self._of_system),
            total.bytes - sum(flow.bytes for flow in self._of_system),
        )

    def _note_all(self) -> None:
        """Put the increase of every flow into the slot of the last tick."""
        self._fetch()
        self._count_handed_out()
        for flow in (
            *self._topics.values(),
            *self._groups.values(),
            *self._events.values(),
            *self._all.values(),
        ):
            flow.note(self._slot)


def _shown(stretch: Stretch, messages: Stretch) -> StretchView:
    return StretchView(
        stretch.sum, stretch.tps, stretch.sum / messages.sum if messages.sum else 0.0
    )
