import asyncio

import pytest

from aerobee.client.api.consumer_options import ConsumerKeywords
from aerobee.client.api.message import Message
from aerobee.client.pop.pop_batch import PopBatch
from aerobee.testing import Cluster
from tests.client_kit import turn, until
from tests.net_kit import in_loop

POP: ConsumerKeywords = {"group": "g", "start": "earliest", "mode": "pop", "invisible": 60}
SOON = {"reviveInterval": "50"}


def batch_of(message: Message) -> PopBatch:
    assert isinstance(message.holder, PopBatch)
    return message.holder


async def fill(cluster: Cluster, count: int, *, queues: int = 1) -> None:
    await cluster.client.admin.topics.create("orders", queues=queues)
    for number in range(count):
        await cluster.client.send("orders", b"%d" % number, tag="ab"[number % 2])


def test_a_message_is_settled_once_whatever_is_said_of_it_later() -> None:
    async def test() -> None:
        async with Cluster(settings=SOON) as cluster:
            await fill(cluster, 3)
            async with cluster.client.consumer("orders", **POP) as consumer:
                one, two, three = [await consumer.receive() for _ in range(3)]
                desk = batch_of(one).desk
                assert (desk.held, batch_of(one).left) == (3, 3)
                await one.ack()
                for verb in (one.ack, one.nack, one.reject):
                    await verb()
                one.held_by().settle(one)
                one.held_by().give_back(one)
                assert (desk.held, consumer._inbox.out) == (2, 2)
                await two.nack(delay=1)
                await three.reject(reason="no")
                assert (desk.held, consumer._inbox.out) == (0, 0)

    in_loop(test)


def test_a_message_that_was_extended_is_acknowledged_by_its_new_receipt() -> None:
    async def test() -> None:
        async with Cluster(settings=SOON) as cluster:
            await fill(cluster, 2)
            async with cluster.client.consumer("orders", **POP) as consumer:
                extended, other = await consumer.receive(), await consumer.receive()
                await extended.extend(290)
                cluster.clock.advance(100)
                again = await consumer.receive()  # the one that was not extended
                assert (again.body, again.attempt) == (other.body, 2)
                for message in (extended, again, other):  # the last one too late
                    await message.ack()
                cluster.clock.advance(600)
                await cluster.client.send("orders", b"new")
                new = await consumer.receive()
                assert new.body == b"new"
                await new.ack()

    in_loop(test)


def test_what_the_tags_leave_out_is_acknowledged_and_not_held() -> None:
    async def test() -> None:
        async with Cluster(settings=SOON) as cluster:
            await fill(cluster, 6, queues=2)
            # Java's hash of both tags is the same, so the broker takes one for the other.
            await cluster.client.send("orders", b"other", tag="BB")
            await cluster.client.send("orders", b"wanted", tag="Aa")
            chosen: ConsumerKeywords = {**POP, "tags": "Aa"}
            async with cluster.client.consumer("orders", **chosen) as consumer:
                wanted = await consumer.receive()
                assert wanted.body == b"wanted"
                desk = batch_of(wanted).desk
                await until(lambda: desk.held == 1)
                await wanted.ack()
                assert desk.held == 0

    in_loop(test)


def test_work_that_ends_well_does_not_wait_for_the_broker() -> None:
    async def test() -> None:
        async with Cluster(settings=SOON) as cluster:
            await fill(cluster, 40)
            async with cluster.client.consumer("orders", **POP) as consumer:
                found = [await consumer.receive() for _ in range(40)]
                acks = batch_of(found[0]).desk.acks
                for message in found:
                    async with message.process():
                        pass
                assert acks.sent is not None
                assert not acks.sent.done()
                assert sum(len(run.acked) for run in acks._gathered) == 40
            assert acks.sent is None  # leaving has waited

    in_loop(test)


def test_a_reply_that_nobody_asked_for_is_refused() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            await fill(cluster, 1)
            async with cluster.client.consumer("orders", **POP) as consumer:
                message = await consumer.receive()
                with pytest.raises(Exception, match="asks for no reply"):
                    await message.reply(b"x")
                await asyncio.gather(message.ack(), message.ack())

    in_loop(test)


def test_messages_received_together_are_acknowledged_together() -> None:
    async def test() -> None:
        async with Cluster(settings=SOON) as cluster:
            await fill(cluster, 40)
            async with cluster.client.consumer("orders", **POP) as consumer:
                found = 0
                while found < 40:
                    batch = await consumer.receive_many(40)
                    found += len(batch)
                    desk = batch_of(batch[0]).desk
                    acking = asyncio.ensure_future(batch.ack())
                    await turn()
                    assert not acking.done()  # the broker has not been told yet
                    await acking
                await until(lambda: desk.held == 0)
                assert consumer._inbox.out == 0
                cluster.clock.advance(60)
                await cluster.client.send("orders", b"new")
                (new,) = await consumer.receive_many(40)
                assert new.body == b"new"
                await new.ack()

    in_loop(test)
