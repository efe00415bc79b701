import threading
import time
from collections.abc import Sequence

import pytest

from aerobee.client.api.message import Message
from aerobee.client.sync.sync_client import THREAD
from aerobee.client.sync.sync_consumer import SyncBatch, SyncMessage
from aerobee.errors import Misuse
from aerobee.testing.thread_cluster import ThreadCluster


def verbs(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_everything_that_a_message_says_is_said() -> None:
    said = {
        "body", "topic", "tag", "keys", "headers", "properties", "message_id", "attempt",
        "priority", "queue", "offset", "born_at", "stored_at", "json", "process", "ack", "nack",
        "reject", "extend", "reply",
    }  # fmt: skip
    assert said == verbs(SyncMessage)
    assert said <= verbs(Message)


def test_a_message_has_the_priority_that_it_was_sent_with() -> None:
    with ThreadCluster() as cluster:
        client = cluster.client
        client.admin.topics.create("alarms", queues=4, attributes={"message.type": "PRIORITY"})
        client.send("alarms", b"x", priority=3)
        message = client.receive("alarms", group="on-call")
        assert (message.priority, message.queue.queue_id) == (3, 3)


def test_a_handler_that_fails_has_its_message_again() -> None:
    with ThreadCluster() as cluster:
        client = cluster.client
        client.send("orders", b"x")
        attempts = []
        with client.consumer("orders", group="billing", start="earliest") as consumer:
            for message in consumer:
                attempts.append(message.attempt)
                with message.process():
                    if message.attempt == 1:
                        cluster.clock.advance(0)
                        raise ValueError("not yet")
                if message.attempt == 2:
                    break
                cluster.clock.advance(3600)
        assert attempts == [1, 2]


def test_handlers_run_on_threads_until_the_consumer_is_closed() -> None:
    with ThreadCluster() as cluster:
        client = cluster.client
        client.send_batch("orders", [b"0", b"1", b"2"])
        seen: list[bytes] = []
        consumer = client.consumer("orders", group="billing", start="earliest", concurrency=2)
        consumer.open()

        def handle(message: SyncMessage) -> None:
            assert threading.current_thread().name != THREAD
            seen.append(message.body)
            if len(seen) == 3:
                threading.Thread(target=consumer.close).start()

        consumer.run(handle)
        assert sorted(seen) == [b"0", b"1", b"2"]


def test_a_reader_reads_from_where_it_is_told_to() -> None:
    with ThreadCluster() as cluster:
        client = cluster.client
        client.send_batch("orders", [b"0", b"1", b"2"])
        with client.reader("orders", start="earliest") as reader:
            assert next(reader).body == b"0"
            assert [one.body for one in reader.read(2, timeout=60)] == [b"1", b"2"]
            (queue,) = [one for one in reader.all_queues() if reader.position(one) == 3]
            reader.seek(1, queue=queue)
            assert next(reader).body == b"1"


@pytest.mark.parametrize("is_iterating", [True, False])
def test_what_an_exception_takes_out_of_the_block_is_not_waited_for(is_iterating: bool) -> None:
    with ThreadCluster() as cluster:
        client = cluster.client
        client.send("orders", b"x")
        began = time.monotonic()

        def fail() -> None:
            with client.consumer("orders", group="g", start="earliest", grace=190) as consumer:
                if is_iterating:
                    for _ in consumer:
                        raise ZeroDivisionError
                consumer.receive()
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert time.monotonic() - began < 150
        with client.consumer("orders", group="g", start="earliest") as consumer:
            again = consumer.receive()
            assert again.body == b"x"
            again.ack()


def test_a_consumer_and_a_reader_that_nobody_opened_say_so() -> None:
    with ThreadCluster() as cluster:
        with pytest.raises(Misuse, match="not open"):
            iter(cluster.client.consumer("orders", group="g"))
        with pytest.raises(Misuse, match="not open"):
            iter(cluster.client.reader("orders"))


def test_many_are_received_and_settled_at_once() -> None:
    assert verbs(SyncBatch) - verbs(Sequence) == {"ack", "nack", "process"}
    with ThreadCluster() as cluster:
        client = cluster.client
        client.send_batch("orders", [b"0", b"1", b"2"])
        with client.consumer("orders", group="billing", start="earliest") as consumer:
            batch = consumer.receive_many(2)
            assert [message.body for message in batch] == [b"0", b"1"]
            assert (len(batch), batch[1].body, batch[:1][0].body) == (2, b"1", b"0")
            batch[0].ack()
            with batch.process():
                assert repr(batch) == "ReceivedBatch(2 messages, 1 to be settled)"
            assert repr(batch) == "ReceivedBatch(2 messages, 0 to be settled)"
            last = consumer.receive_many(2)
            last.nack(delay=60)
            assert len(consumer.receive_many(2, timeout=0.01)) == 0
            cluster.clock.advance(60)
            again = consumer.receive_many(2)
            assert [(one.body, one.attempt) for one in again] == [(b"2", 2)]
            again.ack()


def test_a_batch_that_an_exception_takes_out_of_the_block_is_not_waited_for() -> None:
    with ThreadCluster() as cluster:
        client = cluster.client
        client.send_batch("orders", [b"0", b"1"])
        began = time.monotonic()

        def fail() -> None:
            with client.consumer("orders", group="g", start="earliest") as consumer:
                consumer.receive_many(2)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert time.monotonic() - began < 20
        with client.consumer("orders", group="g", start="earliest") as consumer:
            again = consumer.receive_many(2)
            assert [message.body for message in again] == [b"0", b"1"]
            again.ack()
