import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from aerobee.client.api.message import Message
from aerobee.client.client import connect
from aerobee.errors import Misuse, Unreachable
from tests.client_kit import LocalCluster, bodies_of, session_of, turn, turns, until, with_cluster
from tests.net_kit import in_loop


def with_soon(folder: Path, test: Callable[[LocalCluster], Awaitable[None]]) -> None:
    """Beside a cluster whose brokers ask after a tenth of a second."""
    with_cluster(folder, test, transactionTimeOut="100", transactionCheckInterval="100")


def never(message: Message) -> bool:
    raise AssertionError(f"{message} was asked about")


async def seen_in(client: object, topic: str, count: int) -> list[bytes]:
    """The bodies of a topic once there are so many."""
    while True:
        found = await bodies_of(client, topic)  # type: ignore[arg-type]
        if len(found) >= count:
            return found


def test_a_message_is_seen_when_its_block_has_succeeded_and_not_before(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.send("orders", b"plain")
            async with client.transaction(
                "orders", {"id": 1}, check=never, group="tx", tag="a", keys="k", headers={"h": "1"}
            ) as transaction:
                assert await bodies_of(client, "orders") == [b"plain"]
            assert sorted(await bodies_of(client, "orders")) == [b"plain", b'{"id":1}']
            with pytest.raises(Misuse, match="over"):
                await transaction.commit()

    with_cluster(tmp_path, test)


def test_a_block_that_fails_leaves_nothing_and_its_error_goes_on(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            with pytest.raises(ZeroDivisionError):
                async with client.transaction("orders", b"x", check=never, group="tx"):
                    raise ZeroDivisionError
            async with client.transaction("orders", b"y", group="tx") as transaction:
                await transaction.roll_back()
            await client.send("orders", b"plain")
            assert await bodies_of(client, "orders") == [b"plain"]

    with_cluster(tmp_path, test)


def test_what_was_left_open_is_asked_about_and_the_answer_counts(tmp_path: Path) -> None:
    asked: list[str] = []

    async def check(message: Message) -> bool | None:
        asked.append(message.body.decode())
        assert message.tag == message.body.decode()
        await turn()
        if message.body == b"unknown":
            return None
        if message.body == b"broken" and asked.count("broken") == 1:
            raise OSError("the database is away")
        return message.body != b"failed"

    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            for name in ("succeeded", "failed", "unknown", "broken"):
                async with client.transaction(
                    "orders", name, check=check, group="tx", tag=name
                ) as transaction:
                    transaction.leave_open()
            assert sorted(await seen_in(client, "orders", 2)) == [b"broken", b"succeeded"]
            assert set(asked) == {"succeeded", "failed", "unknown", "broken"}

    with_soon(tmp_path, test)


def test_a_block_that_is_cancelled_is_left_to_the_check(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            is_inside = asyncio.Event()

            async def work() -> None:
                async with client.transaction(
                    "orders", b"cancelled", check=lambda message: True, group="tx"
                ):
                    is_inside.set()
                    await asyncio.Event().wait()

            task = asyncio.create_task(work())
            await is_inside.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await seen_in(client, "orders", 1) == [b"cancelled"]

    with_soon(tmp_path, test)


def test_another_client_answers_for_one_that_is_gone(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with (
            cluster.client() as gone,
            gone.transaction("orders", b"left", check=never, group="tx") as transaction,
        ):
            transaction.leave_open()
        async with cluster.client() as client:
            await client.answer_checks("tx", lambda message: True, topics=["orders"])
            assert await seen_in(client, "orders", 1) == [b"left"]

    with_soon(tmp_path, test)


def test_a_broker_that_does_not_hear_of_the_end_asks(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            await client.answer_checks("tx", lambda message: True, topics=["orders"])
            session = session_of(client)
            async with client.transaction("orders", b"unheard", group="tx"):
                (address,) = session.routes.broker_addresses()
                await cluster.stop_broker("broker-a")
            await cluster.start_broker("broker-a", int(address.rpartition(":")[2]))
            await until(lambda: session.connections.find(address) is None)
            await session.members.beat()
            assert await seen_in(client, "orders", 1) == [b"unheard"]

    with_soon(tmp_path, test)


def test_without_a_check_nothing_begins(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            with pytest.raises(Misuse, match="give check="):
                async with client.transaction("orders", b"x", group="tx"):
                    raise AssertionError("it began")
            transaction = client.transaction("orders", b"x", check=never, group="tx")
            with pytest.raises(Misuse, match="has not begun"):
                await transaction.commit()
            await turns(1)

    with_cluster(tmp_path, test)


def test_where_no_broker_is_nothing_begins() -> None:
    async def test() -> None:
        async with connect("127.0.0.1:1", timeout=0.2) as client:
            with pytest.raises(Unreachable):
                async with client.transaction("orders", b"x", check=never, group="tx"):
                    raise AssertionError("it began")

    in_loop(test)
