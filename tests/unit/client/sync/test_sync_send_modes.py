import threading
from pathlib import Path

import pytest

from aerobee.client.send_modes.spill import Spill
from aerobee.client.send_modes.transactions import Transaction
from aerobee.client.sync.sync_client import connect_sync
from aerobee.client.sync.sync_producer import SyncReceipt
from aerobee.client.sync.sync_send_modes import SyncSpill, SyncTransaction
from aerobee.errors import Misuse, RequestTimeout
from aerobee.testing.thread_cluster import ThreadCluster


@pytest.mark.parametrize(
    ("waiting", "original"), [(SyncTransaction, Transaction), (SyncSpill, Spill)]
)
def test_every_verb_is_there(waiting: type, original: type) -> None:
    assert {name for name in dir(original) if name[0] != "_"} <= set(dir(waiting))


def test_transactions_requests_and_spills_can_be_waited_for(tmp_path: Path) -> None:
    with ThreadCluster() as cluster, connect_sync(cluster.address) as client:
        with client.transaction(
            "orders", b"seen", check=lambda message: True, group="tx"
        ) as transaction:
            assert transaction.message_id
        with pytest.raises(ZeroDivisionError), client.transaction("orders", b"never", group="tx"):
            raise ZeroDivisionError
        with client.spill(str(tmp_path / "spill.sqlite")) as spill:
            assert isinstance(spill.send("orders", b"sent"), SyncReceipt)
            assert spill.waiting == 0
        messages = [client.receive("orders", group="g", timeout=60) for _ in range(2)]
        assert {message.body for message in messages} == {b"seen", b"sent"}
        with pytest.raises(RequestTimeout):
            client.request("orders", b"anybody?", timeout=2)
        with pytest.raises(Misuse, match="no reply"):
            client.reply(messages[0], b"x")


def test_a_request_is_replied_to() -> None:
    with ThreadCluster() as cluster:
        client = cluster.client

        def answer() -> None:
            with client.consumer("prices", group="shop", start="earliest") as consumer:
                message = consumer.receive()
                client.reply(message, message.body + b"!")
                message.ack()

        client.admin.topics.create("prices", queues=1)
        answering = threading.Thread(target=answer)
        answering.start()
        assert client.request("prices", b"tea", timeout=60).body == b"tea!"
        answering.join()
