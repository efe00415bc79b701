from pathlib import Path

import pytest

from aerobee.client.group.group_requests import GroupRequests
from aerobee.client.pull.queue_pulls import PullOutcome, QueuePulls
from aerobee.errors import Retriable
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.heartbeat import ConsumerBeat
from aerobee.protocol.bodies.subscription import make_subscription
from tests.client_kit import LocalCluster, with_cluster
from tests.consume_kit import Wire

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))
WANTED = make_subscription("orders", "a")


def test_an_answer_is_messages_or_nothing_or_another_place(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire, session = Wire(client), client._session
            await wire.make_topic("orders", 1)
            await wire.send("orders", b"one", TAGS="a")
            await wire.send("orders", b"two", TAGS="b")
            await session.members.consume(ConsumerBeat("g", subscriptions=(WANTED,)))
            calls = GroupRequests(session, "g")
            pulls = QueuePulls(session, calls, QUEUE, WANTED, count=32, poll_seconds=0.01)
            found = await pulls.pull(0, None)
            assert (found.outcome, found.next_offset) == (PullOutcome.FOUND, 2)
            assert b"one" in found.records
            nothing = await pulls.pull(1, 1)
            assert (nothing.outcome, nothing.next_offset) == (PullOutcome.NOTHING, 2)
            assert await calls.committed(QUEUE) == 1
            moved = await pulls.pull(77, None)
            assert (moved.outcome, moved.next_offset) == (PullOutcome.MOVED, 2)
            await pulls.start_over()

    with_cluster(tmp_path, test)


def test_a_broker_that_does_not_know_us_yet_is_told(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            session = client._session
            await Wire(client).make_topic("orders", 1)
            pulls = QueuePulls(
                session, GroupRequests(session, "g"), QUEUE, WANTED, count=1, poll_seconds=0.01
            )
            with pytest.raises(Retriable):
                await pulls.pull(0, None)

    with_cluster(tmp_path, test)


def test_from_the_second_on_a_pull_takes_the_broker_s_short_way(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire, session = Wire(client), client._session
            await wire.make_topic("orders", 1)
            for _ in range(6):
                await wire.send("orders", b"one", TAGS="a")
            await session.members.consume(ConsumerBeat("g", subscriptions=(WANTED,)))
            pulls = QueuePulls(
                session, GroupRequests(session, "g"), QUEUE, WANTED, count=1, poll_seconds=0.01
            )
            before = cluster.short_pulls("broker-a")
            for offset in range(6):  # the first commits nothing and is another kind
                assert (await pulls.pull(offset, offset)).next_offset == offset + 1
            assert cluster.short_pulls("broker-a") - before == 4

    with_cluster(tmp_path, test)
