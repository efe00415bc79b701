import asyncio
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from aerobee.client.api.client_options import ClientOptions
from aerobee.client.client import Client
from aerobee.client.core.send.queue_choice import queue_for_key
from aerobee.errors import LocalProtocolError, Misuse, Refused, SendFailed, Stored
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.client_kit import LocalCluster, session_of, until, with_cluster
from tests.net_kit import in_loop
from tests.scripted_broker import ScriptedBroker
from tests.sending_kit import SendBench


def test_what_was_sent_is_what_is_stored_where_the_receipt_says(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster) as bench:
            receipt = await bench.sending.send(
                "orders", {"id": 1}, tag="paid", keys=["o-1"], headers={"v": "ü"}, order_by="u7"
            )
            message = await bench.stored(receipt)
            assert message.body == b'{"id":1}'
            assert message.topic == "orders"
            assert message.queue_id == receipt.queue.queue_id
            assert message.queue_offset == receipt.offset
            assert message.properties["UNIQ_KEY"] == receipt.message_id
            assert message.properties["TAGS"] == "paid"
            assert message.properties["KEYS"] == "o-1"
            assert message.properties["v"] == "ü"
            assert message.properties["__SHARDINGKEY"] == "u7"
            large = await bench.sending.send("orders", b"a" * 100_000)
            assert (await bench.stored(large)).body == b"a" * 100_000

    with_cluster(tmp_path, test)


@pytest.mark.parametrize("namespace", ["", "shop"])
@pytest.mark.parametrize(
    "said",
    [
        {"tag": "paid", "keys": ["o-1"], "headers": {"v": "ü"}},
        {"order_by": "ü-7"},
        {"order_by": "u7", "tag": "paid"},
    ],
)
def test_the_second_send_goes_the_short_way_and_is_stored_alike(
    tmp_path: Path, namespace: str, said: dict[str, object]
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster, namespace=namespace) as bench:
            receipts = [
                await bench.sending.send("orders", b"body", **said)  # type: ignore[arg-type]
                for _ in range(9)
            ]
            messages = [await bench.stored(receipt) for receipt in receipts]
            for receipt, message in zip(receipts, messages, strict=True):
                assert message.properties.pop("UNIQ_KEY") == receipt.message_id
                assert (message.queue_id, message.queue_offset) == (
                    receipt.queue.queue_id,
                    receipt.offset,
                )
                assert message.properties == messages[0].properties
                assert message.topic == messages[0].topic
                assert message.body == b"body"
            queues = {receipt.queue for receipt in receipts}
            assert len(queues) == (1 if "order_by" in said else 4)
            bodies = [b"a", b"b", b"c"]
            batch = await bench.sending.send_batch("orders", bodies)
            assert [(await bench.stored(receipt)).body for receipt in batch] == bodies

    with_cluster(tmp_path, test)


def test_a_try_of_the_short_way_that_fails_is_made_again_with_the_same_id(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster) as bench:
            for _ in range(8):
                await bench.sending.send("orders", b"x")
            await cluster.stop_broker("broker-a")
            for _ in range(8):
                receipt = await bench.sending.send("orders", b"y")
                assert receipt.queue.broker_name == "broker-b"
                message = await bench.stored(receipt)
                assert message.properties["UNIQ_KEY"] == receipt.message_id
            batch = await bench.sending.send_batch("orders", [b"z"])
            assert (await bench.stored(batch[0])).properties["UNIQ_KEY"] == batch[0].message_id
            await cluster.stop_broker("broker-b")
            with pytest.raises(SendFailed) as caught:
                await bench.sending.send("orders", b"y", retries=0)
            assert len(caught.value.attempts) == 1

    with_cluster(tmp_path, test, brokers=2)


def test_in_order_a_try_of_the_short_way_that_fails_is_made_again_there(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster) as bench:
            for _ in range(2):
                first = await bench.sending.send("orders", b"x", order_by="u")
            await cluster.stop_broker(first.queue.broker_name)
            with pytest.raises(SendFailed) as caught:
                await bench.sending.send("orders", b"y", order_by="u", timeout=1)
            assert {first.queue.broker_name in one for one in caught.value.attempts} == {True}

    with_cluster(tmp_path, test, brokers=2)


def test_in_order_the_next_try_goes_to_the_same_queue_though_there_are_others_by_then() -> None:
    async def test() -> None:
        async with ScriptedBroker(queues=4) as broker, broker.client() as client:
            await client.send("orders", b"x")  # now there is a lane
            key = next(f"u{n}" for n in count() if _place(f"u{n}", 4) != _place(f"u{n}", 7))
            broker.is_holding, broker.codes = True, [2, 0]
            sending = asyncio.ensure_future(client.send("orders", b"y", order_by=key))
            await until(lambda: len(broker.sends) == 2)
            broker.queues = 7
            await session_of(client).routes.refresh("orders")
            broker.release()
            receipt = await sending
            assert broker.are_short() == [False, True, False]
            queues = [int(send.ext_fields["e"]) for send in broker.sends[1:]]
            assert queues == [_place(key, 4)] * 2 == [receipt.queue.queue_id] * 2

    in_loop(test)


def test_after_a_failed_try_the_topic_is_looked_for_by_the_name_that_brokers_know() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client(namespace="shop") as client:
            await client.send("orders", b"x")
            await client.send_batch("orders", [b"x"])
            assert broker.are_short() == [False, True]
            broker.looked_up.clear()
            broker.codes = [17, 0, 17, 0]  # no such topic, says the broker
            await client.send("orders", b"x")
            await client.send_batch("orders", [b"x"])
            await until(lambda: len(broker.looked_up) == 2)
            assert broker.looked_up == ["shop%orders"] * 2

    in_loop(test)


