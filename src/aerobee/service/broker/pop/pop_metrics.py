"""Metrics of the revive topic: records written and read, messages revived, lag of its readers.

Totals without group and topic: messages handed out to a group are counted with those of pulls.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aerobee.model.metric import Metric, Sample, counter, gauge, single_gauge
from aerobee.ports.clock import Now
from aerobee.service.broker.pop.revive.in_flight import InFlight
from aerobee.service.broker.pop.revive.retry_writer import RetryWriter
from aerobee.service.broker.pop.revive.revive_queue import ReviveQueue
from aerobee.service.broker.pop.revive.revive_writer import ReviveWriter


class PopMetrics(NamedTuple):
    """The objects whose counters are shown."""

    log: ReviveWriter
    queues: Sequence[ReviveQueue]
    retry_writer: RetryWriter
    in_flight: InFlight

    def metrics(self, now: Now) -> Iterator[Metric]:
        yield counter(
            "rocketmq_pop_revive_in_message_total",
            "Checkpoints and acknowledgements that were stored",
            [
                Sample({"revive_message_type": "CK"}, self.log.stored - self.log.ack_writer),
                Sample({"revive_message_type": "ACK"}, self.log.ack_writer),
            ],
        )
        yield counter(
            "rocketmq_pop_revive_out_message_total",
            "Checkpoints that were read when they were due",
            [
                Sample(_of(queue, revive_message_type="CK"), queue.checkpoints)
                for queue in self.queues
            ],
        )
        yield counter(
            "rocketmq_pop_revive_retry_messages_total",
            "Popped messages that came back",
            [Sample({}, self.retry_writer.revived)],
        )
        yield single_gauge(
            "rocketmq_pop_checkpoint_buffer_size",
            "Checkpoints whose acknowledgements are in memory",
            len(self.in_flight),
        )
        behind = [(queue, *queue.behind(now)) for queue in self.queues]
        yield gauge(
            "rocketmq_pop_revive_lag",
            "Records of the revive topic that are not read yet",
            [Sample(_of(queue), records) for queue, records, _ in behind],
        )
        yield gauge(
            "rocketmq_pop_revive_latency",
            "How long the oldest of them has waited, in ms",
            [Sample(_of(queue), waited_ms) for queue, _, waited_ms in behind],
            also="rocketmq_pop_revive_latency_milliseconds",
        )


def _of(queue: ReviveQueue, **labels: str) -> dict[str, str]:
    return {"queue_id": str(queue.queue_id), **labels}
