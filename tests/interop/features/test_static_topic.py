"""Static topics on three brokers, Apache's and ours: made, grown and moved by RocketMQ's tool and
by our admin client, used by the Java client and by ours.

Whatever tool and client: logical queues, their offsets and the offsets of groups are the same on
both makes.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from aerobee.client.admin.admin import admin
from aerobee.client.api.client_options import options_for
from aerobee.client.client import Client
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.interop import apache
from tests.interop.features.conftest import Programs, check_tools
from tests.interop.features.install import missing
from tests.interop.features.program import Event, Program
from tests.interop.features.servers import AerobeeServer, ApacheServer, Server, ServerProcess
from tests.interop.features.waiting import until
from tests.interop.mqadmin.admin import Admin
from tests.static_topic_program import PROGRAMS
from tests.static_topic_program import Program as StaticProgram
from tests.static_topic_program import run as run_program

TOPIC = "Ledger"
LOGICAL = "__syslo__global__"
BLOCK = 10_000
EACH = 5
MAKES = ["aerobee", "apache"]


class FurtherOurs(AerobeeServer):
    """One more broker, at the name server of the first."""

    def __init__(self, folder: Path, first: Server, name: str) -> None:
        self._first = first
        super().__init__(folder, {"brokerName": name})

    @property
    def name_server(self) -> str:
        return self._first.name_server

    def _start_name_server(self) -> ServerProcess:
        return _nothing(self._folder)


class FurtherApaches(ApacheServer):
    """The same of Apache's."""

    def __init__(self, folder: Path, first: Server, name: str) -> None:
        self._first = first
        super().__init__(folder, apache.install(), {"brokerName": name})

    @property
    def name_server(self) -> str:
        return self._first.name_server

    def _start_name_server(self) -> ServerProcess:
        return _nothing(self._folder)


def _nothing(folder: Path) -> ServerProcess:
    return ServerProcess("none", folder, ["sh", "-c", "echo ready; exec sleep 1000"], "ready")


@contextlib.contextmanager
def three_brokers(make: str, folder: Path) -> Iterator[str]:
    """The address of their name server."""
    check_tools("apache", apache.missing())
    with contextlib.ExitStack() as stack:
        first: Server
        if make == "aerobee":
            first = stack.enter_context(AerobeeServer(folder / "a"))
        else:
            first = stack.enter_context(ApacheServer(folder / "a", apache.install()))
        further = FurtherOurs if make == "aerobee" else FurtherApaches
        for name in ("b", "c"):
            stack.enter_context(further(folder / name, first, f"broker-{name}"))
        until(lambda: _brokers(first.name_server) == 3, 30, "three brokers are registered")
        yield first.name_server


def _brokers(name_server: str) -> int:
    async def ask() -> int:
        async with admin(name_server) as tool:
            return len((await tool.cluster()).brokers)

    return asyncio.run(ask())


class At:
    """A place of `Programs`: all that they are told is the name server."""

    def __init__(self, name_server: str) -> None:
        self.name_server = name_server


@contextlib.contextmanager
def java(name_server: str, folder: Path) -> Iterator[Program]:
    check_tools("java-5.5.0", missing("java-5.5.0"))
    programs = Programs("java-5.5.0", At(name_server), folder)  # type: ignore[arg-type]
    try:
        yield programs.start()
    finally:
        programs.end()


def sent_places(program: Program, first: int) -> set[tuple[int, int]]:
    """Send some messages to each of four queues; the queues and offsets that the answers say."""
    places = set()
    for shard in range(4):
        bodies = [f"{shard} {first + at}" for at in range(EACH)]
        for event in program.send("ordered", TOPIC, *bodies, shard=shard):
            places.add((int(event["queueId"]), int(event["queueOffset"])))
    return places


def places_of(events: Sequence[Event]) -> set[tuple[int, int, str]]:
    return {(int(one["queueId"]), int(one["queueOffset"]), str(one["body"])) for one in events}


def expected(start: int, first: int) -> set[tuple[int, int, str]]:
    return {(n, start + at, f"{n} {first + at}") for n in range(4) for at in range(EACH)}


