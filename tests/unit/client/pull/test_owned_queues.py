from pathlib import Path

import pytest

from aerobee.client.api.consumer_options import consumer_options
from aerobee.client.group.consumer_context import consumer_context, subscriptions_of
from aerobee.client.group.offset_stores import BrokerOffsetStore
from aerobee.client.pull.owned_queues import OwnedQueues
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.client_kit import LocalCluster, until, with_cluster
from tests.consume_kit import Wire

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))


def test_what_was_done_is_committed_before_a_queue_is_let_go(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            for number in range(4):
                await wire.send("orders", b"%d" % number)
            options = consumer_options("orders", group="g")
            consuming = consumer_context(client._session, options, is_reading=True)
            offsets = BrokerOffsetStore(consuming.calls)
            queues = OwnedQueues(consuming, offsets, subscriptions_of(consuming))
            queues.begin(QUEUE, 1)
            assert (list(queues), len(queues)) == ([QUEUE], 1)
            message = await consuming.inbox.take()
            assert message is not None
            assert message.offset == 1
            await message.ack()
            await queues.let_go(queues.all(), 0)
            assert queues.find(QUEUE) is None
            assert await consuming.calls.committed(QUEUE) == 2
            with pytest.raises(Misuse):
                queues.of(QUEUE)

    with_cluster(tmp_path, test)


def test_a_pull_that_comes_back_while_a_queue_is_left_brings_nothing(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            consuming = consumer_context(
                client._session, consumer_options("orders", group="g"), is_reading=True
            )
            queues = OwnedQueues(
                consuming, BrokerOffsetStore(consuming.calls), subscriptions_of(consuming)
            )
            queues.begin(QUEUE, 0)
            owned = queues.of(QUEUE)
            await until(lambda: owned.last_pull_ms > 0)
            await consuming.calls.end_of(QUEUE)  # by then the pull waits at the broker
            await owned.finish(0)
            await wire.send("orders", b"x")
            await consuming.calls.end_of(QUEUE)
            assert (owned.in_hand.next_offset, len(consuming.inbox)) == (0, 0)
            await queues.drop(queues.all())

    with_cluster(tmp_path, test)


def test_a_message_of_a_queue_that_moved_changes_nothing_any_more(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            for number in range(4):
                await wire.send("orders", b"%d" % number)
            consuming = consumer_context(
                client._session, consumer_options("orders", group="g"), is_reading=True
            )
            queues = OwnedQueues(
                consuming, BrokerOffsetStore(consuming.calls), subscriptions_of(consuming)
            )
            queues.begin(QUEUE, 0)
            old = await consuming.inbox.take()
            assert old is not None
            await queues.seek(QUEUE, 2)
            await old.ack()
            assert queues.of(QUEUE).in_hand.commit_offset() == 2
            following = await consuming.inbox.take()
            assert following is not None
            assert following.offset == 2
            await queues.drop(queues.all())

    with_cluster(tmp_path, test)
