import asyncio
from itertools import count
from pathlib import Path

import pytest

import aerobee
from aerobee.client.admin.admin import Admin
from aerobee.client.api.receipt import LongBatchReceipt
from aerobee.client.client import Client
from aerobee.client.core.send.outgoing import to_json
from aerobee.client.core.send.queue_choice import queue_for_key
from aerobee.errors import Misuse, SendFailed, Stored
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.message.message_batch import BatchMessage, decode_batch
from tests.client_kit import LocalCluster, session_of, until, with_cluster
from tests.net_kit import in_loop
from tests.scripted_broker import ScriptedBroker
from tests.sending_kit import SendBench


def numbered(count: int) -> list[object]:
    return [b"%d" % number for number in range(count)]


def place_of(key: str, queues: int) -> int:
    all_queues = [MessageQueue("orders", "broker-a", QueueId(n)) for n in range(queues)]
    return queue_for_key(all_queues, key).queue_id


async def open_lane(broker: ScriptedBroker, client: Client) -> None:
    """Have what follows go the short way."""
    await client.send_batch("orders", [b"first"])
    broker.sends.clear()


def queues_of(broker: ScriptedBroker) -> list[int]:
    return [int(send.ext_fields["e"]) for send in broker.sends]


def messages_of(broker: ScriptedBroker) -> list[BatchMessage]:
    return [message for send in broker.sends for message in decode_batch(bytes(send.body))]


def test_a_long_batch_goes_the_short_way_part_after_part_round_the_queues() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            await open_lane(broker, client)
            bodies = numbered(1_200)
            broker.is_holding = True
            sending = asyncio.ensure_future(client.send_batch("orders", bodies))
            await until(lambda: len(broker.sends) == 1)
            await session_of(client).routes.refresh("orders")  # an answer later than any part
            assert len(broker.sends) == 1  # the next waits until this one is stored
            broker.release()
            receipts = await sending
            assert broker.are_short() == [True] * 3
            assert [len(part) for part in broker.bodies()] == [500, 500, 200]
            assert [body for part in broker.bodies() for body in part] == bodies
            first = queues_of(broker)[0]
            assert queues_of(broker) == [(first + n) % 4 for n in range(3)]
            assert isinstance(receipts, LongBatchReceipt)
            assert [one.message_id for one in receipts] == [
                one for part in broker.ids() for one in part
            ]
            assert [part.queue.queue_id for part in receipts.parts] == queues_of(broker)

    in_loop(test)


def test_the_first_batch_of_a_topic_needs_the_general_way_for_its_first_part_only() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            await client.send_batch("orders", numbered(1_001))
            assert broker.are_short() == [False, True, True]
            assert [len(part) for part in broker.bodies()] == [500, 500, 1]

    in_loop(test)


def test_a_batch_in_order_goes_the_short_way_to_the_queue_of_its_key() -> None:
    async def test() -> None:
        async with ScriptedBroker(queues=5) as broker, broker.client() as client:
            await open_lane(broker, client)
            await client.send_batch("orders", numbered(3), order_by="ü-7")
            await client.send_batch("orders", numbered(1_001), order_by="ü-7")
            assert broker.are_short() == [True] * 4
            assert queues_of(broker) == [place_of("ü-7", 5)] * 4
            assert [message.body for message in messages_of(broker)] == [
                *numbered(3),
                *numbered(1_001),
            ]
            assert {one.properties["__SHARDINGKEY"] for one in messages_of(broker)} == {"ü-7"}

    in_loop(test)


def test_messages_that_are_more_than_bodies_go_the_short_way_each_with_what_it_says() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client(namespace="shop") as client:
            await open_lane(broker, client)
            batch = [
                aerobee.Outgoing({"b": 1}, tag="t", keys=["k", "l"], headers={"v": "ü"}),
                {"c": 2},
                aerobee.Outgoing(b"d", order_by="u"),
                "e",
            ]
            for _ in range(4):
                await client.send_batch("orders", batch, order_by="u")
            assert broker.are_short() == [True] * 4
            said = messages_of(broker)[-4:]
            assert [message.body for message in said] == [b'{"b":1}', b'{"c":2}', b"d", b"e"]
            for message in said:
                del message.properties["UNIQ_KEY"]
                assert message.properties.pop("INSTANCE_ID") == "shop"
            assert [message.properties for message in said] == [
                {"v": "ü", "TAGS": "t", "KEYS": "k l"},
                *[{"__SHARDINGKEY": "u"}] * 3,
            ]
            broker.sends.clear()
            for _ in range(4):
                await client.send_batch("orders", [{"id": 1}])
            assert sorted(queues_of(broker)) == [0, 1, 2, 3]

    in_loop(test)


