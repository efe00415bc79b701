from aerobee.ports.clock import Now
from aerobee.service.broker.statistics.put_latency import STEP_MS, STEPS, PutLatency

BOUNDS = (1, 3, 10)


def test_a_percentile_lies_in_its_bucket() -> None:
    counts = [0, 0, 0, 0]
    latency = PutLatency(BOUNDS, lambda: counts, Now(0, 0))
    assert latency.percentile(0.99) == 0.0
    counts[:] = [98, 1, 1, 0]
    assert latency.percentile(0.49) == 0.5
    assert latency.percentile(0.99) == 3.0
    assert round(latency.percentile(0.999), 6) == 9.3
    counts[3] = 100
    assert latency.percentile(0.99) == 10.0


def test_times_of_more_than_a_minute_ago_do_not_count() -> None:
    counts = [0, 0, 50, 0]
    latency = PutLatency(BOUNDS, lambda: counts, Now(0, 0))
    assert latency.percentile(0.99) == 0.0
    counts[2] += 10
    for number in range(1, STEPS + 2):
        assert latency.percentile(0.5) == 6.5, number
        latency.on_tick(Now(0, number * STEP_MS))
        latency.on_tick(Now(0, number * STEP_MS + 1))
    assert latency.percentile(0.5) == 0.0
