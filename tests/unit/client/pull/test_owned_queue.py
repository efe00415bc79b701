import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from aerobee.client.api.message import Message
from aerobee.client.consumer.consumer import Consumer
from aerobee.client.core.consume.backoff import Backoff
from aerobee.client.pull.owned_queue import OwnedQueue
from aerobee.errors import AerobeeError
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.client_kit import LocalCluster, turns, until, with_cluster
from tests.consume_kit import Wire, bodies, take
from tests.net_kit import in_loop


async def fill(wire: Wire, count: int) -> None:
    await wire.make_topic("orders", 1)
    for number in range(count):
        await wire.send("orders", b"%d" % number)


def test_a_message_that_failed_comes_again_and_then_is_a_dead_letter(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await fill(wire, 1)
            seen = []
            async with client.consumer(
                "orders", group="g", start="earliest", retry=Backoff(0, 0), max_attempts=2
            ) as consumer:
                async for message in consumer:
                    seen.append((message.topic, message.body, message.attempt))
                    async with message.process():
                        raise ValueError("no")
                    if len(seen) == 2:
                        break
            assert seen == [("orders", b"0", 1), ("orders", b"0", 2)]
            async with client.consumer("%DLQ%g", group="look", start="earliest") as dead:
                (letter,) = await take(dead, 1)
                assert letter.body == b"0"

    with_cluster(tmp_path, test, messageDelayLevel="1s 1s")


def test_a_rejected_message_is_a_dead_letter_at_once(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await fill(wire, 2)
            async with client.consumer("orders", group="g", start="earliest") as consumer:
                bad, good = await consumer.receive(), await consumer.receive()
                await bad.reject(reason="it never will")
                await good.ack()
                await until(lambda: consumer.position(good.queue) == 2)
            async with client.consumer("%DLQ%g", group="look", start="earliest") as dead:
                (letter,) = await take(dead, 1)
                assert letter.body == b"0"
                assert letter.properties["DLQ_REASON"] == "it never will"

    with_cluster(tmp_path, test)


def test_in_order_a_message_that_fails_holds_up_its_queue(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(Wire(client), 3)
            seen: list[tuple[bytes, int]] = []
            async with client.consumer(
                "orders", group="g", start="earliest", order="queue", retry=Backoff(0.01, 0.01)
            ) as consumer:

                async def handle(message: Message) -> None:
                    seen.append((message.body, message.attempt))
                    if message.body == b"1" and message.attempt < 3:
                        raise ValueError("not yet")

                running = asyncio.ensure_future(consumer.run(handle))
                await until(lambda: len(seen) == 5)
            await running
            assert seen == [(b"0", 1), (b"1", 1), (b"1", 2), (b"1", 3), (b"2", 1)]

    with_cluster(tmp_path, test)


def test_by_key_only_the_key_that_failed_is_held_up(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            for body, key in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b")):
                await wire.send("orders", body.encode(), KEYS=key)
            seen: list[bytes] = []
            async with client.consumer(
                "orders", group="g", start="earliest", order="key", retry=Backoff(0.01, 0.01)
            ) as consumer:

                async def handle(message: Message) -> None:
                    if message.body == b"a1" and b"b2" not in seen:
                        raise ValueError("not yet")
                    seen.append(message.body)

                running = asyncio.ensure_future(consumer.run(handle))
                await until(lambda: len(seen) == 4)
            await running
            assert seen == [b"b1", b"b2", b"a1", b"a2"]

    with_cluster(tmp_path, test)


def test_a_full_hand_pulls_no_more_until_something_is_settled(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(Wire(client), 9)
            async with client.consumer(
                "orders", group="g", start="earliest", queue_messages_max=3, pull_batch=3
            ) as consumer:
                held = [await consumer.receive() for _ in range(3)]
                owned = _owned(consumer)
                assert owned.in_hand.is_full()
                assert owned.in_hand.next_offset == 3
                for message in held:
                    await message.ack()
                assert bodies(await take(consumer, 6)) == [b"%d" % n for n in range(3, 9)]

    with_cluster(tmp_path, test)


def test_a_message_that_cannot_be_sent_back_is_kept_and_tried_again_here(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(Wire(client), 1)
            async with client.consumer("orders", group="g", start="earliest") as consumer:
                message = await consumer.receive()
                await cluster.stop_broker("broker-a")
                await message.nack()
                assert (message.is_settled, message.attempt) == (False, 2)
                assert consumer.position(message.queue) == 0
                assert consumer._inbox.out == 0  # it waits, and holds up nobody

    with_cluster(tmp_path, test)


def test_a_cancelled_handler_has_its_message_handed_out_again(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(Wire(client), 1)
            async with client.consumer("orders", group="g", start="earliest") as consumer:

                async def work() -> None:
                    async with (await consumer.receive()).process():
                        await asyncio.Event().wait()

                task = asyncio.ensure_future(work())
                await until(lambda: consumer._inbox.out == 1)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                (again,) = await take(consumer, 1)
                assert (again.body, again.attempt) == (b"0", 1)
                assert consumer._inbox.out == 0

    with_cluster(tmp_path, test)


def test_a_broker_that_comes_back_is_pulled_again(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await fill(wire, 2)
            address = (await client._session.routes.of("orders")).master("broker-a")
            assert address is not None
            async with client.consumer("orders", group="g", start="earliest") as consumer:
                assert bodies(await take(consumer, 2)) == [b"0", b"1"]
                await consumer.commit()
                await cluster.stop_broker("broker-a")
                await cluster.start_broker("broker-a", port=int(address.rpartition(":")[2]))
                await wire.send("orders", b"2")
                assert bodies(await take(consumer, 1)) == [b"2"]

    with_cluster(tmp_path, test)


def test_an_offset_that_the_broker_does_not_have_is_left_for_one_that_it_has(
    tmp_path: Path,
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await fill(wire, 2)
            async with client.consumer("orders", group="g", start="earliest") as consumer:
                await take(consumer, 2)
                await consumer.seek(1000, queue=MessageQueue("orders", "broker-a", QueueId(0)))
                await until(lambda: _at(consumer) == 2)
                await wire.send("orders", b"new")
                assert bodies(await take(consumer, 1)) == [b"new"]

    with_cluster(tmp_path, test)


def test_a_message_out_for_too_long_comes_again_and_holds_up_nobody() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            client = cluster.client
            await client.admin.topics.create("orders", queues=1)
            await client.send_batch("orders", [b"hangs", b"waits", b"works"])
            async with client.consumer(
                "orders", group="g", start="earliest", commit_every=0.005, concurrency=2
            ) as consumer:
                hangs, works = await consumer.receive(), await consumer.receive()
                owned = _owned(consumer)
                await until(lambda: len(owned._overdue._since) == 2)
                cluster.clock.advance(timedelta(minutes=15) - timedelta(seconds=5))
                await works.ack()
                third = await consumer.receive()  # it was not out before
                await until(lambda: third in owned._overdue._since)
                assert consumer.position(hangs.queue) == 0
                cluster.clock.advance(5)
                await until(lambda: consumer.position(hangs.queue) == 2)
                assert not third.is_settled
                await hangs.ack()  # too late
                assert consumer._inbox.out == 1
                cluster.clock.advance(10)
                again = await consumer.receive()
                assert (again.message_id, again.attempt) == (hangs.message_id, 2)
                await again.ack()
                await third.ack()

    in_loop(test)


def test_a_broadcast_message_out_for_too_long_is_let_go(tmp_path: Path) -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            client = cluster.client
            await client.admin.topics.create("orders", queues=1)
            await client.send("orders", b"hangs")
            async with client.consumer(
                "orders",
                group="g",
                start="earliest",
                model="broadcasting",
                consume_timeout=timedelta(seconds=30),
                commit_every=0.005,
                offsets_folder=tmp_path,
            ) as consumer:
                hangs = await consumer.receive()
                await until(lambda: hangs in _owned(consumer)._overdue._since)
                cluster.clock.advance(30)
                await until(lambda: consumer.position(hangs.queue) == 1)

    in_loop(test)


def test_what_cannot_be_sent_back_stays_until_it_can(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(Wire(client), 1)
            address = (await client._session.routes.of("orders")).master("broker-a")
            assert address is not None
            async with client.consumer(
                "orders", group="g", start="earliest", consume_timeout=0.01, commit_every=0.01
            ) as consumer:
                message = await consumer.receive()
                await cluster.stop_broker("broker-a")
                overdue, clock = _owned(consumer)._overdue, client._session.clock
                await until(lambda: message in overdue._since)
                latest_ms = overdue._since[message] + 10
                await until(lambda: clock.monotonic_ms() >= latest_ms)
                with pytest.raises(AerobeeError):
                    await _owned(consumer).send_back_overdue(())
                assert (message.is_settled, consumer._inbox.out) == (False, 1)
                await cluster.start_broker("broker-a", port=int(address.rpartition(":")[2]))
                await until(lambda: message.is_settled)

    with_cluster(tmp_path, test)


def _at(consumer: Consumer) -> int | None:
    """Where the next pull begins; None while the queue changes its place."""
    owned = consumer._member.queues.find(MessageQueue("orders", "broker-a", QueueId(0)))
    return None if owned is None else owned.in_hand.next_offset


def _owned(consumer: Consumer) -> OwnedQueue:
    return consumer._member.queues.of(MessageQueue("orders", "broker-a", QueueId(0)))


def test_a_full_hand_pulls_again_when_a_batch_was_settled(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(Wire(client), 9)
            async with client.consumer(
                "orders",
                group="g",
                start="earliest",
                queue_messages_max=3,
                pull_batch=3,
                grace=0.01,
            ) as consumer:
                found: list[bytes] = []
                for _ in range(3):
                    await until(lambda: len(consumer._inbox) == 3)
                    async with (await consumer.receive_many(9)).process() as batch:
                        await turns(9)  # there is no room for another pull
                        found += bodies(list(batch))
                assert found == [b"%d" % number for number in range(9)]

    with_cluster(tmp_path, test)


def test_a_queue_that_leaves_is_finished_when_a_batch_is_settled(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await fill(Wire(client), 2)
            async with client.consumer(
                "orders", group="g", start="earliest", grace=0.01
            ) as consumer:
                batch = await consumer.receive_many(2)
                owned = batch[0].holder
                assert isinstance(owned, OwnedQueue)
                finishing = asyncio.ensure_future(owned.finish(60))
                await turns(3)
                assert not finishing.done()
                await batch.ack()
                await finishing  # long before a minute is over

    with_cluster(tmp_path, test)
