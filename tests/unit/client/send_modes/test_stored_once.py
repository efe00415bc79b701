import asyncio
import contextlib
from collections import Counter
from pathlib import Path
from typing import cast

import pytest

from aerobee.client.client import Client
from aerobee.errors import Misuse, Refused, SendFailed, Stored
from aerobee.net.line import Line, open_line
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import decode, encode, reply_to
from tests.client_kit import LocalCluster, bodies_of, session_of, turns, with_cluster


def broker_line(client: Client) -> Line | None:
    session = session_of(client)
    for address, name in session.routes.broker_addresses().items():
        if name == "broker-a":
            return session.connections.find(address)
    return None


class AnotherMake(asyncio.Protocol):
    """A broker that knows no request at all."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._frames = FrameReader(FrameLimits())

    def data_received(self, data: bytes) -> None:
        self._frames.receive(data)
        while self._frames.advance():
            answer = reply_to(decode(self._frames), 3, remark="request type not supported")
            self._transport.writelines(encode(answer))


async def send_and_lose(client: Client, number: int) -> None:
    """A send whose connection ends some turns of the loop after it was written."""
    sending = asyncio.create_task(client.send("t", str(number).encode(), dedup="P", timeout=60))
    await turns(number % 7)
    line = broker_line(client)
    if line is not None:
        line.close()
    await sending


def test_a_send_whose_answer_was_lost_is_there_once(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            first = await client.send("t", b"first", dedup="P")
            assert first.offset == 0
            for number in range(40):
                await send_and_lose(client, number)
            bodies = Counter(await bodies_of(client, "t"))
            assert bodies == Counter([b"first", *(str(number).encode() for number in range(40))])

    with_cluster(tmp_path, test)


def test_batches_are_stored_once_too_and_ids_are_told_apart(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            for start in range(0, 60, 3):
                numbers = [str(start + index).encode() for index in range(3)]
                sending = asyncio.create_task(
                    client.send_batch("t", numbers, dedup="P", timeout=60)
                )
                await turns(start % 7)
                line = broker_line(client)
                if line is not None:
                    line.close()
                receipts = await sending
                assert len({receipt.offset_id for receipt in receipts}) == 3
            assert Counter(await bodies_of(client, "t")) == Counter(
                str(number).encode() for number in range(60)
            )

    with_cluster(tmp_path, test)


def test_the_same_id_goes_on_in_another_client_and_ends_the_first(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as old, cluster.client() as new:
            await old.send("t", b"old", dedup="P", order_by="k")
            await old.send("u", b"a second topic", dedup="P")
            await new.send("t", b"new", dedup="P", order_by="k")
            with pytest.raises(SendFailed, match="another client sends as 'P'") as failure:
                await old.send("t", b"late", dedup="P", order_by="k")
            assert failure.value.stored is Stored.NO
            await new.send("t", b"newer", dedup="P", order_by="k")
            assert await bodies_of(new, "t") == [b"old", b"new", b"newer"]

    with_cluster(tmp_path, test)


def test_a_producer_goes_on_after_the_broker_was_started_again(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            for number in range(5):
                await client.send("t", str(number).encode(), dedup="P", order_by="k")
            (address,) = session_of(client).routes.broker_addresses()
            await cluster.stop_broker("broker-a")
            sending = asyncio.create_task(
                client.send("t", b"5", dedup="P", order_by="k", timeout=60)
            )
            await turns(50)
            await cluster.start_broker("broker-a", int(address.rpartition(":")[2]))
            await sending
            assert await bodies_of(client, "t") == [str(number).encode() for number in range(6)]

    with_cluster(tmp_path, test)


def test_a_broker_that_remembers_no_producers_is_refused_with_the_reason(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("t", b"plain")
            session = session_of(client)
            (address,) = session.routes.broker_addresses()
            server = await asyncio.get_running_loop().create_server(AnotherMake, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            # An address that answers as a broker of another make does.
            session.connections._open[address] = await open_line(f"127.0.0.1:{port}", FrameLimits())
            with pytest.raises(Refused, match=r"remembers no producers.*needs an Aerobee broker"):
                await client.send("t", b"x", dedup="P")
            server.close()
            session.connections._open.pop(address).close()
            assert await bodies_of(client, "t") == [b"plain"]

    with_cluster(tmp_path, test)


def test_an_id_that_is_none_is_misuse(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            for producer in ("", "a b", "é", "x" * 121):
                with pytest.raises(Misuse, match="producer id"):
                    await client.send("t", b"x", dedup=producer)

    with_cluster(tmp_path, test)


def test_tries_are_not_counted_where_each_is_harmless(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            with pytest.raises(Misuse, match="until its timeout"):
                await client.send("t", b"x", dedup="P", retries=5)
            with pytest.raises(Misuse, match="until its timeout"):
                await client.send_batch("t", [b"x"], dedup="P", retries=5)

    with_cluster(tmp_path, test)


def test_a_send_that_is_given_up_leaves_a_hole_and_nothing_else(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("t", b"0", dedup="P")
            for number in range(20):
                sending = asyncio.create_task(client.send("t", b"given up", dedup="P"))
                await turns(number % 6)
                sending.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await sending
            await client.send("t", b"1", dedup="P")
            bodies = Counter(await bodies_of(client, "t"))
            assert (bodies[b"0"], bodies[b"1"]) == (1, 1)
            assert bodies[b"given up"] <= 20

    with_cluster(tmp_path, test)


def test_a_producers_batches_are_stored_once(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            async with client.producer("t", max_batch=5, dedup="P", timeout=60) as producer:
                for number in range(60):
                    producer.send_nowait(str(number).encode(), order_by=None if number % 2 else "k")
                    if number % 9 == 0:
                        await turns(number % 7)
                        line = broker_line(client)
                        if line is not None:
                            line.close()
                await producer.drain()
            assert Counter(await bodies_of(client, "t")) == Counter(
                str(number).encode() for number in range(60)
            )
            with pytest.raises(Misuse, match="producer id"):
                client.producer("t", dedup="a b")

    with_cluster(tmp_path, test)
