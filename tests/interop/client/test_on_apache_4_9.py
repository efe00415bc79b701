"""Our client on Apache's RocketMQ 4.9: what it has, and what is said of what it has not."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest

import aerobee as mq
from aerobee.client.core.consume.backoff import Backoff
from aerobee.errors import AerobeeError
from tests.client_kit import until
from tests.consume_kit import bodies, take
from tests.interop.apache import Jars
from tests.interop.features.servers import ApacheServer

pytestmark = pytest.mark.java

Test = Callable[[mq.Client], Awaitable[None]]


@pytest.fixture(scope="module")
def server(jars_4_9: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheServer]:
    folder = tmp_path_factory.mktemp("apache49")
    (folder / "conf").mkdir()
    for name in ("namesrv", "broker"):  # it does not start without
        (folder / "conf" / f"logback_{name}.xml").write_text("<configuration/>")
    with ApacheServer(folder, jars_4_9) as started:
        started.wait_for_figures()
        yield started


def at(server: ApacheServer, topic: str, test: Test) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(90), mq.connect(server.name_server) as client:
            await client.admin.topics.create(topic, queues=4)
            await test(client)

    asyncio.run(bounded())


def test_it_is_what_it_says(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        (told,) = (await client.admin.brokers.runtime()).values()
        assert told.version == "V4_9_7"

    at(server, "self", test)


def test_every_way_of_sending_arrives(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        await client.send("sent", b"single", tag="a", keys=["k"], headers={"h": "v"})
        await client.send_batch("sent", [b"b1", b"b2"])
        await client.send_oneway("sent", b"oneway")
        await client.send("sent", b"x" * 20_000)  # travels compressed
        async with client.producer("sent") as producer:
            producer.send_nowait(b"lingering")
        async with client.consumer("sent", group="sent-g", start="earliest") as consumer:
            found = await take(consumer, 6)
        assert sorted(bodies(found)) == sorted(
            [b"single", b"b1", b"b2", b"oneway", b"x" * 20_000, b"lingering"]
        )
        (single,) = [one for one in found if one.body == b"single"]
        assert (single.tag, single.keys, single.headers["h"]) == ("a", ("k",), "v")

    at(server, "sent", test)


def test_a_message_that_failed_comes_again_and_then_is_dead(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        attempts: list[int] = []

        async def handle(message: mq.Message) -> None:
            attempts.append(message.attempt)
            raise ValueError("never")

        await client.send("failing", b"poison")
        async with client.consumer(
            "failing", group="failing-g", start="earliest", max_attempts=2, retry=Backoff(1, 1)
        ) as consumer:
            running = asyncio.ensure_future(consumer.run(handle))
            await until(lambda: len(attempts) == 2)
            dead: list[bytes] = []
            while not dead:
                dead = [one.body async for one in client.admin.dead_letters.of("failing-g")]
        await running
        assert (attempts, dead) == ([1, 2], [b"poison"])

    at(server, "failing", test)


def test_order_is_kept_and_tags_choose(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        for number in range(20):
            await client.send(
                "ordered", b"%d" % number, order_by=f"k{number % 2}", tag="ab"[number % 2]
            )
        async with client.consumer(
            "ordered", group="ordered-g", start="earliest", order="queue"
        ) as consumer:
            found = [int(body) for body in bodies(await take(consumer, 20))]
        assert [n for n in found if n % 2] == list(range(1, 20, 2))
        async with client.consumer(
            "ordered", group="tags-g", start="earliest", tags="b"
        ) as consumer:
            chosen = [int(body) for body in bodies(await take(consumer, 10))]
        assert chosen == list(range(1, 20, 2))

    at(server, "ordered", test)


def test_a_delay_becomes_a_level_and_an_exact_time_is_refused(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        await client.send("later", b"level", delay=1)
        with pytest.raises(AerobeeError, match="5") as refused:
            await client.send("later", b"exact", delay=17)
        assert refused.value.hint
        async with client.consumer("later", group="later-g", start="earliest") as consumer:
            assert bodies(await take(consumer, 1)) == [b"level"]

    at(server, "later", test)


def test_transactions_are_committed_rolled_back_and_checked(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        async def check(message: mq.Message) -> bool:
            return message.body == b"checked"

        async with client.transaction("traded", b"committed", group="traders", check=check):
            pass
        with pytest.raises(ValueError, match="no"):
            async with client.transaction("traded", b"rolled back", group="traders"):
                raise ValueError("no")
        async with client.transaction("traded", b"checked", group="traders") as transaction:
            transaction.leave_open()
        async with client.consumer("traded", group="traded-g", start="earliest") as consumer:
            found = await take(consumer, 2)
        assert sorted(bodies(found)) == [b"checked", b"committed"]

    at(server, "traded", test)
