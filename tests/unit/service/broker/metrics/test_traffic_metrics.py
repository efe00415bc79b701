from aerobee.model.histogram import Histogram
from aerobee.model.topic import TopicConfig
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.metrics.traffic_metrics import TrafficMetrics
from aerobee.service.broker.statistics.request_times import RequestTimes
from aerobee.service.broker.statistics.statistics import Statistics
from tests.store_kit import StoreKit

TOPICS = {
    "Orders": TopicConfig("Orders"),
    "Bills": TopicConfig("Bills", attributes={"message.type": "FIFO"}),
    "Alarms": TopicConfig("Alarms", attributes={"message.type": "PRIORITY"}),
}


class TrafficKit:
    def __init__(self) -> None:
        self.kit = StoreKit()
        self.times = RequestTimes()
        self.statistics = Statistics(
            self.kit.store.queues(), lambda topic: False, self.kit.clock.now()
        )
        self.metrics = TrafficMetrics(
            self.statistics, self.times, TOPICS.get, lambda topic, group: group == "tools"
        )

    def arrive(self, count: int, topic: bytes = b"Orders") -> None:
        self.kit.append_many(count, topic)
        self.statistics.arrivals.update(self.kit.store.dispatch())

    def shown(self, name: str, samples_max: int = 100) -> list[tuple[dict[str, str], float]]:
        for metric in self.metrics.metrics(samples_max):
            samples = list(metric.samples)
            if metric.name == name:
                return [
                    (
                        dict(one.labels),
                        one.value.count if isinstance(one.value, Histogram) else one.value,
                    )
                    for one in samples
                ]
        raise AssertionError(name)


def test_what_came_in_is_shown_by_topic_and_kind_of_message() -> None:
    kit = TrafficKit()
    kit.arrive(3)
    kit.arrive(2, b"Bills")
    kit.arrive(1, b"Alarms")
    alarms, bills, orders = sorted(kit.shown("rocketmq_messages_in_total"), key=lambda one: one[1])
    assert orders == ({"topic": "Orders", "message_type": "normal", "is_system": "false"}, 3)
    assert bills == ({"topic": "Bills", "message_type": "fifo", "is_system": "false"}, 2)
    assert alarms == ({"topic": "Alarms", "message_type": "priority", "is_system": "false"}, 1)
    sizes = [size for _, size in kit.shown("rocketmq_throughput_in_total")]
    assert sum(sizes) == kit.kit.store.end_offset


def test_a_topic_that_is_gone_is_not_shown() -> None:
    kit = TrafficKit()
    kit.arrive(1, b"Gone")
    assert kit.shown("rocketmq_messages_in_total") == []


def test_what_went_out_is_shown_by_topic_and_group() -> None:
    kit = TrafficKit()
    kit.statistics.flow_of("g", "Orders").add(5, 500)
    kit.statistics.flow_of("tools", "%RETRY%g").add(1, 80)
    first, second = kit.shown("rocketmq_messages_out_total")
    assert first == (
        {"topic": "Orders", "consumer_group": "g", "is_retry": "false", "is_system": "false"},
        5,
    )
    assert (second[0]["is_retry"], second[0]["is_system"], second[1]) == ("true", "true", 1)
    assert [value for _, value in kit.shown("rocketmq_throughput_out_total")] == [500, 80]


def test_dead_letters_are_counted_for_the_group_that_could_not_use_them() -> None:
    kit = TrafficKit()
    kit.arrive(2, b"%DLQ%g")
    kit.arrive(5)
    ((labels, count),) = kit.shown("rocketmq_send_to_dlq_messages_total")
    assert (labels["topic"], labels["consumer_group"], count) == ("%DLQ%g", "g", 2)


def test_times_are_shown_by_request_and_response() -> None:
    kit = TrafficKit()
    kit.times.of_successes(RequestCode.SEND_MESSAGE_V2).add(2, 10)
    assert kit.shown("rocketmq_rpc_latency") == [
        (
            {
                "protocol_type": "remoting",
                "request_code": "send_message_v2",
                "response_code": "success",
                "is_long_polling": "false",
                "result": "success",
            },
            10,
        )
    ]


def test_topics_beyond_the_bound_are_shown_together() -> None:
    kit = TrafficKit()
    for number in range(5):
        kit.statistics.flow_of(f"g{number}", "Orders").add(1, 1)
    assert [value for _, value in kit.shown("rocketmq_messages_out_total", 3)] == [1, 1, 3]


def test_sizes_are_shown_by_topic_and_beyond_the_bound_together() -> None:
    kit = TrafficKit()
    kit.arrive(3)
    kit.arrive(2, b"Bills")
    kit.arrive(4, b"Gone")
    kit.shown("rocketmq_messages_in_total")  # looks
    shown = sorted(kit.shown("rocketmq_message_size"), key=lambda one: one[1])
    assert [(labels["topic"], count) for labels, count in shown] == [("Bills", 2), ("Orders", 3)]
    assert shown[1][0]["message_type"] == "normal"
    assert kit.shown("rocketmq_message_size", 1) == [({"otel_metric_overflow": "true"}, 5)]
    total = sum(histogram.sum for topic, histogram in kit.statistics.sizes)
    assert total == kit.kit.store.end_offset
