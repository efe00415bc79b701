import pytest

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.dead_letters import origin_of
from aerobee.errors import Misuse
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.admin_kit import join, put, with_admin

DEAD = MessageQueue("%DLQ%billing", "broker-a", QueueId(0))
RETRY = MessageQueue("%RETRY%billing", "broker-a", QueueId(0))


async def given_up(admin: Admin, cluster: Cluster, count: int) -> list[StoredMessage]:
    await admin.topics.create("orders", queues=1)
    await join(cluster.client, "billing", "orders")
    await admin.topics.create("%DLQ%billing", queues=1)
    for number in range(count):
        await put(
            cluster.client,
            DEAD,
            b"%d" % number,
            TAGS="paid",
            DLQ_ORIGIN_TOPIC="orders",
            UNIQ_KEY=f"{number:032X}",
            colour="red",
            RECONSUME_TIME="16",
        )
    return [one async for one in admin.dead_letters.of("billing")]


def test_dead_letters_are_counted_and_shown() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        assert await admin.dead_letters.count("billing") == 0
        assert [one async for one in admin.dead_letters.of("billing")] == []
        letters = await given_up(admin, cluster, 3)
        assert [one.body for one in letters] == [b"0", b"1", b"2"]
        assert await admin.dead_letters.count("billing") == 3
        assert await admin.dead_letters.groups() == ["billing"]
        assert origin_of(letters[0]) == "orders"

    with_admin(test)


def test_a_letter_that_is_sent_again_goes_to_its_group_as_if_it_were_new() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        (letter,) = await given_up(admin, cluster, 1)
        assert await admin.dead_letters.resend(letter, group="billing")
        sent = await admin.queues.at(RETRY, 0)
        assert sent is not None
        assert (sent.body, sent.tag, sent.reconsume_times) == (b"0", "paid", 0)
        assert sent.unique_id == letter.unique_id
        assert sent.properties["colour"] == "red"
        assert sent.properties["RETRY_TOPIC"] == "orders"
        assert "RECONSUME_TIME" not in sent.properties
        await admin.dead_letters.resend(letter, group="billing", topic="orders")
        again = await admin.queues.at(MessageQueue("orders", "broker-a", QueueId(0)), 0)
        assert again is not None
        assert "RETRY_TOPIC" not in again.properties

    with_admin(test)


def test_all_of_them_are_sent_again_but_no_more_than_were_asked_for() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await given_up(admin, cluster, 5)
        rate = 10_000.0
        count = await admin.dead_letters.resend_all("billing", limit=2, per_second=rate)
        assert (count, await admin.offsets.bounds(RETRY)) == (2, (0, 2))
        assert await admin.dead_letters.resend_all("billing", per_second=rate) == 5
        with pytest.raises(Misuse):
            await admin.dead_letters.resend_all("billing", per_second=0)

    with_admin(test)
