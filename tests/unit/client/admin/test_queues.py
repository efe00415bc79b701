import pytest

from aerobee.client.admin.admin import Admin
from aerobee.errors import Refused, Retriable
from aerobee.model.flags import COMPRESSED, CompressionType
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.message.compression import compress
from aerobee.testing import Cluster
from tests.admin_kit import put, with_admin

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))
OTHER = MessageQueue("orders", "broker-b", QueueId(0))


def test_a_queue_is_read_from_offset_to_offset_and_by_tag() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        for number in range(70):
            tag = "paid" if number % 2 else "created"
            await put(cluster.client, QUEUE, b"%d" % number, TAGS=tag)

        async def bodies(**options: object) -> list[int]:
            found = admin.queues.read(QUEUE, **options)  # type: ignore[arg-type]
            return [int(one.body) async for one in found]

        assert await bodies() == list(range(70))
        assert await bodies(start=5, end=40) == list(range(5, 40))
        assert await bodies(start=3, limit=33) == list(range(3, 36))
        assert await bodies(start=10, tags="paid || lost", limit=3) == [11, 13, 15]
        assert await bodies(start=70) == []
        one = await admin.queues.at(QUEUE, 69)
        assert one is not None
        assert one.body == b"69"
        assert await admin.queues.at(QUEUE, 70) is None

    with_admin(test)


def test_a_compressed_body_is_shown_as_it_was_sent() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        body = compress(b"x" * 5000, CompressionType.ZLIB)
        flag = str(COMPRESSED | CompressionType.ZLIB)
        await put(cluster.client, QUEUE, body, sys_flag=flag)
        found = await admin.queues.at(QUEUE, 0)
        assert found is not None
        assert found.body == b"x" * 5000

    with_admin(test)


def test_units_say_where_messages_lie() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        await put(cluster.client, QUEUE, b"x", TAGS="paid")
        found = await admin.queues.at(QUEUE, 0)
        assert found is not None
        units = await admin.queues.units(QUEUE)
        assert (units.min_offset, units.max_offset) == (0, 1)
        (unit,) = units.units
        assert (unit.log_offset, unit.size) == (found.log_offset, found.store_size)
        with pytest.raises((Retriable, Refused)):
            await admin.queues.units(MessageQueue("orders", "broker-a", QueueId(7)))

    with_admin(test)


def test_what_a_group_would_pop_is_seen_and_stays_and_so_are_pops_that_wait() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        assert await admin.queues.peek("g", "orders") == {"broker-a": []}
        assert await admin.queues.waiting_pops("g", "orders") == {"broker-a": 0}
        for number in range(3):
            await put(cluster.client, QUEUE, b"%d" % number)
        for _ in range(2):
            found = await admin.queues.peek("g", "orders", count=2)
            assert [one.body for one in found["broker-a"]] == [b"0", b"1"]
        async with cluster.client.consumer(
            "orders", group="g", mode="pop", start="earliest", auto_ack=True
        ) as consumer:
            seen = 0
            async for _ in consumer:
                seen += 1
                if seen == 3:
                    break
            while await admin.queues.waiting_pops("g", "orders") != {"broker-a": 1}:
                pass
            assert await admin.queues.peek("g", "orders") == {"broker-a": []}

    with_admin(test)
