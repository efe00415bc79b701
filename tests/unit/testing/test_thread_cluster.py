import threading

import pytest

from aerobee.errors import Misuse
from aerobee.testing.thread_cluster import ThreadCluster
from tests.net_kit import in_loop


def cluster_threads() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name == "aerobee-cluster"}


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
    before = cluster_threads()
    with ThreadCluster() as cluster:
        assert len(cluster_threads() - before) == 1
    assert cluster_threads() == before
    with pytest.raises(Misuse):
        cluster.stop_broker("broker-a")


def test_a_cluster_that_cannot_start_leaves_no_thread() -> None:
    before = cluster_threads()
    cluster = ThreadCluster(settings={"mappedFileSizeCommitLog": "no number"})
    with pytest.raises(Misuse), cluster:
        pass
    assert cluster_threads() == before
