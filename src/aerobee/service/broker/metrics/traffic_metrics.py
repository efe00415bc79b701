"""Metrics of traffic: messages and bytes in and out, dead letters, request times.

The message type of a topic is the one in its attributes.
"""

from collections.abc import Callable, Iterator

from aerobee.model.histogram import Histogram
from aerobee.model.metric import Metric, Sample, counter, histogram
from aerobee.model.names import DEAD_LETTER_PREFIX, is_dead_letter_topic, is_retry_topic
from aerobee.model.topic import MESSAGE_TYPE, TopicConfig
from aerobee.service.broker.metrics.lag_metrics import IsSystem
from aerobee.service.broker.metrics.sample_bounds import OVERFLOW_LABELS, bounded
from aerobee.service.broker.statistics.request_times import RequestTimes
from aerobee.service.broker.statistics.statistics import Statistics, Totals

FindTopic = Callable[[str], TopicConfig | None]
_Labelled = tuple[dict[str, str], float]


class TrafficMetrics:
    def __init__(
        self,
        statistics: Statistics,
        times: RequestTimes,
        find_topic: FindTopic,
        is_system: IsSystem,
    ) -> None:
        self._statistics = statistics
        self._times = times
        self._find_topic = find_topic
        self._is_system = is_system

    def metrics(self, samples_max: int) -> Iterator[Metric]:
        yield counter(
            "rocketmq_messages_in_total",
            "Messages that were stored",
            bounded(self._came_in(lambda totals: totals.messages), samples_max),
        )
        yield counter(
            "rocketmq_throughput_in_total",
            "Bytes of messages that were stored",
            bounded(self._came_in(lambda totals: totals.bytes), samples_max),
        )
        yield histogram(
            "rocketmq_message_size",
            "How large messages are that were stored, in bytes",
            self._sizes(samples_max),
        )
        yield counter(
            "rocketmq_messages_out_total",
            "Messages that were handed out",
            bounded(self._went_out(lambda totals: totals.messages), samples_max),
        )
        yield counter(
            "rocketmq_throughput_out_total",
            "Bytes of messages that were handed out",
            bounded(self._went_out(lambda totals: totals.bytes), samples_max),
        )
        yield counter(
            "rocketmq_send_to_dlq_messages_total",
            "Messages that became dead letters",
            bounded(self._dead_letters(), samples_max),
        )
        yield histogram(
            "rocketmq_rpc_latency",
            "How long requests took to be answered, in ms",
            self._latencies(),
            also="rocketmq_rpc_latency_milliseconds",
        )

    def _came_in(self, of: Callable[[Totals], int]) -> Iterator[_Labelled]:
        for topic, totals in self._statistics.topics():
            labels = self._topic_labels(topic)
            if labels is not None:
                yield labels, of(totals)

    def _topic_labels(self, topic: str) -> dict[str, str] | None:
        config = self._find_topic(topic)
        if config is None:
            return None
        return {
            "topic": topic,
            "message_type": config.attributes.get(MESSAGE_TYPE, "NORMAL").lower(),
            "is_system": str(self._is_system(topic, "")).lower(),
        }

    def _sizes(self, samples_max: int) -> Iterator[Sample]:
        rest: Histogram | None = None
        for number, (topic, sizes) in enumerate(self._statistics.sizes, 1):
            labels = self._topic_labels(topic)
            if labels is not None and number < samples_max:
                yield Sample(labels, sizes)
            elif labels is not None:
                rest = sizes if rest is None else rest.joined(sizes)
        if rest is not None:
            yield Sample(OVERFLOW_LABELS, rest)

    def _went_out(self, of: Callable[[Totals], int]) -> Iterator[_Labelled]:
        for group, topic, totals in self._statistics.groups():
            yield self._labels(topic, group), of(totals)

    def _dead_letters(self) -> Iterator[_Labelled]:
        """Messages stored in dead-letter topics, by group."""
        for topic, totals in self._statistics.topics():
            if is_dead_letter_topic(topic):
                yield self._labels(topic, topic.removeprefix(DEAD_LETTER_PREFIX)), totals.messages

    def _labels(self, topic: str, group: str) -> dict[str, str]:
        return {
            "topic": topic,
            "consumer_group": group,
            "is_retry": str(is_retry_topic(topic)).lower(),
            "is_system": str(self._is_system(topic, group)).lower(),
        }

    def _latencies(self) -> Iterator[Sample]:
        for outcome, times in self._times:
            labels = {
                "protocol_type": "remoting",
                "request_code": outcome.request_name,
                "response_code": outcome.response.name.lower(),
                "is_long_polling": str(outcome.is_held).lower(),
                "result": "success",
            }
            yield Sample(labels, times)