def test_a_batch_for_a_queue_goes_there_the_short_way_and_to_no_other_group() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            await open_lane(broker, client)
            queue = MessageQueue("orders", "broker-a", QueueId(2))
            ordered: list[object] = [aerobee.Outgoing(b"x", order_by=f"u{n}") for n in range(9)]
            await client.send_batch("orders", ordered, queue=queue)
            await client.send_batch("orders", numbered(2), queue=queue)
            await client.send_batch("orders", numbered(2), queue=queue, group="g")
            assert broker.are_short() == [True, True, False]
            assert queues_of(broker) == [2, 2, 2]
            assert broker.sends[2].ext_fields["a"] == "g"
            gone = MessageQueue("orders", "broker-a", QueueId(9))
            with pytest.raises(SendFailed, match="no queue that can be written to"):
                await client.send_batch("orders", numbered(2), queue=gone, timeout=0.01)

    in_loop(test)


def test_a_part_that_fails_is_tried_again_with_the_same_ids_and_the_rest_follows() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            await open_lane(broker, client)
            broker.codes = [0, 2, 0]
            receipts = await client.send_batch("orders", numbered(1_200))
            assert broker.are_short() == [True, True, False, True]
            ids = broker.ids()
            assert ids[1] == ids[2]
            assert [one.message_id for one in receipts] == ids[0] + ids[2] + ids[3]
            assert len(set(ids[0] + ids[1] + ids[3])) == 1_200
            bodies = broker.bodies()
            assert bodies[0] + bodies[2] + bodies[3] == numbered(1_200)

    in_loop(test)


def test_of_a_part_that_is_refused_all_before_is_stored_and_nothing_behind_is_sent() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            await open_lane(broker, client)
            broker.codes = [0, 13]
            with pytest.raises(SendFailed) as caught:
                await client.send_batch("orders", numbered(1_200), order_by="u")
            assert "the first 500 of 1200 messages are stored" in caught.value.message
            assert caught.value.stored is Stored.UNKNOWN
            assert len(caught.value.attempts) == 1
            assert len(broker.sends) == 2
            broker.codes = [13]
            with pytest.raises(SendFailed) as caught:
                await client.send_batch("orders", numbered(1_200))
            assert caught.value.stored is Stored.NO  # of all of them
            assert "a message for orders was not stored" in caught.value.message

    in_loop(test)


def test_in_order_the_next_try_of_a_part_goes_to_the_same_queue_though_there_are_others() -> None:
    async def test() -> None:
        async with ScriptedBroker(queues=4) as broker, broker.client() as client:
            await open_lane(broker, client)
            key = next(f"u{n}" for n in count() if place_of(f"u{n}", 4) != place_of(f"u{n}", 7))
            broker.is_holding, broker.codes = True, [2, 0]
            sending = asyncio.ensure_future(client.send_batch("orders", [b"y"], order_by=key))
            await until(lambda: len(broker.sends) == 1)
            broker.queues = 7
            await session_of(client).routes.refresh("orders")
            broker.release()
            await sending
            assert broker.are_short() == [True, False]
            assert queues_of(broker) == [place_of(key, 4)] * 2

    in_loop(test)


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (b"", "an empty body"),
        (b"x" * (4 << 20), "bytes in a batch; at most 4194304"),
        (object(), "no JSON"),
        (aerobee.Outgoing(b"x", headers={"KEYS": "1"}), "RocketMQ's own"),
        (aerobee.Outgoing(b"x", headers={"v": "1" * 32_767}), "bytes of properties"),
        (aerobee.Outgoing(b"x", order_by="v"), "order of its own"),
    ],
    ids=["empty", "large", "no-json", "reserved", "properties", "order"],
)
@pytest.mark.parametrize("before", [1, 700])
def test_what_is_wrong_with_a_message_is_said_before_anything_is_sent(
    last: object, said: str, before: int
) -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, broker.client() as client:
            await open_lane(broker, client)
            with pytest.raises(Misuse, match=said):
                await client.send_batch("orders", [*numbered(before), last])
            assert broker.sends == []
            with pytest.raises(Misuse, match="bytes of properties"):
                await client.send_batch("orders", numbered(before), order_by="u" * 32_767)
            with pytest.raises(Misuse, match="order_by is ''"):
                await client.send_batch("orders", numbered(before), order_by="")
            assert broker.sends == []

    in_loop(test)


