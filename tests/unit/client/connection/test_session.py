import asyncio
import os
from pathlib import Path

import pytest

from aerobee.client.client import connect
from aerobee.errors import Misuse, Unreachable
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from tests.client_kit import LocalCluster, session_of, turn, with_cluster
from tests.net_kit import in_loop


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def test_a_client_is_used_between_open_and_close_only() -> None:
    async def test() -> None:
        client = connect("127.0.0.1:1")
        with pytest.raises(Misuse, match="not open"):
            session_of(client).check()
        async with client:
            session_of(client).check()
            with pytest.raises(Misuse, match="already"):
                await client.open()
        with pytest.raises(Misuse, match="not open"):
            session_of(client).check()

    in_loop(test)


def test_a_client_of_before_a_fork_says_so() -> None:
    async def test() -> None:
        async with connect("127.0.0.1:1") as client:
            child = os.fork()
            if child == 0:
                try:
                    session_of(client).check()
                except Misuse as error:
                    os._exit(0 if "fork" in str(error) else 1)
                os._exit(2)
            assert os.waitpid(child, 0)[1] == 0

    in_loop(test)


def test_what_a_client_runs_ends_with_it() -> None:
    async def test() -> None:
        async with connect("127.0.0.1:1") as client:
            task = session_of(client).spawn(_for_ever(), "a wait")
            await turn()
        assert task.cancelled()

    in_loop(test)


def test_an_address_that_cannot_be_reached_names_who_gave_it(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            session = session_of(client)
            route = await session.routes.of("TBW102")
            await cluster.stop_broker("broker-a")
            address = route.master("broker-a")
            assert address is not None
            with pytest.raises(Unreachable) as caught:
                await session.ask(address, RemotingCommand(RequestCode.HEART_BEAT))
            assert cluster.address in caught.value.message
            assert "brokerIP1" in caught.value.hint

    with_cluster(tmp_path, test)


def test_a_client_of_another_loop_says_so(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            for body in (b"first", b"second"):  # by the general way, and by the short one
                await client.send("orders", body)

                def elsewhere(body: bytes) -> None:
                    with pytest.raises(Misuse, match="another event loop"):
                        asyncio.run(client.send("orders", body))
                    with pytest.raises(Misuse, match="another event loop"):
                        asyncio.run(client.consumer("orders", group="g").open())

                await asyncio.to_thread(elsewhere, body)

    with_cluster(tmp_path, test)
