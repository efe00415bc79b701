"""Static topics on three brokers, over sockets: logical queues keep their numbers, their order and
their offsets while they are made, grown and moved; `tests/static_topic_program.py` moves them under
traffic.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from aerobee.client.admin.admin import Admin, admin
from aerobee.client.client import Client
from aerobee.errors import Misuse
from aerobee.model.mapping_plan import BLOCK_OFFSETS
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.net_kit import in_loop

TOPIC = "Ledger"
LOGICAL = "__syslo__global__"


def queue_of(number: int) -> MessageQueue:
    return MessageQueue(TOPIC, LOGICAL, QueueId(number))


@asynccontextmanager
async def cluster_of_three() -> AsyncIterator[tuple[Cluster, Admin]]:
    async with (
        Cluster(brokers=3) as cluster,
        admin(cluster.address, timeout=60, connect_timeout=60) as tool,
    ):
        yield cluster, tool


async def fill(client: Client, queues: int, start: int, end: int) -> None:
    """Send the messages `start` to `end` to each logical queue."""
    for number in range(queues):
        for at in range(start, end):
            receipt = await client.send(TOPIC, b"%d %d" % (number, at), queue=queue_of(number))
            assert receipt.queue == queue_of(number)


async def bounds(tool: Admin, queues: int) -> list[tuple[int, int]]:
    return [await tool.offsets.bounds(queue_of(number)) for number in range(queues)]


async def received(client: Client, group: str, count: int) -> dict[int, list[tuple[int, bytes]]]:
    """The offsets and bodies by logical queue, of so many messages of the group."""
    found: dict[int, list[tuple[int, bytes]]] = {}
    async with client.consumer(TOPIC, group=group, start="earliest") as consumer:
        for _ in range(count):
            message = await asyncio.wait_for(anext(aiter(consumer)), 30)
            assert message.queue.broker_name == LOGICAL
            found.setdefault(message.queue.queue_id, []).append((message.offset, message.body))
            await message.ack()
    return found


def parts(number: int, *starts: int, each: int) -> list[tuple[int, bytes]]:
    """The messages of a queue whose parts begin at these offsets."""
    return [
        (start + at, b"%d %d" % (number, part * each + at))
        for part, start in enumerate(starts)
        for at in range(each)
    ]


@pytest.mark.parametrize("on", [None, ("broker-a", "broker-c"), "DefaultCluster"])
def test_a_static_topic_has_its_queues_whatever_brokers_it_is_made_on(
    on: str | Sequence[str] | None,
) -> None:
    async def run() -> None:
        async with cluster_of_three() as (cluster, tool):
            plan = await tool.topics.static.create(TOPIC, queues=7, on=on)
            assert set(plan.brokers) == {"broker-a", "broker-b", "broker-c"}
            assert plan == await tool.topics.static.apply(plan)  # once more changes nothing
            holders = {name for name, one in plan.brokers.items() if one.mapping.hosted}
            assert holders == (
                {"broker-a", "broker-c"} if isinstance(on, tuple) else set(plan.brokers)
            )
            await fill(cluster.client, 7, 0, 5)
            assert await bounds(tool, 7) == [(0, 5)] * 7
            found = await received(cluster.client, "g", 35)
            assert found == {number: parts(number, 0, each=5) for number in range(7)}
            stats = await tool.topics.stats(TOPIC)
            logical = {queue.queue_id: one[:2] for queue, one in stats.logical.items()}
            assert logical == dict.fromkeys(range(7), (0, 5))

    in_loop(run)


def test_a_topic_that_grows_keeps_its_queues() -> None:
    async def run() -> None:
        async with cluster_of_three() as (cluster, tool):
            await tool.topics.static.create(TOPIC, queues=2, on="broker-b")
            await fill(cluster.client, 2, 0, 4)
            await tool.topics.static.create(TOPIC, queues=6)
            async with cluster.connect() as client:
                await fill(client, 6, 4, 6)
                assert await bounds(tool, 6) == [(0, 6)] * 2 + [(0, 2)] * 4
            with pytest.raises(Misuse, match="Cannot decrease"):
                await tool.topics.static.create(TOPIC, queues=3)
            with pytest.raises(Misuse, match="do nothing"):
                await tool.topics.static.create(TOPIC, queues=6)

    in_loop(run)


def test_queues_that_were_moved_go_on_with_the_same_numbers_and_a_gap_of_offsets() -> None:
    async def run() -> None:
        async with cluster_of_three() as (cluster, tool):
            await tool.topics.static.create(TOPIC, queues=3, on="broker-a")
            await fill(cluster.client, 3, 0, 10)
            before = datetime.now(UTC)
            await tool.topics.static.move(TOPIC, on="broker-b")
            await fill(cluster.client, 3, 10, 20)
            await tool.topics.static.move(TOPIC, on="broker-c")
            await fill(cluster.client, 3, 20, 30)
            assert await bounds(tool, 3) == [(0, 2 * BLOCK_OFFSETS + 10)] * 3
            starts = (0, BLOCK_OFFSETS, 2 * BLOCK_OFFSETS)
            found = await received(cluster.client, "g", 90)
            assert found == {number: parts(number, *starts, each=10) for number in range(3)}
            # By time, a message that a broker has which led the queue before.
            assert await tool.offsets.at_time(queue_of(1), before) == BLOCK_OFFSETS
            assert await tool.offsets.at_time(queue_of(1), "earliest") == 0
            assert await tool.offsets.earliest_ms(queue_of(1)) <= before.timestamp() * 1000
            browsed = [one.queue_offset async for one in tool.queues.read(queue_of(2), start=0)]
            assert browsed == [offset for offset, _ in parts(2, *starts, each=10)]

    in_loop(run)


def test_a_groups_offset_is_found_on_the_broker_that_had_the_queue_before() -> None:
    async def run() -> None:
        async with cluster_of_three() as (cluster, tool):
            await tool.topics.static.create(TOPIC, queues=2, on="broker-a")
            await fill(cluster.client, 2, 0, 10)
            assert len(await received(cluster.client, "g", 20)) == 2
            await tool.topics.static.move(TOPIC, on="broker-b")
            assert [await tool.offsets.committed("g", queue_of(n)) for n in (0, 1)] == [10, 10]
            progress = await tool.groups.progress("g", topic=TOPIC)
            assert {queue: one.consumer_offset for queue, one in progress.queues.items()} == {
                queue_of(0): 10,
                queue_of(1): 10,
            }
            await fill(cluster.client, 2, 10, 12)
            found = await received(cluster.client, "g", 4)
            new = [(BLOCK_OFFSETS, b"0 10"), (BLOCK_OFFSETS + 1, b"0 11")]
            assert found[0] == new
            committed = [await tool.offsets.committed("g", queue_of(n)) for n in (0, 1)]
            assert committed == [BLOCK_OFFSETS + 2] * 2
            # A commit of an older offset goes to the older part, and does not hide the newer one.
            await tool.offsets.commit("h", queue_of(0), 7)
            assert await tool.offsets.committed("h", queue_of(0)) == 7
            await tool.offsets.commit("h", queue_of(0), BLOCK_OFFSETS + 1)
            assert await tool.offsets.committed("h", queue_of(0)) == BLOCK_OFFSETS + 1

    in_loop(run)


def test_a_message_that_failed_comes_again_whatever_broker_had_it() -> None:
    async def run() -> None:
        async with cluster_of_three() as (cluster, tool):
            await tool.topics.static.create(TOPIC, queues=1, on="broker-a")
            await fill(cluster.client, 1, 0, 2)
            await tool.topics.static.move(TOPIC, on="broker-b")
            await fill(cluster.client, 1, 2, 3)
            seen: list[tuple[bytes, int]] = []
            async with cluster.client.consumer(TOPIC, group="g", start="earliest") as consumer:
                async for message in consumer:
                    seen.append((message.body, message.attempt))
                    if message.attempt == 1:
                        await message.nack(delay=1)
                    else:
                        await message.ack()
                    if len(seen) == 3:
                        cluster.clock.advance(5)
                    if len(seen) == 6:
                        break
            assert sorted(seen) == [
                (b"0 %d" % at, attempt) for at in range(3) for attempt in (1, 2)
            ]

    in_loop(run)


def test_a_topic_that_is_ordinary_is_not_made_static() -> None:
    async def run() -> None:
        async with cluster_of_three() as (_, tool):
            await tool.topics.create(TOPIC, on="broker-a")
            with pytest.raises(Misuse, match="ordinary topic"):
                await tool.topics.static.create(TOPIC, queues=3)

    in_loop(run)
