from pathlib import Path

from aerobee.client.client import Client
from aerobee.client.consumer_options import ConsumerKeywords
from tests.client_kit import LocalCluster, with_cluster
from tests.consume_kit import Wire, bodies, take

POP: ConsumerKeywords = {"group": "g", "start": "earliest", "mode": "pop", "invisible": 5}


async def fill(client: Client, count: int) -> Wire:
    wire = Wire(client)
    await wire.make_topic("orders", 2)
    for number in range(count):
        await wire.send("orders", b"%d" % number, queue=number % 2)
    return wire


def test_popped_messages_are_acknowledged_one_by_one(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = await fill(client, 10)
            async with client.consumer("orders", **POP) as consumer:
                found = await take(consumer, 10)
                assert sorted(bodies(found)) == [b"%d" % number for number in range(10)]
                assert {str(message.queue) for message in found} == {
                    "orders@broker-a:0",
                    "orders@broker-a:1",
                }
            await wire.send("orders", b"new")
            async with client.consumer("orders", **POP) as consumer:
                (new,) = await take(consumer, 1)
                # The pop that the first consumer had left at the broker has given it back.
                assert (new.body, new.attempt) == (b"new", 1)

    with_cluster(tmp_path, test, reviveInterval="50")


def test_a_popped_message_that_failed_comes_again_after_its_delay(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(client, 1)
            async with client.consumer("orders", **POP) as consumer:
                first = await consumer.receive()
                await first.extend(5)
                await first.nack(delay=0.01)
                again = await consumer.receive()
                assert (again.body, again.attempt, again.topic) == (b"0", 2, "orders")
                await again.ack()

    with_cluster(tmp_path, test, reviveInterval="50")


def test_a_popped_message_becomes_a_dead_letter_after_its_attempts(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(client, 2)
            async with client.consumer(
                "orders", group="g", start="earliest", mode="pop", max_attempts=1
            ) as consumer:
                for _ in range(2):
                    async with (await consumer.receive()).process():
                        raise ValueError("no")
            async with client.consumer("%DLQ%g", group="look", start="earliest") as dead:
                assert sorted(bodies(await take(dead, 2))) == [b"0", b"1"]

    with_cluster(tmp_path, test)
