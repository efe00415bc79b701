"""Our ways to send on Apache's broker, each seen to arrive as it was meant."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import aerobee as mq
from aerobee.errors import AerobeeError
from tests.consume_kit import bodies, take
from tests.interop.apache import Jars
from tests.interop.features.servers import ApacheServer

pytestmark = pytest.mark.java

Test = Callable[[mq.Client], Awaitable[None]]


@pytest.fixture(scope="module")
def server(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheServer]:
    folder: Path = tmp_path_factory.mktemp("apache")
    with ApacheServer(folder, jars) as started:
        yield started


def at(server: ApacheServer, topic: str, test: Test, *, queues: int = 4) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(90), mq.connect(server.name_server) as client:
            await client.admin.topics.create(topic, queues=queues)
            await test(client)

    asyncio.run(bounded())


def test_single_messages_and_batches_arrive_with_all_that_was_said(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        receipts = [
            await client.send("single", {"n": n}, tag="a", keys=["k"], headers={"h": "v"})
            for n in range(8)
        ]
        assert len({receipt.message_id for receipt in receipts}) == 8
        await client.send_batch("single", [b"b1", b"b2"])
        await client.send_oneway("single", b"o")
        async with client.consumer("single", group="single-g", start="earliest") as consumer:
            found = await take(consumer, 11)
        first = next(one for one in found if one.tag == "a")
        assert (first.keys, first.headers["h"]) == (("k",), "v")
        assert {b"b1", b"b2", b"o"} <= set(bodies(found))

    at(server, "single", test)


def test_messages_with_one_key_keep_their_order(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        for number in range(20):
            await client.send("ordered", b"%d" % number, order_by=f"user-{number % 2}")
        async with client.consumer(
            "ordered", group="ordered-g", start="earliest", order="queue"
        ) as consumer:
            found = [int(body) for body in bodies(await take(consumer, 20))]
        assert [n for n in found if n % 2] == list(range(1, 20, 2))
        assert [n for n in found if not n % 2] == list(range(0, 20, 2))

    at(server, "ordered", test)


def test_a_large_body_travels_compressed_and_arrives_whole(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        body = b"compress me " * 5_000
        await client.send("large", body)
        async with client.consumer("large", group="large-g", start="earliest") as consumer:
            assert bodies(await take(consumer, 1)) == [body]

    at(server, "large", test)


def test_a_delayed_message_comes_later(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        loop = asyncio.get_running_loop()
        async with client.consumer("later", group="later-g", start="earliest") as consumer:
            sent = loop.time()
            await client.send("later", b"x", delay=timedelta(seconds=2))
            assert bodies(await take(consumer, 1)) == [b"x"]
            assert loop.time() - sent >= 1.9

    at(server, "later", test)


def test_a_producer_gathers_batches(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        async with client.producer("gathered", linger=0.002, max_batch=64) as producer:
            for number in range(500):
                producer.send_nowait(b"%d" % number)
            await producer.drain()
        async with client.consumer("gathered", group="gathered-g", start="earliest") as consumer:
            found = bodies(await take(consumer, 500))
        assert sorted(map(int, found)) == list(range(500))

    at(server, "gathered", test)


def test_a_transaction_is_seen_when_it_is_committed_and_never_if_it_failed(
    server: ApacheServer,
) -> None:
    async def test(client: mq.Client) -> None:
        async def unknown(message: mq.Message) -> bool:
            return False

        async with client.transaction("money", b"kept", check=unknown, group="money-p"):
            pass
        with pytest.raises(ValueError, match="no money"):
            async with client.transaction("money", b"gone", check=unknown, group="money-p"):
                raise ValueError("no money")
        await client.send("money", b"after")
        async with client.consumer("money", group="money-g", start="earliest") as consumer:
            assert sorted(bodies(await take(consumer, 2))) == [b"after", b"kept"]

    at(server, "money", test)


def test_sends_that_are_stored_once_are_refused_with_the_reason(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        with pytest.raises(AerobeeError) as caught:
            await client.send("once", b"x", dedup="producer-1")
        assert caught.value.hint or "Aerobee" in caught.value.message
        stats = await client.admin.topics.stats("once")
        assert sum(one.max_offset for one in stats.queues.values()) == 0

    at(server, "once", test)
