import pytest

from aerobee.client.admin.admin import Admin
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue
from aerobee.model.subscription import MessageModel
from aerobee.testing import Cluster
from tests.admin_kit import join, with_admin


def test_a_client_of_two_brokers_is_shown_once() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders")
        await join(cluster.client, "billing", "orders", "paid")
        found = await admin.connections.consumers("billing")
        assert [one.client_id for one in found.clients] == [cluster.client.id]
        assert found.manner is not None
        assert found.manner.message_model is MessageModel.CLUSTERING
        assert [(one.topic, one.tags) for one in found.subscriptions] == [("orders", ("paid",))]
        assert await admin.connections.client_ids("billing") == [cluster.client.id]

    with_admin(test, brokers=2)


def test_a_group_that_nobody_is_in_is_empty() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        assert (await admin.connections.consumers("billing")).clients == ()
        assert await admin.connections.client_ids("billing") == []
        assert await admin.connections.producers("shop") == []
        assert await admin.connections.positions("billing", "orders") == {}
        with pytest.raises(Misuse, match="who is there"):
            await admin.connections.running_info("billing", "nobody")

    with_admin(test)


def test_members_that_disagree_are_named() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders")
        async with cluster.connect() as other:
            await join(cluster.client, "billing", "orders", "paid")
            await join(other, "billing", "orders", "created")
            found = await admin.connections.consumers("billing")
            assert found.mismatches == {
                "orders": {"TAG: paid": (cluster.client.id,), "TAG: created": (other.id,)}
            }

    with_admin(test)


def test_producers_are_shown_by_their_group() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders")
        session = cluster.client._session
        await session.routes.of("orders")
        await session.members.produce("shop")
        (one,) = await admin.connections.producers("shop")
        assert one.client_id == cluster.client.id
        assert list(await admin.connections.producers_of_all()) == ["shop"]

    with_admin(test)


def test_each_queue_has_the_member_that_says_it_has_it() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=4)
        assert await admin.connections.owners("billing") == {}
        async with cluster.connect() as other:
            clients = (cluster.client, other)
            consumers = [client.consumer("orders", group="billing") for client in clients]
            async with consumers[0], consumers[1]:
                owners: dict[MessageQueue, str] = {}
                while len({*owners.values()}) < 2:
                    owners = await admin.connections.owners("billing")
                mine = {queue for queue in owners if queue.topic == "orders"}
                assert len(mine) == 4
                assert {*owners.values()} == {client.id for client in clients}

    with_admin(test)
