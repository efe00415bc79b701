"""What is not over yet: pulls that are held, transactions that are open, timers that are late.

Totals only: nothing of it is counted by topic.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from aerobee.model.metric import Metric, Sample, counter, single_gauge
from aerobee.ports.clock import Now


class Pending(NamedTuple):
    """Whom to ask."""

    held_pulls: Callable[[], int]
    open_halves: Callable[[], int]
    timers_delivered: Callable[[], int]
    timers_behind_ms: Callable[[Now], int]

    def metrics(self, now: Now) -> Iterator[Metric]:
        yield single_gauge("aerobee_held_pulls", "Pulls that wait for a message", self.held_pulls())
        yield single_gauge(
            "rocketmq_half_messages", "Transactions that are open", self.open_halves()
        )
        yield counter(
            "rocketmq_timer_dequeue_total",
            "Messages for an exact time that were delivered",
            [Sample({}, self.timers_delivered())],
        )
        yield single_gauge(
            "rocketmq_timer_dequeue_latency",
            "How late messages for an exact time are, in ms",
            self.timers_behind_ms(now),
            also="rocketmq_timer_dequeue_latency_milliseconds",
        )
