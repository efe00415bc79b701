"""Members of both protocols share a group: a simple consumer of gRPC, a remoting POP consumer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.features.conftest import Names, Programs, check_tools
from tests.interop.features.ground import QUEUES, Ground
from tests.interop.features.install import missing
from tests.interop.features.program import Program, bodies
from tests.interop.features.servers import Server

REMOTING = "java-5.5.0"
MESSAGES = 40


@pytest.fixture
def remoting(server: Server, tmp_path: Path) -> Iterator[Program]:
    """A Java program of the remoting protocol."""
    check_tools(REMOTING, missing(REMOTING))
    programs = Programs(REMOTING, server, tmp_path)
    yield programs.current()
    programs.end()


@pytest.mark.feature("grpc-mixed")
def test_members_of_both_protocols_share_a_group(
    client: Program, remoting: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="NORMAL")
    ground.create_group(names.group, retries=16)
    ground.let_pop(names.topic, names.group)
    client.open(names.one, names.group, names.topic)
    ground.send(names.topic, 0, "of gRPC")
    (first,) = client.take(names.one, 1, invisible_s=60)
    client.ack(names.one, [first])
    remoting.subscribe(names.two, names.group, names.topic, pop=60_000)
    ground.send(names.topic, 0, "of remoting")
    remoting.receive(names.two, lambda events: "of remoting" in bodies(events), 60)
    # Both wait for these; which of them gets a message is not said.
    waiting = client.begin_take(names.one, MESSAGES, seconds=8, invisible_s=60)
    sent = [f"both {number}" for number in range(MESSAGES)]
    for number, body in enumerate(sent):
        ground.send(names.topic, number % QUEUES, body)
    found = [event for event in client.finish(waiting) if event["event"] == "found"]
    client.ack(names.one, found)
    remoting.receive(names.two, lambda events: len(events) + len(found) > MESSAGES, 30)
    remoting.linger(1)
    received = bodies(found) + bodies(remoting.received(names.two))
    assert sorted(received) == sorted([*sent, "of remoting"])
