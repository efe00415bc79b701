import asyncio
from pathlib import Path

import pytest

from aerobee.client.api.consumer_options import ConsumerKeywords
from aerobee.client.api.message import Message
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.client_kit import LocalCluster, until, with_cluster
from tests.consume_kit import Wire

POP: ConsumerKeywords = {"group": "g", "start": "earliest", "mode": "pop"}


def test_members_that_pop_share_every_queue(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        found: list[bytes] = []

        async def handle(message: Message) -> None:
            found.append(message.body)

        async with cluster.client() as client, cluster.client() as other:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            async with (
                client.consumer("orders", **POP) as one,
                other.consumer("orders", **POP) as two,
            ):
                running = [asyncio.ensure_future(c.run(handle)) for c in (one, two)]
                for number in range(30):
                    await wire.send("orders", b"%d" % number)
                await until(lambda: len(found) == 30)
                assert len(set(found)) == 30
                assert one.queues == ()
                with pytest.raises(Misuse, match="is not read here"):
                    await one.seek(1, queue=MessageQueue("orders", "broker-a", QueueId(0)))
            await asyncio.gather(*running)

    with_cluster(tmp_path, test)


def test_a_topic_that_is_made_later_is_popped(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            async with client.consumer(
                "orders", group="g", start="earliest", mode="pop", rebalance_every=0.05
            ) as consumer:
                await wire.make_topic("orders", 1)
                await wire.send("orders", b"x")
                message = await consumer.receive()
                assert message.body == b"x"
                await message.ack()

    with_cluster(tmp_path, test)
