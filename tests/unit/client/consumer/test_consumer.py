import asyncio
import contextlib
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from aerobee.client.api.consumer_options import ConsumerKeywords, Mode
from aerobee.client.api.message import Message
from aerobee.client.client import Client, connect
from aerobee.client.consumer.consumer import Consumer
from aerobee.errors import Misuse, Unreachable
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.request_codes import RequestCode
from aerobee.testing import Cluster
from tests.client_kit import LocalCluster, turn, until, with_cluster
from tests.consume_kit import Wire, bodies, numbered, take
from tests.net_kit import in_loop


def test_what_was_sent_is_received_and_not_again(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders")
            for number in range(20):
                await wire.send("orders", b"%d" % number, queue=number % 4, TAGS="a", mine="x")
            async with client.consumer("orders", group="billing", start="earliest") as consumer:
                found = await take(consumer, 20)
            assert sorted(int(message.body) for message in found) == list(range(20))
            assert {(m.topic, m.tag, m.attempt, m.headers["mine"]) for m in found} == {
                ("orders", "a", 1, "x")
            }
            await wire.send("orders", b"later")
            async with client.consumer("orders", group="billing", start="earliest") as consumer:
                assert bodies(await take(consumer, 1)) == [b"later"]

    with_cluster(tmp_path, test)


def test_a_consumer_goes_on_from_the_slave_and_back_to_the_master(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await numbered(client, 6)
            queue = MessageQueue("orders", "broker-a", QueueId(0))
            slave = await cluster.start_slave("broker-a")
            async with client.consumer(
                "orders",
                group="g",
                start="earliest",
                poll=0.1,
                commit_every=0.1,
                pull_batch=1,
                queue_messages_max=1,
            ) as consumer:
                first = await take(consumer, 3)
                await cluster.stop_broker("broker-a")
                assert bodies(first + await take(consumer, 3)) == [b"%d" % n for n in range(6)]
                await until_committed(client, slave, queue, 6)
                await cluster.start_broker("broker-a")
                await client._session.routes.refresh_all()
                await client.send("orders", b"new", order_by="u")
                assert bodies(await take(consumer, 1)) == [b"new"]  # which the slave has not

    with_cluster(tmp_path, test)


async def until_committed(client: Client, address: str, queue: MessageQueue, offset: int) -> None:
    """Until a broker, by its address, has the offset of the group `g`."""
    fields = {"consumerGroup": "g", "topic": queue.topic, "queueId": queue.queue_id}
    while True:
        answer = await Wire(client).ask(address, RequestCode.QUERY_CONSUMER_OFFSET, fields)
        if answer.ext_fields.get("offset") == str(offset):
            return
        await turn()


def test_only_messages_with_the_tags_come(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            for tag in ("Aa", "BB", "c", "Aa"):  # the first two have the same hash
                await wire.send("orders", tag.encode(), TAGS=tag)
            async with client.consumer(
                "orders", tags="Aa || c", group="g", start="earliest"
            ) as consumer:
                assert bodies(await take(consumer, 3)) == [b"Aa", b"c", b"Aa"]
                await until(lambda: consumer.position(consumer.queues[-1]) == 4)

    with_cluster(tmp_path, test)


def test_sql_chooses_by_properties(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            for amount in ("50", "150"):
                await wire.send("orders", amount.encode(), amount=amount)
            async with client.consumer(
                "orders", group="g", sql="amount > 100", start="earliest"
            ) as consumer:
                assert bodies(await take(consumer, 1)) == [b"150"]

    with_cluster(tmp_path, test, enablePropertyFilter="true")


def test_two_clients_share_the_queues_and_lose_nothing(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        found: list[int] = []

        async def handle(message: Message) -> None:
            found.append(int(message.body))

        async with AsyncExitStack() as stack:
            first = await stack.enter_async_context(cluster.client())
            second = await stack.enter_async_context(cluster.client())
            wire = Wire(first)
            await wire.make_topic("orders", 8)
            options: ConsumerKeywords = {"group": "g", "start": "earliest", "hand_over": 0.05}
            one = await stack.enter_async_context(first.consumer("orders", **options))
            running = [asyncio.ensure_future(one.run(handle))]
            for number in range(100):
                await wire.send("orders", b"%d" % number, queue=number % 8)
            await until(lambda: sum(map(one.position, _of("orders", one))) == 100)
            await one.commit()  # who takes over late or early begins behind these
            async with second.consumer("orders", **options) as two:
                running.append(asyncio.ensure_future(two.run(handle)))
                await until(lambda: len(_of("orders", one)) == len(_of("orders", two)) == 4)
                for number in range(100, 200):
                    await wire.send("orders", b"%d" % number, queue=number % 8)
                await until(lambda: len(set(found)) == 200)
            await until(lambda: len(_of("orders", one)) == 8)
            for number in range(200, 300):
                await wire.send("orders", b"%d" % number, queue=number % 8)
            await until(lambda: len(set(found)) == 300)
            assert len(found) == 300
        await asyncio.gather(*running)

    with_cluster(tmp_path, test)


def _of(topic: str, consumer: Consumer) -> list[MessageQueue]:
    return [queue for queue in consumer.queues if queue.topic == topic]


def test_what_was_not_settled_comes_again_to_the_next(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            for number in range(5):
                await wire.send("orders", b"%d" % number)
            async with client.consumer(
                "orders", group="g", start="earliest", grace=0.01
            ) as consumer:
                messages = [await consumer.receive() for _ in range(5)]
                for message in messages[:2] + messages[3:]:
                    await message.ack()
            async with client.consumer("orders", group="g", start="earliest") as consumer:
                assert bodies(await take(consumer, 3)) == [b"2", b"3", b"4"]

    with_cluster(tmp_path, test)


def test_leaving_waits_for_what_is_being_worked_on(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            await wire.send("orders", b"x")
            go_on, done = asyncio.Event(), []

            async def handle(message: Message) -> None:
                await go_on.wait()
                done.append(message)

            consumer = client.consumer("orders", group="g", start="earliest")
            await consumer.open()
            running = asyncio.ensure_future(consumer.run(handle))
            await until(lambda: consumer._inbox.out == 1)
            closing = asyncio.ensure_future(consumer.close())
            await until(lambda: consumer._inbox.is_closed)
            assert not done
            go_on.set()
            await closing
            await running
            assert len(done) == 1
            queue = MessageQueue("orders", "broker-a", QueueId(0))
            assert await consumer._calls.committed(queue) == 1

    with_cluster(tmp_path, test)


def test_a_loop_that_acknowledges_by_going_on(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            for number in range(4):
                await wire.send("orders", b"%d" % number)
            options: ConsumerKeywords = {
                "group": "g",
                "start": "earliest",
                "auto_ack": True,
                "grace": 0.01,
            }
            with contextlib.suppress(ValueError):
                async with client.consumer("orders", **options) as consumer:
                    async for message in consumer:
                        if message.body == b"2":
                            raise ValueError("it was not handled")
            async with client.consumer("orders", **options) as consumer:
                async for message in consumer:
                    assert message.body == b"2"
                    break

    with_cluster(tmp_path, test)


def test_seeking_goes_back_and_on(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 1)
            for number in range(6):
                await wire.send("orders", b"%d" % number)
            async with client.consumer("orders", group="g", start="earliest") as consumer:
                found = await take(consumer, 6)
                queue = found[0].queue
                await consumer.seek(4, queue=queue)
                assert bodies(await take(consumer, 2)) == [b"4", b"5"]
                await consumer.seek("earliest", queue=queue)
                assert bodies(await take(consumer, 2)) == [b"0", b"1"]
                await consumer.seek(found[5].stored_at, queue=queue)
                await consumer.seek("latest", queue=queue)
                await wire.send("orders", b"new")
                assert bodies(await take(consumer, 1)) == [b"new"]
                with pytest.raises(Misuse, match="is not read here"):
                    consumer.pause(MessageQueue("orders", "broker-a", QueueId(9)))

    with_cluster(tmp_path, test)


def test_a_paused_queue_is_silent_until_it_goes_on(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire = Wire(client)
            await wire.make_topic("orders", 2)
            async with client.consumer("orders", group="g", start="earliest") as consumer:
                first, _ = _of("orders", consumer)
                consumer.pause(first)
                for number in range(2):
                    await wire.send("orders", b"%d" % number, queue=number)
                assert bodies(await take(consumer, 1)) == [b"1"]
                consumer.resume(first)
                assert bodies(await take(consumer, 1)) == [b"0"]

    with_cluster(tmp_path, test)


def test_a_consumer_that_cannot_be_opened_leaves_nothing_behind(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with connect("127.0.0.1:9", connect_timeout=1) as client:
            for _ in range(2):
                with pytest.raises(Unreachable, match="no name server"):
                    await client.consumer("orders", group="g").open()
                with pytest.raises(Unreachable, match="no name server"):
                    await client.consumer("orders", group="g", mode="pop").open()

    with_cluster(tmp_path, test)


def test_a_client_has_one_consumer_of_a_group(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await Wire(client).make_topic("orders", 1)
            async with client.consumer("orders", group="g"):
                with pytest.raises(Misuse, match="already"):
                    await client.consumer("orders", group="g").open()

    with_cluster(tmp_path, test)


def test_a_consumer_that_nobody_opened_says_so_instead_of_waiting_for_ever(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            consumer = client.consumer("orders", group="g")
            with pytest.raises(Misuse, match="not open"):
                async for _ in consumer:
                    pass
            with pytest.raises(Misuse, match="not open"):
                await consumer.receive()
            with pytest.raises(Misuse, match="not open"):
                await consumer.receive_many(5)

            async def handle(message: Message) -> None: ...

            with pytest.raises(Misuse, match="not open"):
                await consumer.run(handle)

    with_cluster(tmp_path, test)


@pytest.mark.parametrize("mode", ["pull", "pop"])
@pytest.mark.parametrize("is_iterating", [True, False])
def test_what_an_exception_takes_out_of_the_block_is_not_waited_for_and_comes_again(
    tmp_path: Path, mode: Mode, is_iterating: bool
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("orders", b"x")
            options: ConsumerKeywords = {
                "group": "g",
                "start": "earliest",
                "mode": mode,
                "grace": 190,
            }
            if mode == "pop":
                options["invisible"] = 5  # and then it comes again

            async def fail() -> None:
                async with asyncio.timeout(150), client.consumer("orders", **options) as consumer:
                    if is_iterating:
                        async for _ in consumer:
                            raise ZeroDivisionError
                    await consumer.receive()
                    raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                await fail()
            async with client.consumer("orders", **options) as consumer:
                again = await consumer.receive()
                assert again.body == b"x"
                await again.ack()

    with_cluster(tmp_path, test, reviveInterval="50")


def test_an_exception_of_one_task_does_not_take_what_another_works_on(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("orders", b"x")
            taken = asyncio.Event()
            may_end = asyncio.Event()
            ended = asyncio.Event()

            async def work(consumer: Consumer) -> None:
                async for message in consumer:
                    taken.set()
                    await may_end.wait()
                    await message.ack()

            async def fail() -> None:
                async with client.consumer("orders", group="g", start="earliest") as consumer:
                    worker = asyncio.get_running_loop().create_task(work(consumer))
                    worker.add_done_callback(lambda _: ended.set())
                    await taken.wait()
                    asyncio.get_running_loop().call_later(0.05, may_end.set)
                    raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                await fail()
            await ended.wait()
            assert (await client.admin.groups.progress("g")).lag == 0

    with_cluster(tmp_path, test)


def test_leaving_says_what_it_waits_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("orders", b"x")
            async with client.consumer(
                "orders", group="g", start="earliest", grace=0.1
            ) as consumer:
                await consumer.receive()

    with_cluster(tmp_path, test)
    assert "leaving g waits up to 0.1 s for 1 messages" in caplog.text


def test_many_are_received_at_once_and_acknowledged_at_once() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            client = cluster.client
            await numbered(client, 1_000, queues=2)
            found: list[int] = []
            async with client.consumer(
                "orders", group="g", start="earliest", concurrency=300
            ) as consumer:
                largest = 0
                while len(found) < 1_000:
                    batch = await consumer.receive_many(500)
                    largest = max(largest, len(batch))
                    found += [int(message.body) for message in batch]
                    await batch.ack()
                assert sorted(found) == list(range(1_000))
                assert 100 < largest <= 300
                assert consumer._inbox.out == 0
                assert sum(map(consumer.position, _of("orders", consumer))) == 1_000
            await client.send("orders", b"later")
            async with client.consumer("orders", group="g", start="earliest") as consumer:
                batch = await consumer.receive_many(500)
                assert [one.body for one in batch] == [b"later"]
                await batch.ack()

    in_loop(test)


def test_a_batch_that_an_exception_takes_out_of_the_block_is_not_waited_for() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            client = cluster.client
            await numbered(client, 4)
            options: ConsumerKeywords = {"group": "g", "start": "earliest", "grace": 190}

            async def fail() -> None:
                async with asyncio.timeout(20), client.consumer("orders", **options) as consumer:
                    async with (await consumer.receive_many(1)).process():
                        pass
                    batch = await consumer.receive_many(9)
                    await batch[0].ack()
                    raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                await fail()
            async with client.consumer("orders", **options) as consumer:
                again = await consumer.receive_many(9)
                assert [one.body for one in again] == [b"2", b"3"]
                await again.ack()
                assert again.is_settled()

    in_loop(test)


def test_with_auto_ack_a_batch_is_acknowledged_when_the_next_is_asked_for() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            await numbered(cluster.client, 5)
            async with cluster.client.consumer(
                "orders", group="g", start="earliest", auto_ack=True, grace=0.01
            ) as consumer:
                first = await consumer.receive_many(2)
                assert first.unsettled() == list(first)
                await consumer.receive_many(2)
                assert first.unsettled() == []
                await anext(consumer)
                (queue,) = _of("orders", consumer)
                assert consumer.position(queue) == 4
            assert consumer._inbox.out == 0

    in_loop(test)


def test_a_wait_for_many_ends_in_time_and_with_the_consumer() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            await cluster.client.admin.topics.create("orders", queues=1)
            consumer = cluster.client.consumer("orders", group="g", start="earliest")
            await consumer.open()
            assert list(await consumer.receive_many(5, timeout=0.01)) == []
            with pytest.raises(Misuse, match="0 messages are wanted"):
                await consumer.receive_many(0)
            waiting = asyncio.ensure_future(consumer.receive_many(5))
            await turn()
            await consumer.close()
            with pytest.raises(Misuse, match="the consumer is closed"):
                await waiting

    in_loop(test)


def test_leaving_waits_for_a_batch_that_is_being_worked_on() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            await numbered(cluster.client, 3)
            consumer = cluster.client.consumer("orders", group="g", start="earliest")
            await consumer.open()
            batch = await consumer.receive_many(3)
            closing = asyncio.ensure_future(consumer.close())
            await turn()
            assert not closing.done()
            await batch.ack()
            await closing
            progress = await cluster.client.admin.groups.progress("g")
            assert progress.lag == 0

    in_loop(test)
