import pytest

from aerobee.testing.thread_cluster import ThreadCluster


def test_a_delayed_message_is_taken_back_and_one_is_received_at_once() -> None:
    with ThreadCluster() as cluster:
        client = cluster.client
        later = client.send("orders", b"later", delay=60)
        later.cancel()
        client.send("orders", b"now")
        cluster.clock.advance(120)
        assert client.receive("orders", group="billing", timeout=60).body == b"now"
        with pytest.raises(TimeoutError):
            client.receive("orders", group="billing", timeout=0.2)


def test_a_producer_sends_in_batches_and_waits_when_told_to() -> None:
    with ThreadCluster() as cluster:
        client = cluster.client
        with client.producer("orders", linger=0.001) as producer:
            for number in range(20):
                producer.send_nowait(b"%d" % number)
            receipt = producer.send(b"last", keys=["o-1"])
            producer.drain()
            assert producer.pending == 0
        stats = client.admin.topics.stats("orders")
        assert sum(one.max_offset for one in stats.queues.values()) == 21
        found = client.admin.queues.at(receipt.queue, receipt.offset)
        assert found is not None
        assert found.body == b"last"
