import asyncio
from pathlib import Path

import pytest

from aerobee.client.api.consumer_options import ConsumerKeywords
from aerobee.client.core.consume.popped_runs import PopRun
from aerobee.client.pop.pop_acks import PopAcks
from aerobee.protocol.consume.pop_receipt import PopReceipt
from aerobee.testing import Cluster
from tests.client_kit import LocalCluster, session_of, with_cluster
from tests.net_kit import in_loop

POP: ConsumerKeywords = {"group": "g", "start": "earliest", "mode": "pop", "invisible": 60}
AUTO: ConsumerKeywords = {**POP, "auto_ack": True}


async def fill(cluster: Cluster, count: int) -> None:
    await cluster.client.admin.topics.create("orders", queues=2)
    for number in range(count):
        await cluster.client.send("orders", b"%d" % number)


async def popped_again(cluster: Cluster) -> list[bytes]:
    """What comes when nothing is hidden any longer, up to something new."""
    cluster.clock.advance(100)
    found: list[bytes] = []
    async with cluster.client.consumer("orders", **POP) as consumer:
        await cluster.client.send("orders", b"new")
        while b"new" not in found:
            message = await consumer.receive()
            found.append(message.body)
            await message.ack()
    return found


def test_all_of_one_turn_are_acknowledged_and_no_others() -> None:
    async def test() -> None:
        async with Cluster(settings={"reviveInterval": "50"}) as cluster:
            await fill(cluster, 6)
            async with cluster.client.consumer("orders", **POP) as consumer:
                found = [await consumer.receive() for _ in range(6)]
                await asyncio.gather(*(one.ack() for one in found if one.body != b"3"))
                cluster.clock.advance(100)
                again = await consumer.receive()
                assert (again.body, again.attempt) == (b"3", 2)
                await asyncio.gather(*(one.ack() for one in (again, *found)))
            assert await popped_again(cluster) == [b"new"]

    in_loop(test)


def test_messages_of_one_run_may_be_acknowledged_turn_by_turn() -> None:
    async def test() -> None:
        async with Cluster(settings={"reviveInterval": "50"}) as cluster:
            await fill(cluster, 8)
            async with cluster.client.consumer("orders", **POP) as consumer:
                found = [await consumer.receive() for _ in range(8)]
                for one in found[:4]:
                    await one.ack()
                for pair in (found[4:6], found[6:]):
                    await asyncio.gather(*(one.ack() for one in pair))
            assert await popped_again(cluster) == [b"new"]

    in_loop(test)


def test_retried_messages_are_acknowledged_together_too() -> None:
    async def test() -> None:
        async with Cluster(settings={"reviveInterval": "50"}) as cluster:
            await fill(cluster, 4)
            async with cluster.client.consumer("orders", **POP) as consumer:
                for _ in range(4):
                    await (await consumer.receive()).nack(delay=1)
                cluster.clock.advance(3)
                again = [await consumer.receive() for _ in range(4)]
                assert {one.attempt for one in again} == {2}
                await asyncio.gather(*(one.ack() for one in again))
            assert await popped_again(cluster) == [b"new"]

    in_loop(test)


def test_what_was_taken_last_is_acknowledged_before_a_consumer_leaves() -> None:
    async def test() -> None:
        async with Cluster(settings={"reviveInterval": "50"}) as cluster:
            await fill(cluster, 5)
            async with (
                cluster.connect() as client,
                client.consumer("orders", **AUTO) as consumer,
            ):
                taken = 0
                async for _ in consumer:
                    taken += 1
                    if taken == 5:
                        break
            assert await popped_again(cluster) == [b"new"]

    in_loop(test)


def test_a_broker_that_is_gone_is_said_and_nobody_waits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:

            async def nowhere() -> str:
                return "127.0.0.1:1"

            acks = PopAcks(session_of(client), "g", "orders", "broker-a", nowhere)
            acks.add_one(PopReceipt(0, 1, 1000, 0, "0", "broker-a", 0, 0))
            first = acks.sent
            acks.add(PopRun(0, 1, 1000, 0, "0", 0), 1)
            assert acks.sent is first
            await acks.finish()
            assert first is not None
            assert first.done()
        assert "2 messages of orders were handled, and may come again" in caplog.text

    with_cluster(tmp_path, test)
