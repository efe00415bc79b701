import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from aerobee.client.api.client_options import ClientOptions
from aerobee.client.api.receipt import Receipt
from aerobee.client.connection.session import Session
from aerobee.client.send.producer import Producer, ProducerOptions, producer_options
from aerobee.client.send.sender import Sender
from aerobee.errors import AerobeeError, Misuse, ProducerFull, SendFailed, TopicNotFound
from tests.client_kit import LocalCluster, turn, until, with_cluster
from tests.net_kit import in_loop
from tests.scripted_broker import ScriptedBroker


def test_messages_go_in_batches_and_all_are_stored(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            told: list[Receipt | AerobeeError] = []
            async with client.producer("orders", linger=60, max_batch=10) as producer:
                for number in range(95):
                    producer.send_nowait({"id": number}, tag="t", callback=told.append)
                assert producer.pending == 95
                await producer.drain()
                assert producer.pending == 0
            receipts = [receipt for receipt in told if isinstance(receipt, Receipt)]
            assert len({receipt.message_id for receipt in receipts}) == 95
            assert len({(receipt.queue, receipt.offset) for receipt in receipts}) == 95
            # Nine batches of ten and one of five, round four queues.
            assert {receipt.queue.queue_id for receipt in receipts} == {0, 1, 2, 3}

    with_cluster(tmp_path, test)


def test_a_batch_that_is_not_full_leaves_when_it_has_lingered(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, client.producer("orders", linger=0.001) as producer:
            receipts = await asyncio.gather(*(producer.send(b"%d" % n) for n in range(20)))
            assert sorted(receipt.offset for receipt in receipts) == list(range(20))
            assert (await producer.send("alone", keys=["k"])).message_id

    with_cluster(tmp_path, test)


def test_messages_of_one_key_keep_their_order(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            told: dict[str, list[Receipt]] = {"a": [], "b": [], "c": []}
            async with client.producer("orders", max_batch=7) as producer:
                for number in range(150):
                    key = "abc"[number % 3]
                    producer.send_nowait(
                        b"%d" % number,
                        order_by=key,
                        callback=told[key].append,  # type: ignore[arg-type]
                    )
            for receipts in told.values():
                assert len(receipts) == 50
                assert len({receipt.queue for receipt in receipts}) == 1
                offsets = [receipt.offset for receipt in receipts]
                assert offsets == sorted(offsets)

    with_cluster(tmp_path, test)


def test_one_batch_of_a_queue_is_on_its_way_at_a_time() -> None:
    async def test() -> None:
        async with ScriptedBroker(queues=2) as broker, broker.client() as client:
            async with client.producer("orders", max_batch=2) as producer:
                await producer.send(b"first")
                broker.is_holding = True
                broker.sends.clear()
                for number in range(6):
                    producer.send_nowait(b"%d" % number, order_by="a")  # of one queue
                for number in range(4):
                    producer.send_nowait(b"%d" % number, order_by="b")  # of the other
                for _ in range(4):
                    producer.send_nowait(b"x")  # of any
                await until(lambda: len(broker.sends) == 4)
                ordered = [send for send in broker.sends if b"SHARDINGKEY" in bytes(send.body)]
                assert len(ordered) == 2
                broker.release()
            assert len(broker.sends) == 7

    in_loop(test)


def test_what_is_sent_as_soon_as_a_drain_has_ended_is_sent(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, client.producer("orders", max_batch=1) as producer:
            for number in range(5):
                producer.send_nowait(b"%d" % number, order_by="k")
                await producer.drain()

    with_cluster(tmp_path, test)


def test_too_much_at_once_is_refused_or_waited_for(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with (
            cluster.client() as client,
            client.producer("orders", max_pending=8, max_batch=4) as producer,
        ):
            for _ in range(8):
                producer.send_nowait(b"x")
            with pytest.raises(ProducerFull) as caught:
                producer.send_nowait(b"x")
            assert "drain" in caught.value.hint
            receipts = await asyncio.gather(*(producer.send(b"y") for _ in range(50)))
            assert len({receipt.message_id for receipt in receipts}) == 50
            assert producer.pending == 0

    with_cluster(tmp_path, test)


def test_bytes_count_and_one_message_alone_is_always_taken(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with (
            cluster.client() as client,
            client.producer("orders", max_pending_bytes=1000) as producer,
        ):
            producer.send_nowait(b"x" * 5000)
            with pytest.raises(ProducerFull):
                producer.send_nowait(b"x")

    with_cluster(tmp_path, test)


def test_what_was_not_stored_is_raised_by_the_next_drain_once(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            told: list[Receipt | AerobeeError] = []
            async with client.producer("orders", timeout=60, retries=0) as producer:
                await producer.send(b"x")
                await cluster.stop_broker("broker-a")
                producer.send_nowait(b"x")
                producer.send_nowait(b"y", callback=told.append)
                producer.send_nowait(b"z")
                with pytest.raises(SendFailed, match="2 messages were not acknowledged"):
                    await producer.drain()
                assert len(told) == 1
                assert isinstance(told[0], SendFailed)
                await producer.drain()
                with pytest.raises(SendFailed):
                    await producer.send(b"x")

    with_cluster(tmp_path, test)


def test_a_mistake_shows_where_it_is_made_and_takes_no_other_message_with_it(
    tmp_path: Path,
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:

            def fails(outcome: Receipt | AerobeeError) -> None:
                raise ValueError("a mistake of the application")

            async with client.producer("orders") as producer:
                with pytest.raises(Misuse):
                    producer.send_nowait(b"x", headers={"UNIQ_KEY": "x"})
                with pytest.raises(Misuse, match="empty"):
                    producer.send_nowait(b"")
                producer.send_nowait(b"x", callback=fails)
                assert (await producer.send(b"y")).message_id
            with pytest.raises(Misuse, match="not open"):
                producer.send_nowait(b"x")

    with_cluster(tmp_path, test)


def test_a_topic_that_nobody_has_shows_when_the_producer_is_opened(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            with pytest.raises(TopicNotFound):
                async with client.producer("nowhere"):
                    pass

    with_cluster(tmp_path, test, autoCreateTopicEnable="false")


def test_who_waits_when_the_client_is_closed_is_told(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        session = Session(ClientOptions((cluster.address,)))
        await session.start()
        producer = Producer(session, Sender(session), "orders", producer_options(max_batch=1))
        await producer.open()
        sends = [asyncio.ensure_future(producer.send(b"x")) for _ in range(3)]
        await turn()
        await session.close()
        outcomes = await asyncio.gather(*sends, return_exceptions=True)
        assert all(isinstance(outcome, Misuse) for outcome in outcomes), outcomes
        assert producer.pending == 0

    with_cluster(tmp_path, test)


def test_options_are_what_was_said_and_the_rest_as_ever() -> None:
    assert producer_options() == ProducerOptions()
    minute = timedelta(minutes=1)
    told = producer_options(linger=timedelta(milliseconds=5), timeout=minute, retries=0, group="g")
    assert told == ProducerOptions(linger=0.005, timeout=60.0, retries=0, group="g")
    assert producer_options(timeout=None).timeout is None


def test_a_keyword_that_no_producer_takes_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(Misuse, match="a producer takes no max_bach=") as caught:
        producer_options(max_bach=3)  # type: ignore[call-arg]
    assert caught.value.hint == "did you mean max_batch=?"


@pytest.mark.parametrize("name", ["max_batch", "max_batch_bytes", "max_pending"])
def test_a_bound_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(Misuse, match=name):
        producer_options(**{name: 0})  # type: ignore[arg-type]
