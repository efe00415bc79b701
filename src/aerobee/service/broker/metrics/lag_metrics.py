"""Metrics of lags: RocketMQ's, per group and topic, and Aerobee's own, per queue.

RocketMQ's times are milliseconds. Its exporter appends a unit to the documented name, so metrics
with a unit have two names.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from aerobee.model.metric import Metric, gauge
from aerobee.model.names import is_retry_topic
from aerobee.service.broker.metrics.lag import QueueLag, TopicLag
from aerobee.service.broker.metrics.sample_bounds import Join, added, bounded

IsSystem = Callable[[str, str], bool]
"""(topic, group) → whether one of them is a system name."""


class _Shape(NamedTuple):
    name: str
    text: str
    of: Callable[[QueueLag], float]
    join: Join
    """Joins the values of a topic's queues, and of the samples beyond the limit."""
    also: str = ""


_FIRST = _Shape(
    "rocketmq_consumer_lag_messages",
    "Messages that a group is not known to have consumed",
    lambda queue: queue.behind,
    added,
)
_OTHERS = (
    _Shape(
        "rocketmq_consumer_lag_latency",
        "How long the oldest message that a group has not consumed has been there, in ms",
        lambda queue: queue.behind_ms,
        max,
        also="rocketmq_consumer_lag_latency_milliseconds",
    ),
    _Shape(
        "rocketmq_consumer_inflight_messages",
        "Messages that were handed out and are not known to be consumed",
        lambda queue: queue.in_flight,
        added,
    ),
    _Shape(
        "rocketmq_consumer_ready_messages",
        "Messages that were not handed out yet",
        lambda queue: queue.ready,
        added,
    ),
    _Shape(
        "rocketmq_consumer_queueing_latency",
        "How long the oldest message that was not handed out has been there, in ms",
        lambda queue: queue.ready_ms,
        max,
        also="rocketmq_consumer_queueing_latency_milliseconds",
    ),
)
_BY_QUEUE = (
    _Shape(
        "aerobee_consumer_queue_lag_messages",
        "Messages of a queue that a group is not known to have consumed",
        lambda queue: queue.behind,
        added,
    ),
    _Shape(
        "aerobee_consumer_queue_lag_seconds",
        "How long the oldest message of a queue that a group has not consumed has been there",
        lambda queue: queue.behind_ms / 1000,
        max,
    ),
)


def lag_metrics(
    lags: Iterable[TopicLag], is_system: IsSystem, samples_max: int
) -> Iterator[Metric]:
    """The metrics. Lags are computed while the first one is read, and kept for the others."""
    found: list[TopicLag] = []

    def look() -> Iterator[TopicLag]:
        for lag in lags:
            found.append(lag)
            yield lag

    yield _by_topic(_FIRST, look(), is_system, samples_max)
    for shape in _OTHERS:
        yield _by_topic(shape, found, is_system, samples_max)
    for shape in _BY_QUEUE:
        yield _by_queue(shape, found, samples_max)


def _by_topic(
    shape: _Shape, lags: Iterable[TopicLag], is_system: IsSystem, samples_max: int
) -> Metric:
    def samples() -> Iterator[tuple[dict[str, str], float]]:
        for lag in lags:
            value: float = 0
            for queue in lag.queues:
                value = shape.join(value, shape.of(queue))
            labels = {
                "consumer_group": lag.group,
                "topic": lag.topic,
                "is_retry": str(is_retry_topic(lag.topic)).lower(),
                "is_system": str(is_system(lag.topic, lag.group)).lower(),
            }
            yield labels, value

    return gauge(shape.name, shape.text, bounded(samples(), samples_max, shape.join), shape.also)


def _by_queue(shape: _Shape, lags: Iterable[TopicLag], samples_max: int) -> Metric:
    def samples() -> Iterator[tuple[dict[str, str], float]]:
        for lag in lags:
            for queue in lag.queues:
                labels = {
                    "consumer_group": lag.group,
                    "topic": lag.topic,
                    "queue_id": str(queue.queue_id),
                }
                yield labels, shape.of(queue)

    return gauge(shape.name, shape.text, bounded(samples(), samples_max, shape.join))
