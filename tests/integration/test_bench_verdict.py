"""Runs of `aerobee bench` in which each resource in turn is the limit: the verdict names it.

Brokers and workers are processes of their own. Other work on the machine may take the cores that a
client or a broker needs; then the machine is what limits the run, and is to be named instead. So
the expected cause is read from what was seen of the busiest thread, never from a speed.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aerobee._compiled import HOT_MODULES, is_compiled
from aerobee.app.load.measure.proc import Proc
from aerobee.app.load.result.result import Result
from aerobee.app.load.result.verdict import BUSY, WAITED, WAITED_MOST
from aerobee.app.load.run.trial import Told, Trial
from aerobee.app.load.workload.workload import Workload
from tests.net_kit import in_loop
from tests.server_kit import Server, running_server

FLOOD = Workload(size_min=10, size_max=10, in_flight=4096, duration=0.8, warm_up=0.2)
"""A window so large that a worker always has something to send or an answer to read."""
SLOWER = "client" if is_compiled(HOT_MODULES[0]) else "broker"
"""The side that needs more CPU for a small message."""
PATH_SECONDS = 0.02
BURNERS = 3
"""For each core."""
BURN_CORES = "while True: pass"
BURN_DISK = """
import mmap, os, sys, threading
block = mmap.mmap(-1, 16 << 20)
file = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR | os.O_DIRECT)
os.pwrite(file, block, 0)
def read():
    while True:
        os.preadv(file, [block], 0)  # past the page cache
for _ in range(24):
    threading.Thread(target=read).start()
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("verdict")) as server:
        yield server


def measured(server: Server, workload: Workload, path: "LongPath | None" = None) -> Result:
    results = []

    async def run() -> None:
        told = Told(lambda *_: None, lambda _: None, lambda _: None)
        trial = Trial(workload, server.name_server, told, asyncio.Event(), keep=False)
        async with path or contextlib.nullcontext():
            results.append(await trial.run())

    in_loop(run)
    return results[0]


def expected(result: Result, cause: str) -> str:
    """The cause that was made the limit, unless other work on the machine became it."""
    client, broker = result.usage.client, result.usage.broker
    busiest = max(client, broker, key=lambda part: part.busy)
    if busiest.busy >= BUSY:
        return "machine" if busiest.busiest_waited >= WAITED else cause
    together = client.busiest_waited + broker.busiest_waited
    return "machine" if together >= WAITED_MOST else cause


@contextlib.contextmanager
def burning(count: int, *words: str) -> Iterator[None]:
    """Processes that use a resource up, each in a session of its own: schedulers share out cores
    among sessions."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", *words], stdout=subprocess.PIPE, start_new_session=True
        )
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.communicate()


class LongPath:
    """A way to the broker on which every byte takes some time, in both directions."""

    def __init__(self, listen: str, host: str, port: int) -> None:
        self._listen = listen
        self._to = (host, port)
        self._server: asyncio.Server | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> None:
        self._server = await asyncio.start_server(self._accept, self._listen, self._to[1])

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        for writer in self._writers:
            writer.close()
        waits = [writer.wait_closed() for writer in self._writers]
        await asyncio.gather(*self._tasks, *waits, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._to)
        for source, target in ((reader, back), (there, writer)):
            self._writers.append(target)
            self._tasks.append(asyncio.ensure_future(self._carry(source, target)))

    async def _carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        later = asyncio.get_running_loop().call_later
        while data := await source.read(1 << 16):
            later(PATH_SECONDS, target.write, data)
        later(PATH_SECONDS, target.close)


def test_a_large_window_is_limited_by_the_cpu_of_client_or_broker(server: Server) -> None:
    result = measured(server, FLOOD)
    assert result.verdict.cause == expected(result, SLOWER), result.verdict
    assert result.usage.client.is_wait_known
    assert "was busy" in result.verdict.sentence


def test_batches_of_small_messages_are_limited_by_the_broker_s_cpu(server: Server) -> None:
    workload = Workload(
        size_min=10, size_max=10, batch=64, in_flight=256, duration=0.8, warm_up=0.2
    )
    result = measured(server, workload)
    assert result.verdict.cause == expected(result, "broker"), result.verdict
    assert "broker-a was busy" in result.verdict.sentence or result.verdict.cause == "machine"


def test_one_process_that_receives_for_many_groups_is_named(server: Server) -> None:
    workload = Workload(kind="roundtrip", groups=8, count=40_000, warm_up=0.0, queues=2)
    result = measured(server, workload)
    client = result.usage.client
    assert client.busiest == 1  # the second process: the first one sends
    # It rests until it is seen that all has come, which is long for a run of a second.
    if client.busy >= max(BUSY, result.usage.broker.busy):
        assert result.verdict.cause == expected(result, "client"), result.verdict
        assert "receiving worker 1 was busy" in result.verdict.sentence


def test_cores_that_are_taken_are_the_limit_and_not_a_thread(server: Server) -> None:
    mine = os.sched_getaffinity(0)
    cores = set(sorted(mine)[:2])
    broker = Proc().listener(server.broker_port)
    assert broker is not None
    for pid in (0, broker):  # of this thread: workers and burners start with the same
        os.sched_setaffinity(pid, cores)
    try:
        with burning(BURNERS * len(cores), BURN_CORES):
            result = measured(server, FLOOD)
    finally:
        for pid in (0, broker):
            os.sched_setaffinity(pid, mine)
    assert result.verdict.cause == "machine", result.verdict
    assert f"% of its {result.usage.cores} cores were busy" in result.verdict.sentence


def test_a_low_rate_is_held_and_nothing_is_the_limit(server: Server) -> None:
    result = measured(server, Workload(rate=100.0, count=50, warm_up=0.0))
    assert result.verdict.cause == "none", result.verdict
    assert "/s was held" in result.verdict.sentence


def test_a_rate_that_is_too_high_is_not_held_and_says_why(server: Server) -> None:
    result = measured(server, replace(FLOOD, rate=10e6))
    assert result.verdict.cause in ("client", "broker", "machine"), result.verdict
    assert result.verdict.sentence.startswith("10,000,000/s was not held. The ")


def test_a_few_requests_at_once_over_a_long_path_are_limited_by_the_window(tmp_path: Path) -> None:
    with running_server(tmp_path, AEROBEE_BROKER_BROKER_IP1="127.0.0.2") as server:
        path = LongPath("127.0.0.2", "127.0.0.1", server.broker_port)
        result = measured(server, Workload(in_flight=4, duration=1.0, warm_up=0.0), path)
    assert result.verdict.cause == "window", result.verdict
    assert "4 of 4 requests in flight" in result.verdict.sentence
    assert result.usage.client.busy < BUSY


def test_sends_that_wait_for_a_slow_disk_are_limited_by_it(tmp_path: Path) -> None:
    if not Proc().device_of(os.stat(tmp_path).st_dev):
        pytest.skip("needs a folder on a disk")
    slow = Workload(size_min=100, size_max=100, in_flight=16, duration=1.5, warm_up=0.2)
    with (
        running_server(tmp_path, AEROBEE_BROKER_FLUSH_DISK_TYPE="SYNC_FLUSH") as server,
        burning(1, BURN_DISK, str(tmp_path / "burnt")),
    ):
        result = measured(server, slow)
    assert result.verdict.cause == "disk", result.verdict
    assert "SYNC_FLUSH" in result.verdict.sentence
    assert result.usage.disk_waited >= WAITED_MOST
