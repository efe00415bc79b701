"""Lags computes the lag of groups in messages and in time, per topic and queue, never below zero.

    begin            committed          pulled               end of the queue
      ├──────────────────┼──────────────────┼──────────────────┤
                         ├─────── lag ──────┼──────────────────┤
                         ├──── in flight ───┤
                                            ├───── ready ──────┤

The time of a lag is the age of its oldest message. All offsets of a queue are read together, so an
offset is never compared with the end at another moment. For a group without a commit the lag begins
at its pull offset, or at the beginning of the queue.

A topic that an online group does not subscribe to any more is left out: its old offsets would be a
lag that never shrinks. So is a broadcasting group: its members keep their offsets themselves.
"""

from collections.abc import Iterator
from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.service.broker.clients.consumers import Consumers
from aerobee.service.broker.log_access.queue_facts import NEVER, QueueFacts
from aerobee.service.broker.state.consumer_offsets import UNKNOWN, ConsumerOffsets
from aerobee.service.broker.state.topics import Topics


class QueueLag(NamedTuple):
    """The lag of one group in one queue."""

    queue_id: int
    behind: int
    """Messages that are not known to be consumed."""
    behind_ms: int
    in_flight: int
    """Those of them that were handed out."""
    ready: int
    """Those of them that were not."""
    ready_ms: int


class TopicLag(NamedTuple):
    """The lag of one group in one topic."""

    group: str
    topic: str
    queues: list[QueueLag]


class Lags:
    def __init__(
        self, offsets: ConsumerOffsets, topics: Topics, consumers: Consumers, queues: QueueFacts
    ) -> None:
        self._offsets = offsets
        self._topics = topics
        self._consumers = consumers
        self._queues = queues
        # Cached store timestamps of the oldest messages of lags: most are the same the next time.
        self._stored_ms: dict[tuple[str, int, int], int] = {}

    def all(self, now: Now) -> Iterator[TopicLag]:
        """The lags of every group in every topic that it consumes, computed one by one."""
        known, self._stored_ms = self._stored_ms, {}
        for topic, group in self._offsets.pairs():
            config = self._topics.find(topic)
            if config is None or not self._is_consumed(group, topic):
                continue
            queues = [
                self._lag(group, topic, queue_id, now.wall_ms, known)
                for queue_id in range(config.read_queues)
                if self._queues.exists(topic, queue_id)
            ]
            yield TopicLag(group, topic, queues)

    def _is_consumed(self, group: str, topic: str) -> bool:
        online = self._consumers.find(group)
        if online is None:
            return True
        if online.is_broadcasting:
            return False
        return not online.subscriptions or topic in online.subscriptions

    def _lag(
        self,
        group: str,
        topic: str,
        queue_id: int,
        wall_ms: int,
        known: dict[tuple[str, int, int], int],
    ) -> QueueLag:
        begin = self._queues.min_offset(topic, queue_id)
        end = self._queues.max_offset(topic, queue_id)
        committed = self._offsets.find(group, topic, queue_id)
        pulled = self._offsets.find_pulled(group, topic, queue_id)
        consumed = _within(begin, pulled if committed == UNKNOWN else committed, end)
        handed_out = _within(consumed, pulled, end)

        def waiting_ms(offset: int) -> int:
            if offset >= end:
                return 0
            place = (topic, queue_id, offset)
            stored_ms = known.get(place)
            if stored_ms is None:
                stored_ms = self._queues.stored_ms(topic, queue_id, offset)
            self._stored_ms[place] = stored_ms
            return max(0, wall_ms - stored_ms) if stored_ms != NEVER else 0

        return QueueLag(
            queue_id,
            end - consumed,
            waiting_ms(consumed),
            handed_out - consumed,
            end - handed_out,
            waiting_ms(handed_out),
        )


def _within(low: int, value: int, high: int) -> int:
    return max(low, min(value, high))
