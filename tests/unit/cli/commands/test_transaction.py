import asyncio

import pytest

import aerobee as mq
from aerobee.model.flags import TransactionType
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing.thread_cluster import ThreadCluster
from tests.admin_kit import put
from tests.cli_kit import NOWHERE, aerobee
from tests.server_kit import Server

QUEUE = MessageQueue("CliHalf", "broker-a", QueueId(0))


def _begin(server: Server, *numbers: int) -> None:
    """Transactions whose producer says nothing more."""

    async def begin() -> None:
        async with server.connect() as client:
            await client.admin.topics.create("CliHalf", queues=1)
            for number in numbers:
                await put(
                    client,
                    QUEUE,
                    b"%d" % number,
                    sys_flag=str(int(TransactionType.PREPARED)),
                    TRAN_MSG="true",
                    PGROUP="cli-shop",
                    UNIQ_KEY=f"{number:032X}",
                )

    asyncio.run(begin())


def _open(server: Server) -> list[str]:
    listed = aerobee(server, "transaction", "list", "--group", "cli-shop", "-o", "json").records
    return [one["id"] for one in listed]


def test_open_transactions_are_listed_and_ended_by_hand(server: Server) -> None:
    _begin(server, 1, 2)
    first, second = _open(server)
    assert (first, second) == (f"{1:032X}", f"{2:032X}")
    assert (
        aerobee(server, "transaction", "list", "--group", "other").out == "no transaction is open\n"
    )
    commit = ("transaction", "commit", first)
    assert aerobee(server, *commit, stdin="").status == 2
    dry = aerobee(server, *commit, "--dry-run")
    assert dry.out == f"would commit {first} of the group cli-shop to CliHalf\n"
    assert aerobee(server, *commit, "--yes").status == 0
    assert aerobee(server, "transaction", "rollback", second, "--yes").status == 0
    assert _open(server) == []
    seen = aerobee(server, "message", "get", "CliHalf", "--from", "1h", "-o", "json").records
    assert [one["body"] for one in seen] == ["1"]
    assert aerobee(server, *commit, "--yes").status == 3


def test_one_that_was_given_up_is_asked_about_again() -> None:
    settings = {"transactionCheckMax": "1", "transactionTimeOut": "1000"}
    with ThreadCluster(settings=settings) as cluster:
        server = Server(cluster.address)

        async def unknown(message: mq.Message) -> None:
            return None

        async def give_up() -> None:
            async with mq.connect(cluster.address) as client:
                await client.admin.topics.create("CliHalf", queues=1)
                await client.answer_checks("cli-shop", unknown, topics=["CliHalf"])
                await put(
                    client,
                    QUEUE,
                    b"7",
                    sys_flag=str(int(TransactionType.PREPARED)),
                    TRAN_MSG="true",
                    PGROUP="cli-shop",
                    UNIQ_KEY=f"{7:032X}",
                )
                while [one async for one in client.admin.transactions.open()]:
                    cluster.clock.advance(60)

        asyncio.run(give_up())
        given_up = ("transaction", "list", "--given-up", "-o", "json")
        (found,) = aerobee(server, *given_up).records
        assert found["body"] == "7"
        resume = ("transaction", "resume", found["id"])
        assert "would have its producers asked" in aerobee(server, *resume, "--dry-run").out
        assert aerobee(server, *resume, "--yes").status == 0
        assert _open(server) == [found["id"]]


@pytest.mark.parametrize("verb", ["commit", "rollback", "resume"])
def test_one_that_is_not_open_is_not_found(server: Server, verb: str) -> None:
    assert aerobee(server, "transaction", verb, "C0FFEE", "--yes").status == 3
    assert aerobee(NOWHERE, "transaction", verb, "C0FFEE", "--yes").status == 1
    assert aerobee(server, "transaction", verb).status == 2
