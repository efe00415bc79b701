"""Every query of the dashboard, in a real Prometheus that watches a real broker."""

import math
import os
from collections.abc import Iterator

import pytest

from tests.dashboard import Query, queries
from tests.interop.apache import free_port
from tests.interop.features.waiting import until
from tests.interop.monitoring.prometheus import Prometheus, find_program
from tests.process_kit import Started
from tests.watched_traffic import GROUP, Traffic

pytestmark = pytest.mark.night

WINDOW = "30s"
SCRAPES_SECONDS_MAX = 60
COUNTERS = (
    "rocketmq_messages_out_total",
    "rocketmq_send_to_dlq_messages_total",
    "aerobee_storage_sync_seconds_count",
)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """It has looked at a broker several times, with traffic in between."""
    program = find_program()
    if program is None:
        if os.environ.get("REQUIRE_CLIENTS") == "1":
            pytest.fail("no Prometheus, and none can be had from Debian's packages")
        pytest.skip("no Prometheus, and none can be had from Debian's packages")
    folder = tmp_path_factory.mktemp("prometheus")
    arguments = ("--store", f"{folder}/data", "--port", "0", "--nameserver-port", "0")
    with Started(folder, "up", *arguments) as up:
        ports = up.ports()
        traffic = Traffic(ports["broker"])
        traffic.flow()
        watching = Prometheus(program, folder / "prometheus", ports["metrics"], free_port())
        with watching:

            def has_seen_traffic() -> bool:
                traffic.flow()
                return all(watching.query(f"rate({counter}[{WINDOW}]) > 0") for counter in COUNTERS)

            until(has_seen_traffic, SCRAPES_SECONDS_MAX, "Prometheus has seen traffic")
            yield watching
        traffic.close()


# A broker without slaves has no answer to those of replicas.
@pytest.mark.parametrize(
    "query", [one for one in queries() if not one.is_of_replicas], ids=lambda query: query.panel
)
def test_a_query_of_the_dashboard_has_an_answer(prometheus: Prometheus, query: Query) -> None:
    found = prometheus.query(query.filled_in(WINDOW))
    assert found, query
    for sample in found:
        value = float(sample["value"][1])
        assert not math.isinf(value), query
        # The mean size of what did not come is no number.
        assert value >= 0 or math.isnan(value), query


def test_what_is_asked_for_is_what_happened(prometheus: Prometheus) -> None:
    (lag,) = prometheus.query(f'rocketmq_consumer_lag_messages{{consumer_group="{GROUP}"}}')
    (queue,) = prometheus.query(f'aerobee_consumer_queue_lag_messages{{consumer_group="{GROUP}"}}')
    assert float(lag["value"][1]) == float(queue["value"][1]) > 0
    (up,) = prometheus.query("up")
    assert up["value"][1] == "1"
