from datetime import UTC, datetime

import pytest

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.offsets import moment_ms
from aerobee.errors import Misuse, Retriable
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.admin_kit import put, with_admin

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))
OTHER = MessageQueue("orders", "broker-a", QueueId(1))


async def filled(admin: Admin, cluster: Cluster) -> None:
    """Three messages in a queue, an hour between each."""
    await admin.topics.create("orders", queues=2)
    for body in (b"0", b"1", b"2"):
        await put(cluster.client, QUEUE, body)
        cluster.clock.advance(3600)


def test_a_moment_is_a_time_with_its_zone_or_an_end() -> None:
    assert moment_ms(datetime(1970, 1, 1, 0, 1, tzinfo=UTC)) == 60_000
    assert moment_ms(5) == 5
    assert (moment_ms("earliest"), moment_ms("latest")) == (0, -1)
    for wrong in (datetime(2024, 1, 1), -5, "yesterday", True):
        with pytest.raises(Misuse):
            moment_ms(wrong)


def test_places_in_a_queue_are_found_by_time() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await filled(admin, cluster)
        assert await admin.offsets.bounds(QUEUE) == (0, 3)
        first_ms = await admin.offsets.earliest_ms(QUEUE)
        assert await admin.offsets.at_time(QUEUE, first_ms) == 0
        assert await admin.offsets.at_time(QUEUE, first_ms + 1) == 1
        assert await admin.offsets.at_time(QUEUE, first_ms, is_upper=True) == 0
        assert await admin.offsets.at_time(QUEUE, "latest") == 3
        assert await admin.offsets.at_time(QUEUE, "earliest") == 0

    with_admin(test)


def test_a_group_is_sent_to_a_time_to_an_offset_and_past_everything() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await filled(admin, cluster)
        await admin.offsets.commit("billing", QUEUE, 2)
        assert await admin.offsets.committed("billing", QUEUE) == 2
        assert await admin.offsets.committed("billing", OTHER) is None
        first_ms = await admin.offsets.earliest_ms(QUEUE)
        assert await admin.offsets.reset("billing", "orders", first_ms + 1) == {
            QUEUE: 1,
            OTHER: 0,
        }
        assert await admin.offsets.reset_queue("billing", QUEUE, 2) == {QUEUE: 2}
        with pytest.raises(Retriable, match="not in consume queue range"):
            await admin.offsets.reset_queue("billing", QUEUE, 99)
        assert (await admin.offsets.skip("billing", "orders"))[QUEUE] == 3

    with_admin(test)


def test_one_group_begins_where_another_is() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await filled(admin, cluster)
        await admin.offsets.commit("billing", QUEUE, 2)
        assert await admin.offsets.clone("billing", "audit", topic="orders") == ["broker-a"]
        assert await admin.offsets.committed("audit", QUEUE) == 2
        kept = (await admin.offsets.all())["broker-a"]
        assert kept["orders", "billing"] == kept["orders", "audit"] == {0: 2}
        await admin.offsets.commit("mail", QUEUE, 1)
        assert await admin.offsets.correction("orders", "mail") == {"broker-a": {0: 1}}
        assert await admin.offsets.correction("orders", "mail", without=("mail",)) == {
            "broker-a": {0: 2}
        }

    with_admin(test)
