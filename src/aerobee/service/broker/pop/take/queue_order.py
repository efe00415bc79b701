"""QueueOrder: the order in which a pop looks at the queues of its topic and of its group's retry
topic.

    most topics        queues in turn: each pop begins with another queue; one pop in five looks at
                       the retry topic first, the others last
    PRIORITY topics    the queue of the highest priority, then the next lower one, and so on; some
                       pops, by a setting, look at the retry topic first, the others last

The number of a queue is the priority of its messages. A group's priority factor is the percentage
of its pops that go by priority; the others take the queues in turn, so that low priorities do not
starve.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from aerobee.model.group import PRIORITY_FACTOR_MAX
from aerobee.model.names import pop_retry_topic
from aerobee.model.topic import TopicConfig
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.pop.take.held_pops import PopPlan
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics

RETRY_FIRST_EVERY = 5
# Has no divisor in common with 100: every hundred turns have each percentage once, well mixed.
_STRIDE = 37
_SCATTER = 2_654_435_761


class QueueOrder(NamedTuple):
    queues: int
    """Of the topic."""
    retry_queues: int = 1
    """Of the group's retry topic for it: one, or one for each of the topic's."""
    priority_percent: int = 0
    """Pops that go by priority, of a hundred; 0 for topics without priorities."""
    is_rising: bool = True
    """Whether the last queue has the highest priority; else the first has."""
    retry_first_percent: int = 0
    """Pops of a hundred that look at the retry topic first, if they go by priority."""

    def is_by_priority(self, turn: int) -> bool:
        return self.priority_percent > 0 and turn * _STRIDE % 100 < self.priority_percent

    def is_retry_first(self, turn: int) -> bool:
        if self.is_by_priority(turn):
            return turn * _STRIDE % 100 < self.retry_first_percent
        return turn % RETRY_FIRST_EVERY == RETRY_FIRST_EVERY - 1

    def first(self, turn: int) -> int:
        """The index in `ranked` that a pop begins with; it goes round from there."""
        if self.priority_percent == 0:
            return turn
        # Turns beside those by priority are regular, and might always begin with the same queue.
        return 0 if self.is_by_priority(turn) else turn * _SCATTER >> 16

    def ranked(self, count: int) -> Sequence[int]:
        """So many queues, that of the highest priority first."""
        if self.priority_percent > 0 and self.is_rising:
            return range(count - 1, -1, -1)
        return range(count)

    def in_turn(self, count: int, turn: int) -> list[int]:
        """So many queues, in the order in which a pop looks at them."""
        ranked, first = self.ranked(count), self.first(turn)
        return [ranked[(first + step) % count] for step in range(count)]


class QueueOrders:
    """Makes the order of a pop from its topic, its group and the settings of the moment."""

    def __init__(self, topics: Topics, groups: Groups, config: Callable[[], BrokerConfig]) -> None:
        self._topics = topics
        self._groups = groups
        self._config = config

    def retry_topic(self, group: str, topic: str) -> TopicConfig | None:
        return self._topics.find(pop_retry_topic(group, topic))

    def of(self, plan: PopPlan) -> QueueOrder:
        """The order for a pop; of no queue if the topic is gone."""
        topic = self._topics.find(plan.topic)
        retry = self.retry_topic(plan.group, plan.topic)
        retry_queues = retry.read_queues if retry is not None else 1
        if topic is None:
            return QueueOrder(0, retry_queues)
        if not topic.has_priorities or plan.is_orderly:
            return QueueOrder(topic.read_queues, retry_queues)
        group, config = self._groups.find(plan.group), self._config()
        return QueueOrder(
            topic.read_queues,
            retry_queues,
            group.priority_factor if group is not None else PRIORITY_FACTOR_MAX,
            config.priority_rises,
            config.retry_first_percent,
        )
