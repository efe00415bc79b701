"""A client in a process that was forked from its own says so when it is used, and never hangs."""

import os
import traceback
from collections.abc import Coroutine
from pathlib import Path

from aerobee.client.client import Client
from aerobee.client.send_modes.spill import Spill
from aerobee.client.send_modes.transactions import Transaction
from aerobee.errors import Misuse
from tests.client_kit import LocalCluster, with_cluster


def is_refused(use: Coroutine[object, object, object]) -> bool:
    """Whether it says so before it waits for anything."""
    try:
        use.send(None)
    except Misuse as error:
        return "fork" in str(error)
    return False


def uses(
    client: Client, spill: Spill, transaction: Transaction
) -> list[Coroutine[object, object, object]]:
    return [
        client.send("t", b"x"),
        client.send("t", b"x", dedup="P"),
        client.send_batch("t", [b"x"], dedup="P"),
        client.request("t", b"x"),
        client.answer_checks("g", lambda message: True, topics=["t"]),
        transaction.__aenter__(),
        spill.send("t", b"x"),
    ]


def in_a_fork(client: Client, spill: Spill, transaction: Transaction) -> int:
    """How many uses were not refused in another process."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            status = sum(not is_refused(use) for use in uses(client, spill, transaction))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_every_verb_of_sending_is_refused_after_a_fork(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, client.spill(str(tmp_path / "s.sqlite")) as spill:
            await client.send("t", b"x")
            await client.send("t", b"x", dedup="P")
            transaction = client.transaction("t", b"x", check=lambda message: True, group="g")
            assert in_a_fork(client, spill, transaction) == 0
            await client.send("t", b"the parent goes on")
            await cluster.stop_broker("broker-a")
            await spill.send("t", b"waits", timeout=0.2, retries=0)
            assert in_a_fork(client, spill, transaction) == 0
            await spill.send("t", b"its spill goes on")
            assert spill.waiting == 2

    with_cluster(tmp_path, test)
