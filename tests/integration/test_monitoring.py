"""A process seen by those who watch it: pages over HTTP, and what the dashboard asks for."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.model.replica_status import FOLLOWING, MasterStatus, ReplicaLag, SlaveStatus
from aerobee.protocol.text.metric_text import metrics_text
from aerobee.service.broker.metrics.replica_metrics import replica_metrics
from tests.dashboard import queries, read_page
from tests.process_kit import Started
from tests.watched_traffic import GROUP, TOPIC, Traffic, shown

METRICS_PAGE = Path(__file__).parent.parent.parent / "docs/metrics.md"


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """`aerobee up`, after some traffic; what is on which port."""
    folder = tmp_path_factory.mktemp("watched")
    arguments = ("--store", f"{folder}/data", "--port", "0", "--nameserver-port", "0")
    with Started(folder, "up", *arguments) as up:
        found = up.ports()
        traffic = Traffic(found["broker"])
        for _ in range(3):
            traffic.flow()
        yield found
        traffic.close()
        assert up.stop()[0] == 0


def value(text: str, name: str, **labels: str) -> float:
    wanted = [f'{label}="{said}"' for label, said in labels.items()]
    (line,) = [
        line
        for line in text.splitlines()
        if line.startswith((f"{name}{{", f"{name} ")) and all(one in line for one in wanted)
    ]
    return float(line.rpartition(" ")[2])


def test_what_passed_is_on_the_page(ports: dict[str, int]) -> None:
    page = shown(ports["metrics"], "/metrics")
    assert page.status == 200
    assert page.content_type.startswith("text/plain; version=0.0.4")
    assert value(page.text, "rocketmq_messages_in_total", topic=TOPIC) == 9
    assert value(page.text, "rocketmq_messages_out_total", topic=TOPIC, consumer_group=GROUP) == 6
    lag = {"topic": TOPIC, "consumer_group": GROUP}
    assert value(page.text, "rocketmq_consumer_lag_messages", **lag) == 6
    assert value(page.text, "rocketmq_consumer_inflight_messages", **lag) == 1
    assert value(page.text, "rocketmq_send_to_dlq_messages_total", consumer_group=GROUP) == 3
    assert value(page.text, "rocketmq_producer_connections") == 1
    assert value(page.text, "aerobee_nameservers_registered") == 1
    assert value(page.text, "aerobee_connections") >= 1


def test_it_is_well_and_ready(ports: dict[str, int]) -> None:
    assert shown(ports["metrics"], "/healthz")[::2] == (200, "ok\n")
    assert shown(ports["metrics"], "/readyz")[::2] == (200, "ok\n")
    assert shown(ports["metrics"], "/").status == 404


def test_everything_that_the_dashboard_asks_for_is_exported(ports: dict[str, int]) -> None:
    up = read_page(shown(ports["metrics"], "/metrics").text)
    replicas = read_page(_replicas_page())
    asked = queries()
    assert len(asked) > 30
    for query in asked:
        exported = replicas if query.is_of_replicas else up
        names = query.metrics()
        assert names, query
        for name in names:
            assert name in exported.kinds, query
            assert query.labels() <= exported.labels[name], query
            is_counted = re.search(rf"(rate|increase)\({name}(_bucket|_count)?\b", query.expression)
            assert bool(is_counted) == (exported.kinds[name] != "gauge"), query


def _replicas_page() -> str:
    """What a master with a slave, and the slave, would show of replication."""
    master = MasterStatus(510, 2, [ReplicaLag("10.0.0.2:41234", 500, 10, 3, True)])
    slave = SlaveStatus("10.0.0.1:10912", FOLLOWING, 500, 500, 510, 10, 3)
    shared = {"cluster": "c", "node_type": "broker", "node_id": "broker-a"}
    metrics = [*replica_metrics(master), *replica_metrics(slave)]
    return b"".join(metrics_text(metrics, shared)).decode()


def test_everything_that_is_exported_is_explained(ports: dict[str, int]) -> None:
    page = METRICS_PAGE.read_text()
    named = set(re.findall(r"`((?:rocketmq|aerobee|process)_[a-z_]+)`", page))
    for name, also in re.findall(r"`([a-z_]+)`, `…(_[a-z]+)`", page):
        named.add(name + also)
    exported = read_page(shown(ports["metrics"], "/metrics").text + _replicas_page())
    assert set(exported.kinds) <= named


def test_a_broker_shows_nothing_until_it_is_told_to(tmp_path: Path) -> None:
    with Started(tmp_path, "broker", "start", "--store", f"{tmp_path}/s", "--port", "0") as broker:
        assert set(broker.ports()) == {"broker"}


def test_a_broker_is_told_by_rocketmqs_keys(tmp_path: Path) -> None:
    file = tmp_path / "broker.conf"
    file.write_text(
        "metricsExporterType=PROM\nmetricsPromExporterHost=127.0.0.1\n"
        "metricsPromExporterPort=0\nmappedFileSizeCommitLog=1048576\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = taken.getsockname()[1]
    arguments = ("--store", f"{tmp_path}/s", "--port", "0", "-n", f"127.0.0.1:{nobody}")
    with Started(tmp_path, "broker", "start", "-c", str(file), *arguments) as broker:
        port = broker.ports()["metrics"]
        assert shown(port, "/healthz").status == 200
        ready = shown(port, "/readyz")
        assert ready.status == 503
        assert ready.text == f"no name server knows the broker: 127.0.0.1:{nobody}\n"
