"""Figures of consumer groups: progress of two moments becomes rates.

A cluster has ten thousand groups in a hundred thousand queues, and the console has to stay small:
the answer of a broker is made small (`take`) before the next one is asked. Of a topic's queues on
one broker their offsets are kept side by side, without their names; each queue with its lag only of
groups that somebody looks at. Values, and arithmetic on them: nobody is asked here.
"""

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import NamedTuple

from aerobee.client.admin.groups import GroupProgress
from aerobee.model.message_queue import MessageQueue
from aerobee.model.names import is_retry_topic


class TopicProgress(NamedTuple):
    """A group in the queues of one topic on one broker."""

    topic: str
    broker: str
    queues: "array[int]"
    """Their numbers, in order."""
    offsets: "array[int]"
    lag: int
    consumed: float = 0.0
    """A second."""

    def after(self, before: "TopicProgress", seconds: float) -> "TopicProgress":
        """Return the same with its rate since `before`; a queue that is new has not moved."""
        if self.queues == before.queues:
            pairs = zip(self.offsets, before.offsets, strict=True)
        else:
            known = dict(zip(before.queues, before.offsets, strict=True))
            mine = zip(self.queues, self.offsets, strict=True)
            pairs = ((at, known.get(queue, at)) for queue, at in mine)  # type: ignore[assignment]
        return self._replace(consumed=sum(max(0, at - was) for at, was in pairs) / seconds)


@dataclass(slots=True)
class GroupState:
    """A group, as it was last asked about."""

    seconds: float
    parts: tuple[TopicProgress, ...]
    lag: int
    retry: int
    """Messages that wait in its retry topics."""
    topics: int
    consumed: float | None = None
    """A second; None: it was asked about once."""
    lags: Mapping[MessageQueue, int] = field(default_factory=dict)
    """By queue, if somebody looks at the group."""

    def lag_in(self, topic: str) -> int:
        return sum(part.lag for part in self.parts if part.topic == topic)


class GroupAnswers:
    """What brokers tell of all groups, one after the other."""

    def __init__(self, watched: Collection[str]) -> None:
        """`watched`: the groups that somebody looks at."""
        self._watched = watched
        self._parts: dict[str, list[TopicProgress]] = {}
        self._lags: dict[str, dict[MessageQueue, int]] = {}

    def take(self, told: Mapping[str, GroupProgress]) -> None:
        """Add the answer of one or several brokers."""
        for name, progress in told.items():
            name = intern(name)
            self._parts.setdefault(name, []).extend(_parts_of(progress))
            if name in self._watched:
                lags = {queue: max(0, one.lag) for queue, one in progress.queues.items()}
                self._lags.setdefault(name, {}).update(lags)

    def states(self, seconds: float, before: Mapping[str, GroupState]) -> dict[str, GroupState]:
        return {
            name: self._state(name, parts, seconds, before.get(name))
            for name, parts in sorted(self._parts.items())
        }

    def _state(
        self, name: str, parts: list[TopicProgress], seconds: float, before: GroupState | None
    ) -> GroupState:
        consumed = None
        if before is not None and seconds > before.seconds:
            span = seconds - before.seconds
            was = {(part.topic, part.broker): part for part in before.parts}
            parts = [part.after(was.get((part.topic, part.broker), part), span) for part in parts]
            consumed = sum(part.consumed for part in parts)
        own = [part for part in parts if not is_retry_topic(part.topic)]
        lag = sum(part.lag for part in own)
        return GroupState(
            seconds,
            tuple(parts),
            lag,
            sum(part.lag for part in parts) - lag,
            len({part.topic for part in own}),
            consumed,
            self._lags.get(name, _NONE),
        )


_NONE: Mapping[MessageQueue, int] = {}


def groups_by_topic(states: Iterable[GroupState]) -> Counter[str]:
    """Return how many groups have offsets in a topic."""
    return Counter(topic for state in states for topic in {part.topic for part in state.parts})


def consumed_by_topic(groups: Iterable[GroupState]) -> dict[str, float]:
    """Return by topic the messages that all groups together consume in a second."""
    found: dict[str, float] = {}
    for group in groups:
        if group.consumed is not None:
            for part in group.parts:
                found[part.topic] = found.get(part.topic, 0.0) + part.consumed
    return found


def _parts_of(progress: GroupProgress) -> Iterable[TopicProgress]:
    places: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for queue, one in progress.queues.items():
        place = (queue.topic, queue.broker_name)
        row = (queue.queue_id, one.consumer_offset, max(0, one.lag))
        places.setdefault(place, []).append(row)
    for (topic, broker), rows in places.items():
        numbers, offsets, lags = zip(*rows, strict=True)
        yield TopicProgress(
            intern(topic), intern(broker), array("i", numbers), array("q", offsets), sum(lags)
        )
