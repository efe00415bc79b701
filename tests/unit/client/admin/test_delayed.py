import pytest

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.delayed import delays_in
from aerobee.errors import Refused
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.admin_kit import put, with_admin

QUEUE = MessageQueue("later", "broker-a", QueueId(0))


def test_delays_of_levels_are_read_from_a_setting() -> None:
    assert delays_in("1s 5m 2h 1d") == [1_000, 300_000, 7_200_000, 86_400_000]
    assert delays_in("") == delays_in("1s x") == delays_in("s") == []


def test_messages_of_a_level_are_due_in_the_order_of_their_queue() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("later", queues=1)
        for number in range(3):
            await put(cluster.client, QUEUE, b"%d" % number, DELAY="3")
        (level,) = await admin.messages.delayed.levels()
        assert (level.broker, level.level, level.delay_ms, level.waiting) == (
            *("broker-a", 3, 10_000, 3),
        )
        found = [one async for one in admin.messages.delayed.of_level(level)]
        assert [one.message.body for one in found] == [b"0", b"1", b"2"]
        assert {one.topic for one in found} == {"later"}
        assert all(one.due_ms == one.message.store_timestamp + 10_000 for one in found)
        assert (
            len([one async for one in admin.messages.delayed.of_level(level, start=2, limit=1)])
            == 1
        )

    with_admin(test)


def test_messages_with_a_time_are_listed_until_they_are_taken_back() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("later", queues=1)
        await admin.brokers.set_config({"recallMessageEnable": "true"})
        receipts = [await cluster.client.send("later", b"x", delay=600) for _ in range(2)]
        now = cluster.clock.now().wall_ms
        found, is_all = await admin.messages.delayed.timed("broker-a", now)
        assert is_all
        assert [one.message.message_id for one in found] == [one.message_id for one in receipts]
        assert all(now + 590_000 < one.due_ms <= now + 602_000 for one in found)
        first = found[0]
        await admin.messages.delayed.recall(
            "broker-a", "later", first.due_ms, first.message.message_id
        )
        left, _ = await admin.messages.delayed.timed("broker-a", now)
        assert [one.message.message_id for one in left] == [receipts[1].message_id]
        assert (await admin.messages.delayed.timed("broker-a", now, limit=1)) == ([], False)
        with pytest.raises(Refused, match="not taken back"):
            await admin.messages.delayed.recall("broker-a", "later", 1, receipts[1].message_id)

    with_admin(test)
