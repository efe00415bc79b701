import json

import pytest

from aerobee.app.load.result.result import side_of
from aerobee.app.load.worker.tally import Tally
from tests.load_kit import MS, result


def told(*latencies_ms: int, errors: int = 0) -> dict[str, object]:
    tally = Tally(0)
    for latency in latencies_ms:
        tally.done(0, 0, latency * MS, 1, 10)
    for _ in range(errors):
        tally.failed(0, 1, "busy")
    tally.take_interval()
    return tally.to_json()


def test_what_workers_told_is_put_together() -> None:
    side = side_of([told(1, 2, errors=1), told(3, 4, errors=2)], 0)
    assert (side.messages, side.bytes, side.seconds) == (4, 40, 0.004)
    assert side.rate == 1000
    assert side.errors == {"busy": 3}
    assert side.latency.count == 4
    assert side.in_flight == pytest.approx(10 / 4)  # ten milliseconds of service in four


def test_a_rate_is_of_no_less_than_the_wanted_time() -> None:
    assert side_of([told(1, 2)], 0, 0.5).seconds == 0.5
    assert side_of([], 0).rate == 0


def test_a_result_is_json_with_its_figures() -> None:
    said = result("roundtrip").to_json()
    assert json.loads(json.dumps(said)) == said
    assert said["figures"]["sent"]["rate"] == 1000.0
    assert said["figures"]["received"]["latency_ms"]["max"] == 5.0
    assert said["brokers"][0]["flush"] == "ASYNC_FLUSH"
    (point,) = said["series"]
    assert (point["sent"], point["p50_ms"], point["max_ms"]) == (1000.0, 2.0009, 3.0)


def test_the_main_side_is_what_the_run_was_about() -> None:
    assert result("produce").main.messages == 1000
    assert result("roundtrip").main.messages == 900
    assert result("consume").main.messages == 900