def test_every_try_of_a_message_bears_the_same_id() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            broker.codes = [2, 0]  # the general way: no route is known yet
            await client.send("orders", b"x")
            broker.codes = [2, 14, 0]
            receipt = await client.send("orders", b"x")
            broker.codes = [2, 0]
            batch = await client.send_batch("orders", [b"x", b"y"])
            ids = broker.ids()
            assert ids[0] == ids[1] != ids[2]
            assert ids[2] == ids[3] == ids[4] == [receipt.message_id]
            assert ids[5] == ids[6] == [one.message_id for one in batch]

    in_loop(test)


def test_what_a_broker_refuses_on_the_short_way_is_said_once(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster) as bench:
            await bench.sending.send("orders", b"x")
            with pytest.raises(SendFailed) as caught:
                await bench.sending.send("orders", b"x" * 2000)
            assert caught.value.stored is Stored.NO
            assert len(caught.value.attempts) == 1
            with pytest.raises(SendFailed):
                await bench.sending.send_batch("orders", [b"x" * 2000])

    with_cluster(tmp_path, test, maxMessageSize="1000")


@pytest.mark.parametrize("way", ["the general way", "the short way"])
def test_what_is_too_large_is_refused_at_once_with_what_to_do(tmp_path: Path, way: str) -> None:
    """Nobody waits for a time-out, and the connection serves the next send."""

    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster, max_message_bytes=20 << 20, timeout=60.0) as bench:
            await bench.sending.send("orders" if way == "the short way" else "others", b"x")
            lines = dict(bench.session.connections._open)
            for size in (32_767, 33_000, 1 << 20):
                with pytest.raises(Misuse, match="at most 32767 fit") as mistaken:
                    await bench.sending.send("orders", b"x", headers={"h": "v" * size})
                assert "into the body" in mistaken.value.hint
            # They fit, but not with what the broker adds.
            with pytest.raises(SendFailed) as long:
                await bench.sending.send("orders", b"x", headers={"h": "v" * 32_690})
            failures = [long.value]
            for size in ((4 << 20) + 1, 8 << 20, 15 << 20):
                with pytest.raises(SendFailed) as large:
                    await bench.sending.send("orders", bytes(size), compress=False)
                failures.append(large.value)
            for failure in failures:
                assert (failure.stored, len(failure.attempts)) == (Stored.NO, 1)
                assert "msg properties length limit 32KB." in failure.message
                assert "maxMessageSize" in failure.hint
            with pytest.raises(LocalProtocolError, match="at most 16777216 fit"):
                await bench.sending.send("orders", bytes(16 << 20), compress=False)
            await bench.sending.send("orders", b"x", headers={"h": "v" * 32_000})
            assert dict(bench.session.connections._open) == lines, "the connection was kept"

    with_cluster(tmp_path, test)


def test_a_namespace_keeps_topics_apart(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster, namespace="shop") as bench:
            receipt = await bench.sending.send("orders", b"x")
            assert (await bench.stored(receipt)).topic == "shop%orders"
            assert receipt.queue.topic == "orders"

    with_cluster(tmp_path, test)


def test_a_delayed_message_can_be_taken_back(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster) as bench:
            receipt = await bench.sending.send("orders", b"x", delay=timedelta(minutes=5))
            assert receipt.recall_handle
            await receipt.cancel()
            later = datetime.now(UTC) + timedelta(hours=1)
            assert (await bench.sending.send("orders", b"x", deliver_at=later)).recall_handle

    with_cluster(tmp_path, test, recallMessageEnable="true")


def test_a_broker_that_takes_nothing_back_says_how_it_would(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster) as bench:
            receipt = await bench.sending.send("orders", b"x", delay=60)
            with pytest.raises(Refused) as caught:
                await receipt.cancel()
            assert "recallMessageEnable" in caught.value.hint

    with_cluster(tmp_path, test)


def test_what_is_sent_one_way_arrives(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster) as bench:
            first = await bench.sending.send("orders", b"x", order_by="u")
            await bench.sending.send_oneway("orders", b"y", order_by="u")
            last = await bench.sending.send("orders", b"z", order_by="u")
            assert last.offset == first.offset + 2

    with_cluster(tmp_path, test)


def test_the_verbs_of_a_client_send(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            receipt = await client.send("orders", b"x", order_by="u", timeout=timedelta(seconds=60))
            await client.send_oneway("orders", b"x", order_by="u")
            batch = await client.send_batch("orders", [b"x", b"y"], order_by="u")
            assert batch[0].offset == receipt.offset + 2
        with pytest.raises(Misuse, match="not open"):
            await client.send("orders", b"x")

    with_cluster(tmp_path, test)


def test_a_client_that_was_never_opened_says_how_to_open_it() -> None:
    client = Client(ClientOptions(("127.0.0.1:1",)))
    with pytest.raises(Misuse, match="async with"):
        client.send("orders", b"x").send(None)


def _place(key: str, queues: int) -> int:
    all_queues = [MessageQueue("orders", "broker-a", QueueId(n)) for n in range(queues)]
    return queue_for_key(all_queues, key).queue_id


def test_a_keyword_that_no_send_takes_is_refused_the_first_time_and_the_second(
    tmp_path: Path,
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster) as bench:
            for _ in range(2):
                await bench.sending.send("orders", b"x", tag="a")
                with pytest.raises(Misuse, match="did you mean keys="):
                    await bench.sending.send("orders", b"x", key="o-1")  # type: ignore[call-arg]

    with_cluster(tmp_path, test)
