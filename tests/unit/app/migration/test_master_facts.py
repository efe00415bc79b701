import asyncio
import socket
from contextlib import closing

import pytest

from aerobee.app.migration.master_facts import is_listening, master_facts, queue_counts
from aerobee.client.admin.admin import Admin
from aerobee.errors import NotFound
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.admin_kit import with_admin


def test_a_master_tells_its_name_settings_topics_and_log() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2)
        await cluster.client.send("orders", b"one")
        facts = await master_facts(admin, "broker-a")
        assert (facts.name, facts.cluster, facts.is_aerobee) == ("broker-a", "DefaultCluster", True)
        assert (facts.slave_ids, facts.free_id) == ([], 1)
        assert facts.name_servers == {cluster.address: None}
        assert facts.settings["brokerRole"] == "ASYNC_MASTER"
        assert facts.runtime.log_end > facts.runtime.log_start == 0
        assert "orders" in [one.name for one in facts.topics]

    with_admin(test)


def test_a_name_without_a_master_is_not_found_and_others_are_named() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        with pytest.raises(NotFound, match="there are: broker-a"):
            await master_facts(admin, "broker-z")

    with_admin(test)


def test_queues_are_counted_on_one_broker_and_a_topic_that_is_not_there_has_none() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        await cluster.client.send("orders", b"one")
        address = (await master_facts(admin, "broker-a")).address
        counts = await queue_counts(admin, address, ["orders", "nothing"])
        queue = MessageQueue("orders", "broker-a", QueueId(0))
        assert {one: stats.max_offset for one, stats in counts.items()} == {queue: 1}

    with_admin(test)


def test_an_address_is_listening_until_its_socket_is_closed() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert asyncio.run(is_listening(address))
    assert not asyncio.run(is_listening(address))
