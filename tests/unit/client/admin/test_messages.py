from aerobee.client.admin.admin import Admin
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.admin_kit import put, with_admin

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))
OTHER = MessageQueue("orders", "broker-b", QueueId(0))
UNIQUE = "7F000001000118B4AAC2000000010001"


def test_a_message_is_found_by_either_id_and_by_its_key() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        offset_id = await put(cluster.client, OTHER, b"paid", UNIQ_KEY=UNIQUE, KEYS="o-1 o-2")
        for found in (
            await admin.messages.by_offset_id(offset_id),
            *await admin.messages.by_unique_id("orders", UNIQUE),
            *await admin.messages.by_key("orders", "o-2"),
            await admin.messages.find("orders", offset_id),
            await admin.messages.find("orders", UNIQUE),
        ):
            assert found is not None
            assert (found.body, found.keys) == (b"paid", ("o-1", "o-2"))
        assert await admin.messages.by_key("orders", "o-3") == []
        assert await admin.messages.by_key("orders", "o-1", end=1) == []
        assert await admin.messages.find("orders", "nothing") is None
        assert await admin.messages.find("orders", offset_id[:-2] + "01") is None

    with_admin(test, brokers=2)


def test_a_topic_is_read_from_time_to_time_on_all_brokers() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        times = []
        for number in range(3):
            await put(cluster.client, (QUEUE, OTHER)[number % 2], b"%d" % number)
            times.append(cluster.clock.now().wall_ms + 1)
            cluster.clock.advance(60)

        async def bodies(start: int, end: int, limit: int | None = None) -> list[bytes]:
            found = admin.messages.between("orders", start=start, end=end, limit=limit)
            return sorted([one.body async for one in found])

        assert await bodies(0, times[2]) == [b"0", b"1", b"2"]
        assert await bodies(times[0], times[1]) == [b"1"]
        assert len(await bodies(0, times[2], 2)) == 2

    with_admin(test, brokers=2)
