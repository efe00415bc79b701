import os

import pytest

from aerobee.client.core.target import Target
from aerobee.errors import NoAnswer, Retriable, Unreachable
from aerobee.pipeline.spark.worker_client import WorkerClient, kept
from tests.server_kit import Server


def test_a_question_waits_for_its_answer_and_the_client_is_kept(server: Server) -> None:
    target = Target((server.name_server,))
    blocking = kept(target, 3.0)
    assert kept(target, 3.0) is blocking
    cluster = blocking.run(blocking.session.name_servers.cluster())
    assert [broker.name for broker in cluster.brokers] == ["broker-a"]


def test_after_a_fork_there_is_another_client(server: Server) -> None:
    target = Target((server.name_server,))
    mine = kept(target, 3.0)
    child = os.fork()
    if child == 0:
        os._exit(0 if kept(target, 3.0) is not mine else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_one_insists_so_many_times_and_no_more() -> None:
    blocking = WorkerClient(Target(("127.0.0.1:1",)))
    failures: list[Exception] = [Retriable("later", code=1), Unreachable("gone", address="a:1")]

    async def ask() -> int:
        if failures:
            raise failures.pop()
        return 7

    assert blocking.insist(ask, 2, 0.001) == 7
    failures += [Unreachable("gone", address="a:1")] * 3
    with pytest.raises(NoAnswer):
        blocking.insist(ask, 2, 0.001)
    assert not failures
    blocking.close()


def test_what_was_asked_for_is_handed_over_and_never_written_out(server: Server) -> None:
    written: list[str] = []

    class Megabyte:
        def __repr__(self) -> str:
            written.append("a megabyte as text")
            return ""

    async def ask() -> Megabyte:
        return Megabyte()

    blocking = WorkerClient(Target((server.name_server,)))
    found = blocking.run(ask())
    blocking.close()
    assert isinstance(found, Megabyte)
    assert written == []