def test_a_codec_and_an_iterator_of_keys_are_asked_once_however_often_it_is_tried() -> None:
    async def test() -> None:
        class Bytes(bytes):
            """What only behaves like bytes."""

        asked = []

        def codec(body: object) -> bytes:
            asked.append(body)
            return Bytes(to_json(body))

        async with ScriptedBroker() as broker, broker.client() as client:
            await open_lane(broker, client)
            broker.codes = [2, 2, 0]
            batch = [
                aerobee.Outgoing([1], keys=iter(["k", "l"])),
                [2],
                aerobee.Outgoing(b"3", keys=iter("m")),
            ]
            await client.send_batch("orders", batch, codec=codec)
            assert asked == [[1], [2]]
            assert broker.bodies() == [[b"[1]", b"[2]", b"3"]] * 3
            keys = [one.properties.get("KEYS") for one in messages_of(broker)]
            assert keys == ["k l", None, "m"] * 3

    in_loop(test)


@pytest.mark.parametrize("namespace", ["", "shop"])
def test_a_batch_is_stored_by_the_short_way_as_by_the_general_one(
    tmp_path: Path, namespace: str
) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster, namespace=namespace) as bench:
            batch = [
                b"a",
                aerobee.Outgoing("b", tag="t", keys=["k"], headers={"v": "ü"}, order_by="u"),
                {"c": 1},
            ]
            for messages in (batch, [b"x", b"y", b"z"]):
                stored: list[list[object]] = []
                for group in ("other", None):  # for another group there is no short way
                    receipts = await bench.sending.send_batch(
                        "orders", messages, order_by="u", group=group
                    )
                    found = [await bench.stored(receipt) for receipt in receipts]
                    stored.append(
                        [
                            (one.topic, one.queue_id, one.body, one.flag, one.sys_flag)
                            for one in found
                        ]
                    )
                    for one, receipt in zip(found, receipts, strict=True):
                        assert one.properties.pop("UNIQ_KEY") == receipt.message_id
                        assert one.queue_offset == receipt.offset
                    stored[-1] += [sorted(one.properties.items()) for one in found]
                assert stored[0] == stored[1]

    with_cluster(tmp_path, test)


def test_a_batch_of_large_messages_is_cut_by_bytes_the_same_on_both_ways(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster, max_message_bytes=1 << 20) as bench:
            bodies: list[object] = [bytes([n % 251]) * 8_000 for n in range(300)]
            sizes = []
            for group in ("other", None, None):
                receipts = await bench.sending.send_batch("orders", bodies, group=group)
                assert isinstance(receipts, LongBatchReceipt)
                sizes.append([len(part) for part in receipts.parts])
                for number in (0, sizes[0][0] - 1, sizes[0][0], 299):
                    assert (await bench.stored(receipts[number])).body == bodies[number]
            assert sizes[0] == sizes[1] == sizes[2]
            assert len(sizes[0]) == 3

    with_cluster(tmp_path, test, maxMessageSize=str(1 << 20))


def test_a_batch_is_stored_in_order_in_one_queue(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with SendBench(cluster) as bench:
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
        async with SendBench(cluster, max_message_bytes=1000) as bench:
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
        async with SendBench(cluster) as bench:
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
        async with SendBench(cluster, max_message_bytes=5000) as bench:
            with pytest.raises(SendFailed) as caught:
                await bench.sending.send_batch("orders", [b"x" * 800, b"y", b"z" * 4900])
            assert caught.value.stored is Stored.UNKNOWN
            assert "the first 2 of 3 messages are stored" in caught.value.message

    with_cluster(tmp_path, test, maxMessageSize="1500")
