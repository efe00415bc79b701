from aerobee.client.admin.admin import Admin
from aerobee.model.group import GroupConfig
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.assignment import POP, RequestMode
from aerobee.testing import Cluster
from tests.admin_kit import join, put, with_admin

FIRST = MessageQueue("orders", "broker-a", QueueId(0))
SECOND = MessageQueue("orders", "broker-b", QueueId(0))


def test_groups_are_made_shown_and_deleted_on_every_master() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        config = GroupConfig("billing", retries_max=3)
        assert await admin.groups.put(config) == ["broker-a", "broker-b"]
        await admin.groups.put_many([GroupConfig("audit"), GroupConfig("mail")], on="broker-b")
        assert await admin.groups.config("billing") == {"broker-a": config, "broker-b": config}
        assert list(await admin.groups.config("mail")) == ["broker-b"]
        assert {"billing", "audit", "mail"} <= set(await admin.groups.names())
        await admin.groups.delete("billing")
        assert await admin.groups.config("billing") == {}

    with_admin(test, brokers=2)


def test_progress_is_that_of_all_brokers_together() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        for queue in (FIRST, SECOND, SECOND):
            await put(cluster.client, queue, b"x")
        await admin.offsets.commit("billing", SECOND, 1)
        await admin.offsets.commit("billing", FIRST, 0)
        progress = await admin.groups.progress("billing")
        assert (progress.lag, progress.topics()) == (2, {"orders": 2})
        assert [progress.queues[queue].consumer_offset for queue in (FIRST, SECOND)] == [0, 1]
        assert (await admin.groups.progress("billing", topic="orders")).lag == 2
        assert (await admin.groups.progress_of_all())["billing"].lag == 2
        spans = await admin.groups.time_spans("billing", "orders")
        assert [span.queue for span in spans] == [FIRST, SECOND]
        assert spans[1].consume_timestamp >= spans[1].min_timestamp > 0
        assert await admin.groups.topics("billing") == ["orders"]

    with_admin(test, brokers=2)


def test_deleting_a_group_takes_its_offsets_unless_they_are_to_stay() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        await put(cluster.client, FIRST, b"x")
        await admin.offsets.commit("billing", FIRST, 1)
        await admin.groups.delete("billing", keep_offsets=True)
        assert await admin.offsets.committed("billing", FIRST) == 1
        await admin.groups.delete("billing")
        assert await admin.offsets.committed("billing", FIRST) is None

    with_admin(test)


def test_what_a_group_wants_and_may_read_is_shown() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        assert await admin.groups.subscription("billing", "orders") is None
        await join(cluster.client, "billing", "orders", "paid || created")
        found = await admin.groups.subscription("billing", "orders")
        assert found is not None
        assert found.tags == ("paid", "created")
        assert await admin.groups.may_read("billing", "orders") == {"broker-a": True}
        assert await admin.groups.allow("billing", "orders", is_allowed=False) == {
            "broker-a": False
        }
        assert await admin.groups.may_read("billing", "orders") == {"broker-a": False}

    with_admin(test)


def test_how_a_group_reads_a_topic_is_set_and_shown() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders")
        mode = RequestMode("orders", "billing", POP, 2)
        assert await admin.groups.set_request_mode(mode) == ["broker-a"]
        assert await admin.groups.request_modes() == {"broker-a": [mode]}

    with_admin(test)
