"""Metrics of unfinished work (waiting requests, open transactions, late timers) and its outcomes.

Totals only: they are not counted by topic. Requests wait for the disk only: there are no thread
pools that they could wait for.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from aerobee.model.metric import Metric, Sample, counter, gauge, single_gauge
from aerobee.ports.clock import Now


class PendingMetrics(NamedTuple):
    """The functions that return the figures."""

    held_pulls: Callable[[], int]
    open_halves: Callable[[], int]
    timers_delivered: Callable[[], int]
    timers_behind_ms: Callable[[Now], int]
    waiting_sends: Callable[[], int]
    cold_reads: Callable[[], int]
    outcomes: Callable[[], tuple[int, int]]
    """Transactions: (commits, rollbacks)."""

    def metrics(self, now: Now) -> Iterator[Metric]:
        yield single_gauge("aerobee_held_pulls", "Pulls that wait for a message", self.held_pulls())
        yield gauge(
            "rocketmq_processor_watermark",
            "Requests that wait for the disk",
            [
                Sample({"processor": "send"}, self.waiting_sends()),
                Sample({"processor": "pull"}, self.cold_reads()),
            ],
        )
        yield single_gauge(
            "rocketmq_half_messages", "Transactions that are open", self.open_halves()
        )
        commits, rollbacks = self.outcomes()
        yield counter(
            "rocketmq_commit_messages_total",
            "Transactions that were committed",
            [Sample({}, commits)],
        )
        yield counter(
            "rocketmq_rollback_messages_total",
            "Transactions that were rolled back",
            [Sample({}, rollbacks)],
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
