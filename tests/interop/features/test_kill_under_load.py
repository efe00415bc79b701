"""The broker is killed while a real client sends: nothing that was acknowledged is lost.

KILL_CYCLES says how often; `make crash` asks for more than `make test-interop`.
"""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.interop.features.conftest import Programs, check_tools
from tests.interop.features.ground import Ground
from tests.interop.features.install import missing
from tests.interop.features.program import Event
from tests.interop.features.servers import AerobeeServer
from tests.interop.features.test_send import check_told

pytestmark = pytest.mark.java

# The Go client does not live through it: its answer to a lost answer is a nil pointer.
CLIENT = "java-5.5.0"
CYCLES = int(os.environ.get("KILL_CYCLES", "30"))
MESSAGES = 4_000
IN_FLIGHT = 100


@pytest.fixture
def server(tmp_path: Path) -> Iterator[AerobeeServer]:
    with AerobeeServer(tmp_path / "server", {"flushDiskType": "SYNC_FLUSH"}) as started:
        yield started


@pytest.fixture
def programs(server: AerobeeServer, tmp_path: Path) -> Iterator[Programs]:
    check_tools(CLIENT, missing(CLIENT))
    started = Programs(CLIENT, server, tmp_path / "client")
    yield started
    started.end()


def test_what_was_acknowledged_before_a_kill_is_there_after_it(
    server: AerobeeServer, programs: Programs
) -> None:
    ground = Ground(server)
    cut_short = 0
    for cycle in range(CYCLES):
        topic = f"cycle-{cycle}"
        ground.create_topic(topic)
        client = programs.current()
        texts = [f"{number}" for number in range(MESSAGES)]
        sends = client.begin("send", how="async", window=IN_FLIGHT, topic=topic, body=texts)
        # Each time a little later, in the first half.
        enough = 1 + cycle * MESSAGES // (2 * CYCLES)
        client.events_of(sends, partial(_are, enough), 30)
        server.kill_broker()
        ended = client.finish(sends)
        server.start_broker()
        ground.wait_for_route(topic)
        acknowledged = [event for event in ended if event["event"] == "sent"]
        stored = {message.unique_id: message for message in ground.stored(topic)}
        for told in acknowledged:
            check_told(told, stored[told["msgId"]])
        cut_short += len(acknowledged) < MESSAGES
    assert cut_short > CYCLES // 2, "most kills came too late to matter"


def _are(enough: int, events: list[Event]) -> bool:
    return len(events) >= enough
