"""Our consumers on Apache's broker: every way to consume that it has."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest

from aerobee.client.api.message import Message
from aerobee.client.client import Client, connect
from aerobee.client.core.consume.backoff import Backoff
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.client_kit import until
from tests.consume_kit import bodies, take
from tests.interop.apache import Jars
from tests.interop.features.ground import QUEUES, Ground
from tests.interop.features.servers import ApacheServer

pytestmark = pytest.mark.java

Test = Callable[[Client], Awaitable[None]]


@pytest.fixture(scope="module")
def server(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheServer]:
    with ApacheServer(tmp_path_factory.mktemp("apache"), jars) as started:
        yield started


@pytest.fixture
def ground(server: ApacheServer) -> Ground:
    return Ground(server)


def run(server: ApacheServer, test: Test) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(90), connect(server.name_server) as client:
            await test(client)

    asyncio.run(bounded())


def fill(ground: Ground, topic: str, count: int, **properties: str) -> list[bytes]:
    ground.create_topic(topic)
    for number in range(count):
        ground.send(topic, number % QUEUES, str(number), **properties)
    return [b"%d" % number for number in range(count)]


def test_messages_come_once_and_a_second_member_takes_its_share(
    server: ApacheServer, ground: Ground
) -> None:
    sent = fill(ground, "plain", 40, TAGS="a", mine="x")

    async def test(client: Client) -> None:
        async with client.consumer("plain", group="plain-g", start="earliest") as consumer:
            found = await take(consumer, 40)
            assert sorted(bodies(found)) == sorted(sent)
            assert {(m.tag, m.headers["mine"], m.attempt) for m in found} == {("a", "x", 1)}
            async with connect(server.name_server) as other:
                async with other.consumer("plain", group="plain-g", start="earliest") as second:
                    await until(lambda: _count(consumer.queues) == _count(second.queues) == 2)
                await until(lambda: _count(consumer.queues) == 4)
        await asyncio.to_thread(ground.send, "plain", 0, "later")
        async with client.consumer("plain", group="plain-g", start="earliest") as consumer:
            assert bodies(await take(consumer, 1)) == [b"later"]

    run(server, test)


def _count(queues: tuple[MessageQueue, ...]) -> int:
    return len([queue for queue in queues if queue.topic == "plain"])


def test_a_failed_message_comes_again_and_ends_as_a_dead_letter(
    server: ApacheServer, ground: Ground
) -> None:
    ground.create_group("retry-g", 16)
    fill(ground, "retry", 1)

    async def test(client: Client) -> None:
        attempts = []
        async with client.consumer(
            "retry", group="retry-g", start="earliest", retry=Backoff(0, 0), max_attempts=2
        ) as consumer:
            async for message in consumer:
                attempts.append((message.topic, message.attempt))
                async with message.process():
                    raise ValueError("no")
                if len(attempts) == 2:
                    break
        assert attempts == [("retry", 1), ("retry", 2)]
        async with client.reader("%DLQ%retry-g", start="earliest") as dead:
            assert bodies(await dead.read(1, timeout=30)) == [b"0"]

    run(server, test)


def test_order_is_kept_where_it_is_wanted(server: ApacheServer, ground: Ground) -> None:
    fill(ground, "ordered", 20)

    async def test(client: Client) -> None:
        seen: dict[MessageQueue, list[int]] = {}

        async def handle(message: Message) -> None:
            if message.body == b"8" and message.attempt == 1:
                raise ValueError("not yet")
            seen.setdefault(message.queue, []).append(int(message.body))

        async with client.consumer(
            "ordered", group="ordered-g", start="earliest", order="queue", retry=Backoff(0.1, 1)
        ) as consumer:
            running = asyncio.ensure_future(consumer.run(handle))
            await until(lambda: sum(map(len, seen.values())) == 20)
        await running
        assert all(found == sorted(found) for found in seen.values())

    run(server, test)


def test_messages_are_popped_and_acknowledged(
    server: ApacheServer, ground: Ground, caplog: pytest.LogCaptureFixture
) -> None:
    sent = fill(ground, "popped", 10)

    async def test(client: Client) -> None:
        async with client.consumer(
            "popped", group="popped-g", start="earliest", mode="pop"
        ) as consumer:
            found = [await consumer.receive() for _ in range(10)]
            assert sorted(bodies(found)) == sorted(sent)
            await found[0].extend(30)
            await found[0].nack(delay=1)
            await asyncio.gather(*(message.ack() for message in found[1:]))
            again = await consumer.receive()
            assert (again.body, again.attempt) == (found[0].body, 2)
            await again.ack()

    run(server, test)
    assert "may come again" not in caplog.text


def test_a_reader_seeks_and_a_filter_chooses(server: ApacheServer, ground: Ground) -> None:
    fill(ground, "read", 8, amount="5")
    ground.send("read", 0, "big", amount="500")

    async def test(client: Client) -> None:
        queue = MessageQueue("read", "broker-a", QueueId(0))
        async with client.reader("read", start="earliest") as reader:
            await reader.assign([queue])
            assert bodies(await reader.read(2, timeout=30)) == [b"0", b"4"]
            await reader.seek(1)
            assert bodies(await reader.read(1, timeout=30)) == [b"4"]
        async with client.consumer(
            "read", group="read-g", sql="amount > 100", start="earliest"
        ) as consumer:
            assert bodies(await take(consumer, 1)) == [b"big"]

    run(server, test)
