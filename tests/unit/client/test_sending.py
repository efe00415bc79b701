from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import aerobee
from aerobee.client.admin.admin import Admin
from aerobee.client.client import Client
from aerobee.client.options import ClientOptions
from aerobee.client.receipt import Receipt
from aerobee.client.sending import Sending
from aerobee.client.session import Session
from aerobee.errors import Misuse, Refused, SendFailed, Stored
from aerobee.model.message import StoredMessage
from aerobee.model.message_id import parse_offset_message_id
from aerobee.protocol.declared_header import write_header
from aerobee.protocol.headers.queries import ViewMessageHeader
from aerobee.protocol.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.stored_message import decode_record, expanded
from tests.client_kit import LocalCluster, with_cluster
from tests.net_kit import in_loop
from tests.scripted_broker import ScriptedBroker


class Bench:
    """What sends, and what looks at what was stored."""

    def __init__(self, cluster: LocalCluster, **options: object) -> None:
        self.session = Session(ClientOptions((cluster.address,), **options))  # type: ignore[arg-type]
        self.sending = Sending(self.session)

    async def __aenter__(self) -> "Bench":
        await self.session.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.close()

    async def stored(self, receipt: Receipt) -> StoredMessage:
        topic = self.sending.drafts.wire_topic(receipt.queue.topic)
        route = await self.session.routes.of(topic, may_be_new=True)
        address = route.master(receipt.queue.broker_name)
        assert address is not None
        offset = parse_offset_message_id(receipt.offset_id).log_offset
        fields = write_header(ViewMessageHeader(offset))
        command = RemotingCommand(int(RequestCode.VIEW_MESSAGE_BY_ID), ext_fields=fields)
        answer = await self.session.ask(address, command)
        assert answer.code == 0, answer.remark
        return expanded(decode_record(bytes(answer.body)))


def test_what_was_sent_is_what_is_stored_where_the_receipt_says(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with Bench(cluster) as bench:
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
        async with Bench(cluster, namespace=namespace) as bench:
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
        async with Bench(cluster) as bench:
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
        async with Bench(cluster) as bench:
            for _ in range(2):
                first = await bench.sending.send("orders", b"x", order_by="u")
            await cluster.stop_broker(first.queue.broker_name)
            with pytest.raises(SendFailed) as caught:
                await bench.sending.send("orders", b"y", order_by="u", timeout=1)
            assert {first.queue.broker_name in one for one in caught.value.attempts} == {True}

    with_cluster(tmp_path, test, brokers=2)


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
        async with Bench(cluster) as bench:
            await bench.sending.send("orders", b"x")
            with pytest.raises(SendFailed) as caught:
                await bench.sending.send("orders", b"x" * 2000)
            assert caught.value.stored is Stored.NO
            assert len(caught.value.attempts) == 1
            with pytest.raises(SendFailed):
                await bench.sending.send_batch("orders", [b"x" * 2000])

    with_cluster(tmp_path, test, maxMessageSize="1000")


def test_a_namespace_keeps_topics_apart(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with Bench(cluster, namespace="shop") as bench:
            receipt = await bench.sending.send("orders", b"x")
            assert (await bench.stored(receipt)).topic == "shop%orders"
            assert receipt.queue.topic == "orders"

    with_cluster(tmp_path, test)


def test_a_batch_is_stored_in_order_in_one_queue(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with Bench(cluster) as bench:
            receipts = await bench.sending.send_batch(
                "orders", [b"a", aerobee.Outgoing({"b": 1}, tag="t", keys="k"), "c"], order_by="u"
            )
            messages = [await bench.stored(receipt) for receipt in receipts]
            assert [message.body for message in messages] == [b"a", b'{"b":1}', b"c"]
            assert [message.queue_offset for message in messages] == [0, 1, 2]
            assert len({message.queue_id for message in messages}) == 1
            assert [message.properties["UNIQ_KEY"] for message in messages] == [
                receipt.message_id for receipt in receipts
            ]
            assert messages[1].properties["TAGS"] == "t"

    with_cluster(tmp_path, test)


def test_a_batch_that_is_too_large_for_one_request_goes_in_several(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with Bench(cluster, max_message_bytes=1000) as bench:
            bodies = [bytes([index]) * 100 for index in range(20)]
            receipts = await bench.sending.send_batch("orders", bodies, order_by="u")
            assert [(await bench.stored(receipt)).body for receipt in receipts] == bodies
            assert [receipt.offset for receipt in receipts] == list(range(20))
            with pytest.raises(Misuse, match="at most 1000"):
                await bench.sending.send_batch("orders", [b"x" * 1001])
            with pytest.raises(Misuse, match="without messages"):
                await bench.sending.send_batch("orders", [])
            with pytest.raises(Misuse, match="order of its own"):
                await bench.sending.send_batch("orders", [aerobee.Outgoing(b"x", order_by="v")])

    with_cluster(tmp_path, test, maxMessageSize="1500")


def test_a_batch_of_more_messages_than_an_answer_can_name_goes_in_several(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with Bench(cluster) as bench:
            bodies = [b"%d" % number for number in range(1_200)]
            receipts = await bench.sending.send_batch("orders", bodies, order_by="u")
            assert [receipt.offset for receipt in receipts] == list(range(1_200))
            for number in (0, 499, 500, 1_199):
                assert (await bench.stored(receipts[number])).body == bodies[number]
            quick = await bench.sending.send_batch("orders", bodies)  # now there is a lane
            assert len({receipt.message_id for receipt in quick}) == 1_200
            stats = await Admin(bench.session).topics.stats("orders")
            assert sum(queue.max_offset for queue in stats.queues.values()) == 2_400

    with_cluster(tmp_path, test)


def test_of_a_batch_that_fails_half_way_it_is_said_how_much_is_stored(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with Bench(cluster, max_message_bytes=5000) as bench:
            with pytest.raises(SendFailed) as caught:
                await bench.sending.send_batch("orders", [b"x" * 800, b"y", b"z" * 4900])
            assert caught.value.stored is Stored.UNKNOWN
            assert "the first 2 of 3 messages are stored" in caught.value.message

    with_cluster(tmp_path, test, maxMessageSize="1500")


def test_a_delayed_message_can_be_taken_back(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with Bench(cluster) as bench:
            receipt = await bench.sending.send("orders", b"x", delay=timedelta(minutes=5))
            assert receipt.recall_handle
            await receipt.cancel()
            later = datetime.now(UTC) + timedelta(hours=1)
            assert (await bench.sending.send("orders", b"x", deliver_at=later)).recall_handle

    with_cluster(tmp_path, test, recallMessageEnable="true")


def test_a_broker_that_takes_nothing_back_says_how_it_would(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with Bench(cluster) as bench:
            receipt = await bench.sending.send("orders", b"x", delay=60)
            with pytest.raises(Refused) as caught:
                await receipt.cancel()
            assert "recallMessageEnable" in caught.value.hint

    with_cluster(tmp_path, test)


def test_what_is_sent_one_way_arrives(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with Bench(cluster) as bench:
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
