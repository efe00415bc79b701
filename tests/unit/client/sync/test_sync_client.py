import asyncio
import inspect
import threading

import pytest

import aerobee
from aerobee.client.api.receipt import Receipt
from aerobee.client.client import Client, connect
from aerobee.client.consumer.consumer import Consumer
from aerobee.client.consumer.reader import Reader
from aerobee.client.send.producer import Producer
from aerobee.client.send_modes.spill import Spill, Spilled
from aerobee.client.send_modes.transactions import Transaction
from aerobee.client.sync.sync_client import (
    THREAD,
    SyncClient,
    connect_sync,
    sync,
)
from aerobee.client.sync.sync_consumer import SyncConsumer, SyncReader
from aerobee.client.sync.sync_producer import SyncProducer, SyncReceipt
from aerobee.client.sync.sync_send_modes import SyncSpill, SyncSpilled, SyncTransaction
from aerobee.errors import Misuse
from aerobee.testing import Cluster
from aerobee.testing.thread_cluster import ThreadCluster
from tests.net_kit import in_loop


def verbs(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("waiting", "original", "left_out"),
    [
        (SyncClient, Client, set[str]()),
        (SyncConsumer, Consumer, {"options"}),
        (SyncReader, Reader, {"options"}),
        (SyncReceipt, Receipt, set[str]()),
        (SyncProducer, Producer, set[str]()),
        (SyncTransaction, Transaction, set[str]()),
        (SyncSpill, Spill, {"rules"}),
        (SyncSpilled, Spilled, set[str]()),
    ],
)
def test_every_verb_is_there_with_its_signature(
    waiting: type, original: type, left_out: set[str]
) -> None:
    assert verbs(original) - left_out <= verbs(waiting)
    for name in verbs(waiting) & verbs(original):
        ours, theirs = getattr(waiting, name, None), getattr(original, name)
        if inspect.isfunction(ours) and name not in ("reply", "run"):  # they take our messages
            assert inspect.signature(ours).parameters == inspect.signature(theirs).parameters


def test_connecting_takes_what_the_other_takes() -> None:
    assert inspect.signature(connect_sync) == inspect.signature(connect)
    assert aerobee.connect_sync is connect_sync


def test_what_is_sent_is_received_and_acknowledged() -> None:
    with ThreadCluster() as cluster, connect_sync(cluster.address) as client:
        receipt = client.send("orders", {"id": 7}, tag="paid", keys=["o-7"])
        with client.consumer("orders", group="billing", start="earliest") as consumer:
            for message in consumer:
                with message.process():
                    assert message.json() == {"id": 7}
                    assert (message.tag, message.attempt) == ("paid", 1)
                    assert message.message_id == receipt.message_id
                break
            consumer.commit()
        assert client.admin.groups.progress("billing", topic="orders").lag == 0


def test_its_thread_is_there_while_it_is_open_and_only_then() -> None:
    def threads() -> set[str]:
        return {thread.name for thread in threading.enumerate()}

    client = connect_sync("127.0.0.1:1")
    assert THREAD not in threads()
    with client:
        assert THREAD in threads()
        with pytest.raises(Misuse, match="open already"):
            client.open()
    assert THREAD not in threads()
    with pytest.raises(Misuse, match="not open"):
        client.send("orders", b"x")
    client.close()


def test_other_threads_use_a_client_of_a_loop_and_the_loop_may_not() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            waiting = sync(cluster.client)
            receipt = await asyncio.to_thread(waiting.send, "orders", b"x")
            assert receipt.offset == 0
            with pytest.raises(Misuse, match="inside the event loop"):
                waiting.send("orders", b"x")
            with pytest.raises(Misuse, match="where it was opened"):
                waiting.close()

    in_loop(test)
