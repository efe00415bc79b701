import asyncio
from pathlib import Path
from typing import Literal

import pytest

from aerobee.client.api.message import Message
from aerobee.client.client import Client
from aerobee.errors import Misuse, RequestTimeout, SendFailed
from tests.client_kit import LocalCluster, bodies_of, with_cluster


def test_whoever_asks_gets_the_reply_to_its_own_request(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, cluster.client() as server:
            await client.send("prices", b"no request")
            with pytest.raises(RequestTimeout, match="nobody has replied"):
                await client.request("prices", b"too early", timeout=2)
            serving = asyncio.create_task(serve_all(server))
            replies = await asyncio.gather(
                *(client.request("prices", f"acme {n}", timeout=60) for n in range(20))
            )
            assert [reply.body for reply in replies] == [f"ACME {n}".encode() for n in range(20)]
            serving.cancel()
            assert len(await bodies_of(client, "prices")) == 22

    async def serve_all(server: Client) -> None:
        async with server.consumer("prices", group="g", start="earliest") as consumer:
            async for message in consumer:
                if message.body.startswith(b"acme"):
                    await server.reply(message, message.body.upper())
                elif message.body == b"no request":
                    with pytest.raises(Misuse, match="asks for no reply"):
                        await server.reply(message, b"x")
                else:
                    with pytest.raises(SendFailed, match="push reply message fail"):
                        await server.reply(message, b"late")
                await message.ack()

    with_cluster(tmp_path, test)


def test_a_request_that_is_given_up_waits_for_nothing(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            asking = asyncio.create_task(client.request("prices", b"x", timeout=60))
            while not await sent(client):
                pass
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert not client._special.requests._waiting

    async def sent(client: Client) -> bool:
        await client.send("other", b"so that there is a route")
        try:
            return bool(await bodies_of(client, "prices"))
        except Exception:
            return False

    with_cluster(tmp_path, test)


@pytest.mark.parametrize("mode", ["pull", "pop"])
def test_a_message_is_replied_to_where_it_is_in_hand(
    tmp_path: Path, mode: Literal["pull", "pop"]
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, cluster.client() as server:
            await client.admin.topics.create("prices", queues=1)

            async def handle(message: Message) -> None:
                await message.reply({"price": len(message.body)})

            async with server.consumer("prices", group="g", mode=mode, start="earliest") as one:
                serving = asyncio.create_task(one.run(handle))
                reply = await client.request("prices", b"acme", timeout=60)
            await serving
            assert reply.json() == {"price": 4}

    with_cluster(tmp_path, test)
