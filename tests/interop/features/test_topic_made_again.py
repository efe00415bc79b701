"""A Java client deletes a topic, makes it again and sends to it at once, as Apache lets it: nothing
is refused, and the topic has what was sent to it since, from offset 0 on.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.features.conftest import Programs, check_tools
from tests.interop.features.ground import Ground
from tests.interop.features.install import missing
from tests.interop.features.servers import CLUSTER, AerobeeServer

pytestmark = pytest.mark.java

CLIENT = "java-5.5.0"
ROUNDS = 24


@pytest.fixture
def server(tmp_path: Path) -> Iterator[AerobeeServer]:
    with AerobeeServer(tmp_path / "server") as started:
        yield started


@pytest.fixture
def programs(server: AerobeeServer, tmp_path: Path) -> Iterator[Programs]:
    check_tools(CLIENT, missing(CLIENT))
    started = Programs(CLIENT, server, tmp_path / "client")
    yield started
    started.end()


def test_a_topic_that_a_java_client_makes_again_takes_messages_from_0_on_at_once(
    server: AerobeeServer, programs: Programs
) -> None:
    ground, client = Ground(server), programs.current()
    ground.create_topic("again")
    broker = f"127.0.0.1:{server.broker_port}"
    place = {"broker": broker, "name": "broker-a", "cluster": CLUSTER}
    client.send("sync", "again", *(f"first {number}" for number in range(8)))
    for number in range(ROUNDS):
        texts = [f"{number} {part}" for part in range(3)]
        told = client.ask("remake", topic="again", body=texts, **place)
        assert [event["queueOffset"] for event in told] == [0, 1, 2], number
        assert [one.body.decode() for one in ground.stored("again")] == texts, number
    ground.restart_broker()
    assert [one.body.decode() for one in ground.stored("again")] == texts
