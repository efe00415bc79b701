from aerobee.model.metric import Metric
from aerobee.service.broker.metrics.lag import QueueLag, TopicLag
from aerobee.service.broker.metrics.lag_metrics import lag_metrics
from aerobee.service.broker.metrics.sample_bounds import OVERFLOW_LABELS

LAGS = [
    TopicLag("g", "Orders", [QueueLag(0, 5, 2_000, 2, 3, 700), QueueLag(1, 7, 900, 7, 0, 0)]),
    TopicLag("h", "%RETRY%h", []),
    TopicLag("CID_RMQ_SYS_x", "Orders", [QueueLag(0, 1, 10, 0, 1, 10)]),
]


def is_system(topic: str, group: str) -> bool:
    return group.startswith("CID_RMQ_SYS_")


def shown(samples_max: int = 100) -> dict[str, dict[str, float]]:
    """Values by metric, and by group or queue."""
    found: dict[str, dict[str, float]] = {}
    for metric in lag_metrics(iter(LAGS), is_system, samples_max):
        found[metric.name] = {
            _key(dict(sample.labels)): float(str(sample.value)) for sample in metric.samples
        }
    return found


def _key(labels: dict[str, str]) -> str:
    if labels == OVERFLOW_LABELS:
        return "rest"
    return labels["consumer_group"] + labels.get("queue_id", "")


def of(name: str) -> Metric:
    metrics = []
    for metric in lag_metrics(iter(LAGS), is_system, 100):
        metrics.append(metric._replace(samples=list(metric.samples)))
    (found,) = [metric for metric in metrics if metric.name == name]
    return found


def test_messages_of_a_topic_are_added_up_and_times_are_the_longest() -> None:
    found = shown()
    assert found["rocketmq_consumer_lag_messages"]["g"] == 12
    assert found["rocketmq_consumer_lag_latency"]["g"] == 2_000
    assert found["rocketmq_consumer_inflight_messages"]["g"] == 9
    assert found["rocketmq_consumer_ready_messages"]["g"] == 3
    assert found["rocketmq_consumer_queueing_latency"]["g"] == 700


def test_a_group_without_queues_is_not_behind() -> None:
    assert shown()["rocketmq_consumer_lag_latency"]["h"] == 0


def test_each_queue_is_shown_in_messages_and_in_seconds() -> None:
    found = shown()
    assert found["aerobee_consumer_queue_lag_messages"] == {"g0": 5, "g1": 7, "CID_RMQ_SYS_x0": 1}
    assert found["aerobee_consumer_queue_lag_seconds"]["g0"] == 2.0


def test_labels_are_rocketmqs() -> None:
    samples = list(of("rocketmq_consumer_lag_messages").samples)
    assert [dict(sample.labels) for sample in samples] == [
        {"consumer_group": "g", "topic": "Orders", "is_retry": "false", "is_system": "false"},
        {"consumer_group": "h", "topic": "%RETRY%h", "is_retry": "true", "is_system": "false"},
        {
            "consumer_group": "CID_RMQ_SYS_x",
            "topic": "Orders",
            "is_retry": "false",
            "is_system": "true",
        },
    ]


def test_times_are_known_by_the_name_with_their_unit_too() -> None:
    assert of("rocketmq_consumer_lag_latency").also == "rocketmq_consumer_lag_latency_milliseconds"


def test_groups_beyond_the_bound_are_shown_together() -> None:
    found = shown(samples_max=2)
    assert found["rocketmq_consumer_lag_messages"] == {"g": 12, "rest": 1}
    assert found["rocketmq_consumer_lag_latency"] == {"g": 2_000, "rest": 10}
    assert found["aerobee_consumer_queue_lag_messages"] == {"g0": 5, "rest": 8}
