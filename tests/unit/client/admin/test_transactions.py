import pytest

import aerobee as mq
from aerobee.client.admin.admin import Admin
from aerobee.client.admin.transactions import HeldTransaction
from aerobee.errors import RemoteAnswer
from aerobee.model.flags import TransactionType
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.names import TRANSACTION_GIVEN_UP_TOPIC
from aerobee.testing import Cluster
from tests.admin_kit import put, with_admin

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))


async def begun(admin: Admin, cluster: Cluster, count: int) -> list[HeldTransaction]:
    await admin.topics.create("orders", queues=1)
    flag = str(int(TransactionType.PREPARED))
    for number in range(count):
        await put(
            cluster.client,
            QUEUE,
            b"%d" % number,
            sys_flag=flag,
            TRAN_MSG="true",
            PGROUP="shop",
            UNIQ_KEY=f"{number:032X}",
        )
    return [one async for one in admin.transactions.open()]


def test_open_transactions_are_listed_page_after_page() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        found = await begun(admin, cluster, 40)
        assert [one.facts.message_id for one in found] == [f"{one:032X}" for one in range(40)]
        assert {(one.broker, one.facts.topic) for one in found} == {("broker-a", "orders")}
        assert await admin.transactions.count() == {"broker-a": 40}
        assert [one async for one in admin.transactions.open(group="other")] == []

    with_admin(test)


def test_one_is_committed_and_one_rolled_back_by_hand() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        first, second = await begun(admin, cluster, 2)
        cluster.clock.advance(600)
        await admin.transactions.commit(first)
        await admin.transactions.rollback(second)
        assert await admin.transactions.count() == {"broker-a": 0}
        assert [one.body async for one in admin.queues.read(QUEUE)] == [b"0"]
        with pytest.raises(RemoteAnswer):
            await admin.transactions.commit(second)

    with_admin(test)


def test_one_that_was_not_given_up_is_not_taken_up_again() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        (held,) = await begun(admin, cluster, 1)
        with pytest.raises(RemoteAnswer, match="given up"):
            await admin.transactions.check_again(held.facts.offset_message_id)

    with_admin(test)


def test_those_given_up_are_listed_before_a_name_server_has_heard_of_their_topic() -> None:
    async def unknown(message: mq.Message) -> None:
        return None

    async def listed(admin: Admin, *on: str) -> list[bytes]:
        return [one.body async for one in admin.transactions.given_up(on=on or None)]

    async def test(admin: Admin, cluster: Cluster) -> None:
        assert await listed(admin) == []
        await cluster.client.answer_checks("shop", unknown, topics=["orders"])
        held = await begun(admin, cluster, 2)
        assert await listed(admin) == []
        while held:
            cluster.clock.advance(60)
            held = [one async for one in admin.transactions.open()]
        assert await listed(admin) == [b"0", b"1"]
        await admin.topics.forget(TRANSACTION_GIVEN_UP_TOPIC)
        assert await listed(admin) == [b"0", b"1"]
        assert await listed(admin, "broker-a") == [b"0", b"1"]
        assert await listed(admin, "broker-b") == []

    with_admin(test, brokers=2, settings={"transactionCheckMax": "1"})