@pytest.mark.java
@pytest.mark.parametrize("make", MAKES)
def test_mqadmin_makes_and_moves_a_topic_that_the_java_client_uses(
    make: str, tmp_path: Path
) -> None:
    with (
        three_brokers(make, tmp_path) as name_server,
        Admin(tmp_path / "tool", name_server) as tool,
    ):

        def mqadmin(*arguments: str) -> str:
            return tool.run([*arguments, "-n", name_server], 60).text

        made = mqadmin("updateStaticTopic", "-b", "broker-a", "-t", TOPIC, "-qn", "4")
        assert "The new mapping data is written to file" in made, made
        with java(name_server, tmp_path / "one") as program:
            assert sent_places(program, 0) == {(n, at) for n, at, _ in expected(0, 0)}
            program.subscribe("consumer", "group", TOPIC)
            found = program.receive("consumer", lambda events: len(events) >= 4 * EACH)
            assert places_of(found) == expected(0, 0)
            program.close_all()  # which commits how far it has come
        moved = mqadmin("remappingStaticTopic", "-b", "broker-b", "-t", TOPIC)
        assert "mapping data is written to file" in moved, moved
        with java(name_server, tmp_path / "two") as program:
            assert sent_places(program, EACH) == {(n, at) for n, at, _ in expected(BLOCK, EACH)}
            # Of the group's offsets, which the first broker has, nothing is read again.
            program.subscribe("consumer", "group", TOPIC)
            found = program.receive("consumer", lambda events: len(events) >= 4 * EACH)
            assert places_of(found) == expected(BLOCK, EACH)
            # A group that begins reads both brokers' messages, by logical offsets.
            program.subscribe("other", "new-group", TOPIC)
            found = program.receive("other", lambda events: len(events) >= 8 * EACH, 60)
            assert places_of(found) == expected(0, 0) | expected(BLOCK, EACH)
        status = mqadmin("topicStatus", "-t", TOPIC)
        rows = [line.split() for line in status.splitlines() if line.startswith(LOGICAL)]
        assert [row[1:4] for row in rows] == [[str(n), "0", str(BLOCK + EACH)] for n in range(4)]
        grown = mqadmin("updateStaticTopic", "-c", "DefaultCluster", "-t", TOPIC, "-qn", "6")
        assert "The new mapping data is written to file" in grown, grown
        status = mqadmin("topicStatus", "-t", TOPIC)
        rows = [line.split() for line in status.splitlines() if line.startswith(LOGICAL)]
        assert [row[1:4] for row in rows[4:]] == [["4", "0", "0"], ["5", "0", "0"]]


@pytest.mark.java
@pytest.mark.parametrize("make", MAKES)
def test_our_tools_make_and_move_a_topic_that_our_client_uses(make: str, tmp_path: Path) -> None:
    async def run(name_server: str) -> None:
        async with admin(name_server, timeout=20) as tool:
            await tool.topics.static.create(TOPIC, queues=4, on="broker-a")
            await _fill(name_server, 0)
            assert await _received(name_server, "group", 4 * EACH) == expected(0, 0)
            await tool.topics.static.move(TOPIC, on="broker-b")
            await _fill(name_server, EACH)
            later = expected(BLOCK, EACH)
            assert await _received(name_server, "group", 4 * EACH) == later
            assert await _received(name_server, "new", 8 * EACH) == expected(0, 0) | later
            for number in range(4):
                queue = MessageQueue(TOPIC, LOGICAL, QueueId(number))
                assert await tool.offsets.bounds(queue) == (0, BLOCK + EACH)
                assert await tool.offsets.committed("group", queue) == BLOCK + EACH
            await tool.topics.static.create(TOPIC, queues=6)
            stats = await tool.topics.stats(TOPIC)
            assert len(stats.logical) == 6

    with three_brokers(make, tmp_path) as name_server:
        asyncio.run(run(name_server))


async def _fill(name_server: str, first: int) -> None:
    async with Client(options_for(name_server, timeout=20)) as client:
        for number in range(4):
            queue = MessageQueue(TOPIC, LOGICAL, QueueId(number))
            for at in range(EACH):
                await client.send(TOPIC, f"{number} {first + at}", queue=queue)


async def _received(name_server: str, group: str, count: int) -> set[tuple[int, int, str]]:
    found = set()
    async with (
        Client(options_for(name_server, timeout=20)) as client,
        client.consumer(TOPIC, group=group, start="earliest") as consumer,
        asyncio.timeout(60),
    ):
        async for message in consumer:
            found.add((int(message.queue.queue_id), message.offset, message.body.decode()))
            await message.ack()
            if len(found) == count:
                return found
    return found


@pytest.fixture(scope="module")
def apaches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with three_brokers("apache", tmp_path_factory.mktemp("apaches")) as name_server:
        yield name_server


@pytest.mark.java
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_apaches_do_what_is_promised_here(program: StaticProgram, apaches: str) -> None:
    run_program(program, apaches)
