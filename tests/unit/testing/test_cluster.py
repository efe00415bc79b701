import os
from pathlib import Path

import pytest

from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.admin_kit import join, put
from tests.net_kit import in_loop

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))


def test_nothing_is_left_of_a_cluster() -> None:
    folders: list[str] = []

    async def test() -> None:
        async with Cluster() as cluster:
            folders.append(cluster._folder)
            assert os.path.isdir(cluster._folder)
            assert cluster.brokers == ["broker-a"]
        with pytest.raises(Misuse, match="does not run"):
            _ = cluster.client
        with pytest.raises(Misuse, match="does not run"):
            _ = cluster.address

    in_loop(test)
    assert not os.path.exists(folders[0])


def test_a_message_for_an_hour_later_is_there_when_the_clock_has_moved() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            admin = cluster.client.admin
            await admin.topics.create("orders", queues=1)
            await put(cluster.client, QUEUE, b"timed", TIMER_DELAY_SEC="3600")
            await put(cluster.client, QUEUE, b"level", DELAY="18")  # two hours
            assert await admin.offsets.bounds(QUEUE) == (0, 0)
            for seconds, body in ((3600, b"timed"), (3600, b"level")):
                cluster.clock.advance(seconds)
                while (
                    found := await admin.queues.at(QUEUE, [b"timed", b"level"].index(body))
                ) is None:
                    pass
                assert found.body == body

    in_loop(test)


def test_nobody_is_taken_for_silent_when_the_clock_moves() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            admin = cluster.client.admin
            await admin.topics.create("orders", queues=1)
            await join(cluster.client, "billing", "orders")
            cluster.clock.advance(7 * 86_400)
            await put(cluster.client, QUEUE, b"x")  # the broker has looked since
            cluster.clock.advance(7 * 86_400)
            await put(cluster.client, QUEUE, b"x")
            assert await admin.connections.client_ids("billing") == [cluster.client.id]

    in_loop(test)


def test_a_broker_that_is_started_again_has_what_it_had() -> None:
    async def test() -> None:
        async with Cluster(brokers=2) as cluster:
            admin = cluster.client.admin
            await admin.topics.create("orders", queues=1)
            await put(cluster.client, QUEUE, b"x")
            await cluster.stop_broker("broker-a")
            assert cluster.brokers == ["broker-b"]
            await cluster.start_broker("broker-a")
            assert await admin.offsets.bounds(QUEUE) == (0, 1)

    in_loop(test)


def test_a_folder_that_was_given_is_kept_and_settings_hold(tmp_path: Path) -> None:
    async def test() -> None:
        settings = {"autoCreateTopicEnable": "false"}
        async with Cluster(folder=tmp_path, settings=settings) as cluster:
            config = await cluster.client.admin.brokers.config()
            assert config["broker-a"]["autoCreateTopicEnable"] == "false"

    in_loop(test)
    assert (tmp_path / "broker-a").is_dir()


def test_a_cluster_has_brokers() -> None:
    with pytest.raises(Misuse, match="from 1 to 26"):
        Cluster(brokers=0)
