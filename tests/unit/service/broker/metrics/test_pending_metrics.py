from aerobee.model.metric import MetricKind
from aerobee.ports.clock import Now
from aerobee.service.broker.metrics.pending_metrics import PendingMetrics


def test_everybody_is_asked_for_what_is_not_over() -> None:
    pending = PendingMetrics(
        lambda: 3,
        lambda: 4,
        lambda: 5,
        lambda now: now.wall_ms,
        lambda: 6,
        lambda: 7,
        lambda: (8, 9),
    )
    found = {
        metric.name: (metric.kind, [sample.value for sample in metric.samples])
        for metric in pending.metrics(Now(70, 1))
    }
    assert found == {
        "aerobee_held_pulls": (MetricKind.GAUGE, [3]),
        "rocketmq_processor_watermark": (MetricKind.GAUGE, [6, 7]),
        "rocketmq_commit_messages_total": (MetricKind.COUNTER, [8]),
        "rocketmq_rollback_messages_total": (MetricKind.COUNTER, [9]),
        "rocketmq_half_messages": (MetricKind.GAUGE, [4]),
        "rocketmq_timer_dequeue_total": (MetricKind.COUNTER, [5]),
        "rocketmq_timer_dequeue_latency": (MetricKind.GAUGE, [70]),
    }
