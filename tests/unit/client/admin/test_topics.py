import pytest

from aerobee.client.admin.admin import Admin
from aerobee.errors import TopicNotFound
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.topic import TopicConfig
from aerobee.testing import Cluster
from tests.admin_kit import put, with_admin


def test_a_topic_is_made_on_every_master_shown_and_deleted() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        made = await admin.topics.create("orders", queues=3, attributes={"message.type": "FIFO"})
        assert made == ["broker-a", "broker-b"]
        configs = await admin.topics.config("orders")
        assert set(configs) == {"broker-a", "broker-b"}
        assert configs["broker-a"] == TopicConfig(
            "orders", 3, 3, attributes={"message.type": "FIFO"}
        )
        assert "orders" in await admin.topics.names()
        assert "orders" in await admin.topics.names(cluster="DefaultCluster")
        assert {queue.broker_name for queue in (await admin.topics.route("orders")).queues} == {
            "broker-a",
            "broker-b",
        }
        assert await admin.topics.delete("orders") == ["broker-a", "broker-b"]
        assert not await admin.topics.exists("orders")
        with pytest.raises(TopicNotFound, match="orders"):
            await admin.topics.config("orders")

    with_admin(test, brokers=2)


def test_many_topics_are_made_at_once_and_one_on_one_broker_only() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.put_many([TopicConfig("A", 1, 1), TopicConfig("B", 2, 2)])
        await admin.topics.create("C", on="broker-b")
        by_broker = await admin.topics.configs()
        names = {name: {one.name for one in configs} for name, configs in by_broker.items()}
        assert {"A", "B"} <= names["broker-a"] & names["broker-b"]
        assert "C" in names["broker-b"] - names["broker-a"]
        assert list(await admin.topics.config("C")) == ["broker-b"]

    with_admin(test, brokers=2)


def test_a_permission_is_changed_and_the_rest_stays() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2, attributes={"message.type": "DELAY"})
        assert await admin.topics.set_permission("orders", 4) == ["broker-a"]
        config = (await admin.topics.config("orders"))["broker-a"]
        assert (config.permission, config.read_queues) == (4, 2)
        assert config.attributes == {"message.type": "DELAY"}

    with_admin(test)


def test_stats_say_where_queues_end_and_who_consumes() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2)
        queue = MessageQueue("orders", "broker-a", QueueId(1))
        await put(cluster.client, queue, b"one")
        stats = await admin.topics.stats("orders")
        assert [(one.queue_id, facts.max_offset) for one, facts in stats.queues.items()] == [
            (0, 0),
            (1, 1),
        ]
        assert stats.queues[queue].stored_ms > 0
        assert await admin.topics.groups("orders") == []
        await admin.offsets.commit("billing", queue, 1)
        assert await admin.topics.groups("orders") == ["billing"]

    with_admin(test)


def test_what_belongs_to_the_system_is_known() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        names = await admin.topics.system_names()
        assert {"TBW102", "broker-a", "DefaultCluster", "SCHEDULE_TOPIC_XXXX"} <= set(names)
        assert await admin.topics.names_of_units(is_unit=True, is_subscribed=False) == []
        assert await admin.topics.names_of_units(is_unit=None, is_subscribed=True) == []
        assert await admin.topics.names_of_units(is_unit=False, is_subscribed=True) == []

    with_admin(test)


def test_the_order_of_a_topic_is_set_and_taken_away() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        assert await admin.topics.order("orders") == ""
        await admin.topics.set_order("orders", {"broker-a": 4, "broker-b": 2})
        assert await admin.topics.order("orders") == "broker-a:4;broker-b:2"
        await admin.topics.set_order("orders", {})
        assert await admin.topics.order("orders") == ""

    with_admin(test)


def test_name_servers_forget_a_topic_and_its_broker_keeps_it() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders")
        assert len(await admin.topics.forget("orders", cluster="DefaultCluster")) == 1
        assert not await admin.topics.exists("orders")
        configs = (await admin.topics.configs())["broker-a"]
        assert "orders" in [config.name for config in configs]

    with_admin(test)


def test_no_topic_of_ours_is_static() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders")
        assert await admin.topics.static_names() == {"broker-a": []}

    with_admin(test)
