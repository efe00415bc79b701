import threading

import pytest

from aerobee.errors import Misuse
from aerobee.testing.thread_cluster import ThreadCluster
from tests.net_kit import in_loop


def test_a_cluster_on_a_thread_serves_both_kinds_of_client() -> None:
    with ThreadCluster(brokers=2) as cluster:
        cluster.client.admin.topics.create("orders")
        cluster.client.send("orders", b"0")

        async def test() -> None:
            async with cluster.connect() as client:
                await client.send("orders", b"1")

        in_loop(test)
        stats = cluster.client.admin.topics.stats("orders")
        assert sum(one.max_offset for one in stats.queues.values()) == 2
        cluster.stop_broker("broker-b")
        assert cluster.brokers == ["broker-a"]
        cluster.start_broker("broker-b")
        assert cluster.brokers == ["broker-a", "broker-b"]


def test_nothing_of_it_is_left() -> None:
    with ThreadCluster() as cluster:
        assert "aerobee-cluster" in {thread.name for thread in threading.enumerate()}
    assert "aerobee-cluster" not in {thread.name for thread in threading.enumerate()}
    with pytest.raises(Misuse):
        cluster.stop_broker("broker-a")


def test_a_cluster_that_cannot_start_leaves_no_thread() -> None:
    cluster = ThreadCluster(settings={"mappedFileSizeCommitLog": "no number"})
    with pytest.raises(Misuse), cluster:
        pass
    assert "aerobee-cluster" not in {thread.name for thread in threading.enumerate()}
