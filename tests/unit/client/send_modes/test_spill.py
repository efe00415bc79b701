import asyncio
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from aerobee.client.api.receipt import Receipt
from aerobee.client.client import Client
from aerobee.client.send_modes.spill import Spill, Spilled
from aerobee.errors import Misuse, SendFailed
from tests.client_kit import LocalCluster, bodies_of, session_of, turns, until, with_cluster


async def stop_broker(cluster: LocalCluster, client: Client) -> int:
    """Where it was."""
    (address,) = session_of(client).routes.broker_addresses()
    await cluster.stop_broker("broker-a")
    await until(lambda: session_of(client).connections.find(address) is None)
    return int(address.rpartition(":")[2])


async def send(spill: Spill, body: bytes) -> Receipt | Spilled:
    return await spill.send("t", body, order_by="k", timeout=60, retries=0)


def test_sends_wait_while_no_broker_answers_and_go_out_in_order(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, client.spill(str(tmp_path / "s.sqlite")) as spill:
            assert isinstance(await send(spill, b"0"), Receipt)
            port = await stop_broker(cluster, client)
            spilled = [await send(spill, b"%d" % number) for number in range(1, 10)]
            assert all(isinstance(receipt, Spilled) for receipt in spilled)
            assert spill.waiting == 9
            await cluster.start_broker("broker-a", port)
            # Sent while others wait: behind them, though a broker is there again.
            do_others_wait = spill.waiting > 0
            last = await send(spill, b"10")
            await spill.drained()
            assert await bodies_of(client, "t") == [b"%d" % number for number in range(11)]
            assert isinstance(last, Spilled) == do_others_wait
            receipts = [await one.delivered() for one in spilled if isinstance(one, Spilled)]
            assert [receipt.offset for receipt in receipts] == list(range(1, 10))
            assert receipts[0].message_id == spilled[0].message_id
            assert isinstance(await send(spill, b"11"), Receipt)
            assert (spill.waiting, spill.waiting_bytes) == (0, 0)

    with_cluster(tmp_path, test)


def test_what_waits_survives_the_process_and_goes_out_at_the_next_start(tmp_path: Path) -> None:
    path = str(tmp_path / "s.sqlite")

    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("t", b"0", order_by="k")
            port = await stop_broker(cluster, client)
            async with client.spill(path) as spill:
                waiting = [await send(spill, b"%d" % number) for number in range(1, 4)]
            with pytest.raises(asyncio.CancelledError):
                await waiting[0].delivered()  # type: ignore[union-attr]
            with pytest.raises(Misuse, match="not open"):
                await send(spill, b"late")
            await cluster.start_broker("broker-a", port)
            async with client.spill(path) as spill:
                await spill.drained()
            assert await bodies_of(client, "t") == [b"0", b"1", b"2", b"3"]

    with_cluster(tmp_path, test)


def test_a_full_file_refuses_with_what_is_known_of_the_send(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("t", b"0", order_by="k")
            await stop_broker(cluster, client)
            async with client.spill(str(tmp_path / "s.sqlite"), max_bytes=400) as spill:
                await send(spill, bytes(100))
                with pytest.raises(SendFailed, match="is full: 1 messages"):
                    await send(spill, bytes(300))
                assert spill.waiting == 1

    with_cluster(tmp_path, test)


def test_what_waited_too_long_is_dropped_and_counted(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("t", b"0", order_by="k")
            port = await stop_broker(cluster, client)
            path = str(tmp_path / "s.sqlite")
            async with client.spill(path, expire=timedelta(milliseconds=1)) as spill:
                spilled = await send(spill, b"old")
                await until(lambda: spill.expired == 1)
                assert isinstance(spilled, Spilled)
                with pytest.raises(SendFailed, match="waited too long"):
                    await spilled.delivered()
            await cluster.start_broker("broker-a", port)
            await client.send("t", b"1", order_by="k")
            assert await bodies_of(client, "t") == [b"0", b"1"]

    with_cluster(tmp_path, test)


def test_what_a_broker_does_not_want_is_raised_and_not_kept(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, client.spill(str(tmp_path / "s.sqlite")) as spill:
            with pytest.raises(SendFailed, match="NO_PERMISSION"):
                await spill.send("SCHEDULE_TOPIC_XXXX", b"x", timeout=60, retries=0)
            assert spill.waiting == 0

    with_cluster(tmp_path, test)


def test_one_that_a_broker_does_not_want_stands_in_nobodys_way(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, client.spill(str(tmp_path / "s.sqlite")) as spill:
            await send(spill, b"0")
            port = await stop_broker(cluster, client)
            bad = await spill.send("t", bytes(200_000), order_by="k", compress=False, retries=0)
            await send(spill, b"1")
            await cluster.start_broker("broker-a", port)
            await spill.drained()
            assert await bodies_of(client, "t") == [b"0", b"1"]
            assert spill.refused == 1
            assert isinstance(bad, Spilled)
            with pytest.raises(SendFailed, match="MESSAGE_ILLEGAL"):
                await bad.delivered()

    with_cluster(tmp_path, test, maxMessageSize="100000")


def test_a_send_that_is_given_up_while_it_is_written_leaves_the_spill_whole(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client, client.spill(str(tmp_path / "s.sqlite")) as spill:
            await send(spill, b"0")
            port = await stop_broker(cluster, client)
            await send(spill, b"1")
            for count in range(8):
                sending = asyncio.create_task(send(spill, b"given up"))
                await turns(count)
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
            await send(spill, b"2")
            await cluster.start_broker("broker-a", port)
            await spill.drained()
            bodies = [body for body in await bodies_of(client, "t") if body != b"given up"]
            assert bodies == [b"0", b"1", b"2"]

    with_cluster(tmp_path, test)


def test_its_thread_has_a_name_and_ends_with_it(tmp_path: Path) -> None:
    def names() -> list[str]:
        return [one.name for one in threading.enumerate() if one.name.startswith("aerobee-spill")]

    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            async with client.spill(str(tmp_path / "s.sqlite")) as spill:
                assert len(names()) == 1
                with pytest.raises(Misuse, match="another process"):
                    async with client.spill(str(tmp_path / "s.sqlite")):
                        raise AssertionError("it was opened twice")
                await send(spill, b"x")
            await until(lambda: not names())

    with_cluster(tmp_path, test)
