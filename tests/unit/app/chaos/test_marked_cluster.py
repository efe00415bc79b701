import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.app.chaos.cluster import ChaosRefused, Fault
from aerobee.app.chaos.marked_cluster import (
    MarkedBroker,
    MarkedCluster,
    check_marks,
    marked_cluster,
    remembered,
)
from aerobee.app.load.measure.proc import Proc
from aerobee.client.admin.replica_group import ReplicaGroup, ReplicaMember
from aerobee.testing.cluster import Cluster
from tests.interop.replication.brokers import steady_port
from tests.net_kit import in_loop

MARKED = {"testCluster": "true", "enableDLegerCommitLog": "true"}
_SERVER = """
import os, signal, socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print(os.getcwd(), os.environ["WORD"], flush=True)
signal.pause()
"""


def group(*settings: dict[str, str]) -> ReplicaGroup:
    members = (
        ReplicaMember(number, f"127.0.0.1:{10911 + number}", settings=one)
        for number, one in enumerate(settings)
    )
    return ReplicaGroup("DefaultCluster", "broker-a", tuple(members))


def test_a_group_whose_brokers_are_all_marked_may_be_broken() -> None:
    check_marks(group(MARKED, MARKED, MARKED))


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, "is not marked as a test cluster"),
        ({**MARKED, "testCluster": "false"}, "does not say testCluster=true"),
        ({"testCluster": "true"}, "is no member of a Raft group"),
    ],
)
def test_one_broker_that_is_not_is_enough_to_refuse(settings: dict[str, str], why: str) -> None:
    with pytest.raises(ChaosRefused, match=why) as caught:
        check_marks(group(MARKED, MARKED, settings))
    assert "127.0.0.1:10913" in caught.value.message
    assert caught.value.hint


def test_a_broker_of_others_is_refused_and_left_alone() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            with pytest.raises(ChaosRefused, match="not marked") as caught:
                await marked_cluster(cluster.client.admin, cluster.address, None)
            assert "testCluster=true" in caught.value.hint
            await cluster.client.send("orders", b"still there")

    in_loop(test)


def test_faults_that_need_another_start_are_not_possible() -> None:
    cluster = MarkedCluster("127.0.0.1:1", "broker-a", [])
    possible = {one for one in Fault if not cluster.why_not(one)}
    assert possible == {Fault.KILL, Fault.STOP, Fault.PAUSE}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """The port of a process that listens and does nothing, and the file that it has written to."""
    port, output = steady_port(), tmp_path / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(port)],
            cwd=tmp_path,
            env={**os.environ, "WORD": "hello"},
            stdout=file,
        )
    while not output.read_text().endswith("\n"):
        assert process.poll() is None
    yield port, output
    process.kill()
    process.wait()


def test_a_process_that_nobody_restarts_is_started_as_it_was(server: tuple[int, Path]) -> None:
    async def test() -> None:
        port, output = server
        address, proc = f"127.0.0.1:{port}", Proc()
        broker = MarkedBroker(address, remembered(address, proc), proc, kept_seconds=0.0)
        first = broker.pid
        broker.pause()
        broker.go_on()
        assert broker.is_running
        broker.kill()
        await broker.until_ended()
        assert not broker.is_running
        await broker.start()
        assert broker.is_running
        assert broker.pid != first
        assert output.read_text().splitlines() == [f"{output.parent} hello"] * 2
        os.kill(broker.pid, signal.SIGKILL)
        await broker.until_ended()

    in_loop(test)


def test_a_process_that_is_not_here_is_said() -> None:
    with pytest.raises(ChaosRefused, match="cannot be seen from here"):
        remembered(f"127.0.0.1:{steady_port()}", Proc())
