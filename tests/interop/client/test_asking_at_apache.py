"""Our client on Apache's broker, the rest of it: requests, broadcasts, SQL, pauses, spills."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

import aerobee as mq
from tests.consume_kit import bodies, take
from tests.interop.apache import Jars
from tests.interop.features.servers import ApacheServer

pytestmark = pytest.mark.java

Test = Callable[[mq.Client], Awaitable[None]]


@pytest.fixture(scope="module")
def server(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheServer]:
    with ApacheServer(tmp_path_factory.mktemp("apache"), jars) as started:
        yield started


def at(server: ApacheServer, topic: str, test: Test) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(90), mq.connect(server.name_server) as client:
            await client.admin.topics.create(topic, queues=2)
            await test(client)

    asyncio.run(bounded())


def test_a_request_is_replied_to(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        async with client.consumer("asked", group="asked-g", start="earliest") as consumer:
            waiting = asyncio.ensure_future(client.request("asked", b"2 + 2", timeout=30))
            message = await consumer.receive()
            await message.reply(b"4")
            await message.ack()
            assert (await waiting).body == b"4"

    at(server, "asked", test)


def test_every_member_of_a_broadcast_gets_everything(server: ApacheServer, tmp_path: Path) -> None:
    async def test(client: mq.Client) -> None:
        sent = [b"%d" % number for number in range(6)]
        for body in sent:
            await client.send("told", body)
        for name in ("one", "two"):
            async with client.consumer(
                "told",
                group="told-g",
                start="earliest",
                model="broadcasting",
                offsets_folder=tmp_path / name,
            ) as consumer:
                assert sorted(bodies(await take(consumer, 6))) == sent

    at(server, "told", test)


def test_sql_chooses_and_a_wrong_expression_is_refused(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        for number in range(6):
            await client.send("chosen", b"%d" % number, headers={"n": str(number)})
        async with client.consumer(
            "chosen", group="chosen-g", start="earliest", sql="n >= 4"
        ) as consumer:
            assert sorted(bodies(await take(consumer, 2))) == [b"4", b"5"]
        with pytest.raises(mq.AerobeeError):
            async with client.consumer("chosen", group="wrong-g", sql="n >=>= 4"):
                pass

    at(server, "chosen", test)


def test_a_paused_queue_brings_nothing_until_it_goes_on(server: ApacheServer) -> None:
    async def test(client: mq.Client) -> None:
        async with client.reader("paused", start="earliest") as reader:
            reader.pause(*reader.queues)
            await client.send("paused", b"later")
            assert await reader.read(1, timeout=1) == []
            reader.resume(*reader.queues)
            assert bodies(await reader.read(1, timeout=30)) == [b"later"]

    at(server, "paused", test)


def test_sends_are_kept_while_the_broker_is_gone_and_go_out_in_order(
    server: ApacheServer, tmp_path: Path
) -> None:
    async def test(client: mq.Client) -> None:
        await client.send("kept", b"first", order_by="k")
        async with client.spill(str(tmp_path / "kept.db")) as spill:
            await asyncio.to_thread(server.kill_broker)
            for number in range(3):
                await spill.send("kept", b"%d" % number, order_by="k")
            await asyncio.to_thread(server.start_broker)
            async with client.consumer("kept", group="kept-g", start="earliest") as consumer:
                found = bodies(await take(consumer, 4))
        assert found == [b"first", b"0", b"1", b"2"]

    at(server, "kept", test)
