import asyncio
from pathlib import Path

from aerobee.client.api.consumer_options import ConsumerKeywords
from aerobee.client.api.message import Message
from aerobee.client.consumer.consumer import Consumer
from aerobee.client.pull.owned_queue import OwnedQueue
from aerobee.client.pull.pull_member import PullMember
from aerobee.model.message_queue import MessageQueue
from tests.client_kit import LocalCluster, until, with_cluster
from tests.consume_kit import Wire, bodies, take


def test_a_topic_that_is_made_later_is_found(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            async with client.consumer("orders", group="g", start="earliest") as consumer:
                assert consumer.queues == ()
                await wire.make_topic("orders", 1)
                await wire.send("orders", b"x")
                assert bodies(await take(consumer, 1)) == [b"x"]

    with_cluster(tmp_path, test)


def test_being_woken_in_vain_does_not_put_off_the_next_look(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with (
            cluster.client() as client,
            client.consumer("orders", group="g", start="earliest", rebalance_every=300) as consumer,
        ):
            member = consumer._member
            assert isinstance(member, PullMember)
            for _ in range(8):  # a look that doubled each time would be 2 min away by now
                member.wake()
                await until(lambda: not member._wake.is_set())
            await Wire(client).make_topic("orders", 1)
            async with asyncio.timeout(60):
                await until(lambda: bool(consumer.queues))

    with_cluster(tmp_path, test)


def test_an_ordered_queue_changes_hands_only_when_its_message_is_done(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        options: ConsumerKeywords = {"group": "g", "start": "earliest", "order": "queue"}
        async with cluster.client() as client, cluster.client() as other:
            wire = Wire(client)
            await wire.make_topic("orders", 2)
            for number in range(4):
                await wire.send("orders", b"%d" % number, queue=number % 2)
            async with client.consumer("orders", **options) as first:
                held = {message.queue: message for message in [await first.receive() for _ in "ab"]}
                joining = asyncio.ensure_future(_first_of(other.consumer("orders", **options)))
                await until(lambda: any(owned.is_paused for owned in _owned(first)))
                (leaving,) = (owned for owned in _owned(first) if owned.is_paused)
                assert not joining.done()
                await held[leaving.queue].ack()
                theirs = await joining
                assert theirs.queue == leaving.queue
                assert int(theirs.body) == int(held[leaving.queue].body) + 2
                for message in held.values():
                    await message.ack()

    with_cluster(tmp_path, test)


async def _first_of(consumer: Consumer) -> Message:
    async with consumer:
        async for message in consumer:
            if message.queue.topic == "orders":
                await message.ack()
                return message
    raise AssertionError("nothing came")


def _owned(consumer: Consumer) -> list[OwnedQueue]:
    return consumer._member.queues.all()


def test_every_broadcasting_consumer_has_every_message_and_its_own_place(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, cluster.client() as other:
            wire = Wire(client)
            await wire.make_topic("orders", 2)

            def options(name: str) -> ConsumerKeywords:
                return {
                    "group": "g",
                    "start": "earliest",
                    "model": "broadcasting",
                    "offsets_folder": tmp_path / name,
                }

            for number in range(4):
                await wire.send("orders", b"%d" % number, queue=number % 2)
            for one, name in ((client, "one"), (other, "two")):
                async with one.consumer("orders", **options(name)) as consumer:
                    assert sorted(bodies(await take(consumer, 4))) == [b"0", b"1", b"2", b"3"]
            await wire.send("orders", b"4")
            async with client.consumer("orders", **options("one")) as consumer:
                assert bodies(await take(consumer, 1)) == [b"4"]

    with_cluster(tmp_path, test)


def test_a_new_group_starts_at_the_end_or_at_a_moment(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            for number in range(4):
                await wire.send("orders", b"%d" % number)
            async with client.consumer("orders", group="look", start="earliest") as consumer:
                stored = [message.stored_at for message in await take(consumer, 4)]
            async with client.consumer("orders", group="moment", start=stored[3]) as consumer:
                (first,) = await take(consumer, 1)
                assert first.stored_at in (stored[3], stored[0])  # a young queue begins at 0

    with_cluster(tmp_path, test)


def test_queues_are_on_all_brokers(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 2)
            for broker in range(2):
                await wire.send("orders", b"%d" % broker, broker=broker, queue=1)
            async with client.consumer("orders", group="g", start="earliest") as consumer:
                found = await take(consumer, 2)
                assert {str(message.queue) for message in found} == {
                    "orders@broker-a:1",
                    "orders@broker-b:1",
                }
                await until(lambda: len([q for q in consumer.queues if _is_mine(q)]) == 4)

    with_cluster(tmp_path, test, brokers=2)


def _is_mine(queue: MessageQueue) -> bool:
    return queue.topic == "orders"
