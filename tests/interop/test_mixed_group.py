"""Java and Python members of one group share its queues: nothing is lost, nothing comes twice."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.client.api.message import Message
from aerobee.client.client import connect
from aerobee.client.consumer.consumer import Consumer
from tests.client_kit import until
from tests.interop.features import install
from tests.interop.features.conftest import check_tools
from tests.interop.features.ground import QUEUES, Ground
from tests.interop.features.program import Program, bodies
from tests.interop.features.servers import AerobeeServer, Server

pytestmark = pytest.mark.java

JAVA = "java-5.5.0"
TOPIC, GROUP, MEMBER = "mixed", "mixed-group", "java-member"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with AerobeeServer(tmp_path / "server") as started:
        yield started


@pytest.fixture
def java(server: Server, tmp_path: Path) -> Iterator[Program]:
    check_tools(JAVA, install.missing(JAVA))
    folder = tmp_path / "java"
    program = Program(install.install(JAVA)(server.name_server, "member", folder), folder)
    yield program
    program.kill()


class Both:
    """What both members have received."""

    def __init__(self, java: Program, ground: Ground) -> None:
        self._java = java
        self._ground = ground
        self._sent = 0
        self.ours: list[str] = []

    async def handle(self, message: Message) -> None:
        self.ours.append(message.body.decode())

    def theirs(self) -> list[str]:
        return bodies(self._java.received(MEMBER))

    async def send_and_receive(self, count: int) -> None:
        """Messages into all queues: each comes, to one of both, once."""
        word = f"round {self._sent}"
        for number in range(count):
            await asyncio.to_thread(self._ground.send, TOPIC, number % QUEUES, f"{word} {number}")
        self._sent += count

        def got() -> list[str]:
            return [body for body in self.ours + self.theirs() if body.startswith(word)]

        for _ in range(40):
            await asyncio.to_thread(self._java.linger, 0.5)
            if len(got()) >= count:
                break
        assert sorted(got()) == sorted(f"{word} {number}" for number in range(count))


def _queues(consumer: Consumer) -> set[int]:
    return {queue.queue_id for queue in consumer.queues if queue.topic == TOPIC}


def test_java_and_python_members_share_a_group(server: Server, java: Program) -> None:
    async def test() -> None:
        ground = Ground(server)
        await asyncio.to_thread(ground.create_topic, TOPIC)
        both = Both(java, ground)
        async with connect(server.name_server) as client:
            consumer = client.consumer(TOPIC, group=GROUP, start="earliest")
            await consumer.open()
            running = asyncio.ensure_future(consumer.run(both.handle))
            assert _queues(consumer) == {0, 1, 2, 3}
            await both.send_and_receive(20)
            assert both.theirs() == []

            await asyncio.to_thread(java.subscribe, MEMBER, GROUP, TOPIC)
            await until(lambda: len(_queues(consumer)) == 2)
            await asyncio.to_thread(java.linger, 2)  # Java takes its queues half a second later
            await both.send_and_receive(200)
            assert len(both.theirs()) == 100

            await consumer.close()
            await running
            await asyncio.to_thread(java.linger, 2)
            ours = len(both.ours)
            await both.send_and_receive(40)
            assert len(both.ours) == ours

            again = client.consumer(TOPIC, group=GROUP, start="earliest")
            async with again:
                running = asyncio.ensure_future(again.run(both.handle))
                await asyncio.to_thread(java.linger, 2)
                await asyncio.to_thread(java.close, MEMBER)
                await until(lambda: len(_queues(again)) == 4)
                await both.send_and_receive(40)
            await running

    asyncio.run(asyncio.wait_for(test(), 150))
