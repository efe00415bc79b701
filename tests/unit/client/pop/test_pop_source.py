import asyncio
from pathlib import Path

import pytest

from aerobee.client.api.consumer_options import ConsumerKeywords
from aerobee.client.client import Client
from aerobee.client.consumer.consumer import Consumer
from aerobee.client.pop.pop_member import PopMember
from aerobee.client.pop.pop_source import BATCH, BESIDE_MAX, HELD_MAX, PopSource
from tests.client_kit import LocalCluster, turn, until, with_cluster
from tests.consume_kit import Wire, bodies, take

POP: ConsumerKeywords = {"group": "g", "start": "earliest", "mode": "pop", "invisible": 60}


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
                await first.extend(60)
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


def test_several_pops_are_on_their_way_while_there_is_much_and_no_more_than_may_be(
    tmp_path: Path,
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.admin.topics.create("orders", queues=1)
            for _ in range(5):
                await client.send_batch("orders", [b"%d" % number for number in range(100)])
            many: ConsumerKeywords = {**POP, "concurrency": HELD_MAX - BATCH, "auto_ack": True}
            async with client.consumer("orders", **many) as consumer:
                source = _source(consumer)
                await until(lambda: source._desk.held == HELD_MAX)
                assert source._under_way == 0
                assert source._beside == 0
                pops, held = [0], [0]

                async def look() -> None:
                    while True:
                        pops.append(source._under_way)
                        held.append(source._desk.held + BATCH * source._under_way)
                        await turn()

                client._session.spawn(look(), "looking")
                seen = 0
                async for _ in consumer:
                    seen += 1
                    if seen == 500:
                        break
                assert 1 < max(pops) <= BESIDE_MAX + 1
                assert max(held) < HELD_MAX + BATCH
                await until(lambda: source._under_way == 1)  # one waits for what is new

    with_cluster(tmp_path, test)


def test_what_was_not_handed_out_in_time_is_left_to_others(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.admin.topics.create("orders", queues=1)
            await client.send_batch("orders", [b"0", b"1", b"2"])
            single: ConsumerKeywords = {**POP, "concurrency": 1}
            async with client.consumer("orders", **single) as consumer:
                taken = await consumer.receive()
                source = _source(consumer)
                assert source._timer is not None
                ((due, batch),) = source._expiring
                assert due - asyncio.get_running_loop().time() == pytest.approx(60, abs=30)
                source._expire()
                assert (source._desk.held, len(consumer._inbox)) == (3, 2)  # it is not time yet
                source._expiring[0] = (0.0, batch)
                source._expire()
                assert (source._desk.held, len(consumer._inbox), batch.left) == (1, 0, 1)
                assert source._timer is None
                await taken.ack()
                assert source._desk.held == 0

    with_cluster(tmp_path, test)


def _source(consumer: Consumer) -> PopSource:
    member = consumer._member
    assert isinstance(member, PopMember)
    (source,) = member._sources.values()
    return source
