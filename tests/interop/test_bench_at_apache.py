"""Load tests and the doctor at Apache's servers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import aerobee as mq
from tests.cli_kit import aerobee
from tests.interop.apache import Jars
from tests.interop.features.servers import ApacheServer
from tests.net_kit import in_loop
from tests.server_kit import Server

pytestmark = pytest.mark.java

SHORT = ("--duration", "1s", "--warm-up", "1s", "--queues", "2", "-o", "json")


@pytest.fixture(scope="module")
def server(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("apache")
    with ApacheServer(folder, jars) as apache:

        async def registered() -> None:
            async with mq.admin(apache.name_server) as admin:
                while not (await admin.cluster()).brokers:
                    pass

        in_loop(registered)
        yield Server(apache.name_server)


def leftovers(server: Server) -> list[str]:
    listed = aerobee(server, "topic", "list", "--all", "-o", "json").records
    return [one["topic"] for one in listed if "aerobee-bench" in one["topic"]]


def test_a_fixed_rate_is_sent_and_the_broker_is_watched(server: Server) -> None:
    said = aerobee(server, "bench", "produce", "--rate", "200", *SHORT)
    assert said.status == 0, said.error
    figures = said.records["figures"]["sent"]
    assert figures["messages"] + figures["unsent"] == 200
    (broker,) = said.records["brokers"]
    assert broker["flush"] == "ASYNC_FLUSH"
    assert broker["version"].startswith("V5")
    assert broker["is_local"]
    assert said.records["usage"]["broker"]["is_known"]
    assert leftovers(server) == []


def test_batches_go_as_fast_as_they_go(server: Server) -> None:
    said = aerobee(server, "bench", "produce", "--batch", "16", "--count", "800", *SHORT)
    assert said.status == 0, said.error
    assert said.records["figures"]["sent"]["errors"] == 0


def test_what_is_sent_arrives_and_a_backlog_is_received(server: Server) -> None:
    said = aerobee(server, "bench", "roundtrip", "--rate", "100", *SHORT)
    assert said.status == 0, said.error
    figures = said.records["figures"]
    assert figures["received"]["messages"] == figures["sent"]["messages"]
    said = aerobee(server, "bench", "consume", "--count", "500", "--queues", "2", "-o", "json")
    assert said.status == 0, said.error
    assert said.records["figures"]["received"]["messages"] >= 500
    assert leftovers(server) == []


def test_the_doctor_reaches_it_and_knows_its_time(server: Server, tmp_path: Path) -> None:
    said = aerobee(server, "doctor", "--store", str(tmp_path), "-o", "json")
    levels = {one["subject"]: one["level"] for one in said.records}
    assert {level for name, level in levels.items() if "broker-a at" in name} == {"ok"}
    assert levels["time of broker-a"] == "ok"
