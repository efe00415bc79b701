"""A broker name moves from one Aerobee broker to the next and on, while our client sends all the
time: undone, cut short by Ctrl-C, done, and done again.

Sends come in bursts: between two of them the log rests for long enough that a takeover which forgot
to stop writes would find both logs equal, and go on.
"""

import asyncio
import itertools
import re
import signal
import threading
import time
from pathlib import Path
from typing import NamedTuple

from aerobee.client.client import Client
from aerobee.errors import AerobeeError
from tests.cli_kit import aerobee
from tests.process_kit import SECONDS_MAX, Started
from tests.server_kit import Server, running_server

TOPIC = "orders"
QUEUES = 2
BURST = 8
BURST_SECONDS = 0.45
SLACK_SECONDS = 0.25
"""Between an answer and the moment at which its sender notes it, on a busy machine."""


class Sent(NamedTuple):
    body: str
    began: float
    acknowledged: float | None
    """None: nobody knows what became of it."""


class Bursts:
    """A client of ours on a thread of its own."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._is_over = threading.Event()
        self._numbers = itertools.count()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()))
        self.sent: list[Sent] = []

    def __enter__(self) -> "Bursts":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    async def _live(self) -> None:
        async with self._server.connect() as client, asyncio.TaskGroup() as group:
            while not await asyncio.to_thread(self._is_over.wait, BURST_SECONDS):
                for _ in range(BURST):
                    group.create_task(self._send(client, f"{next(self._numbers)}"))

    async def _send(self, client: Client, body: str) -> None:
        began, acknowledged = time.monotonic(), None
        try:
            await client.send(TOPIC, body.encode(), timeout=5)
            acknowledged = time.monotonic()
        except AerobeeError:
            pass
        self.sent.append(Sent(body, began, acknowledged))

    def times(self) -> list[float]:
        """Of the acknowledgements, in their order."""
        return sorted(one.acknowledged for one in list(self.sent) if one.acknowledged)

    def go_on(self) -> None:
        """Wait for some acknowledgements of sends that have not begun yet."""
        began, deadline = time.monotonic(), time.monotonic() + SECONDS_MAX
        while sum(one.began > began for one in list(self.sent) if one.acknowledged) < 2 * BURST:
            assert time.monotonic() < deadline, "nothing is acknowledged any more"
            self._is_over.wait(0.05)

    def between(self, start: float, end: float) -> int:
        return sum(start < one < end for one in self.times())

    def began_between(self, start: float, end: float) -> int:
        return sum(start < one.began < end for one in list(self.sent))


class Takeover:
    """`aerobee migrate` as a process, and when it said what."""

    def __init__(self, server: Server, home: Path, place: str, *flags: str) -> None:
        where = ("--store", str(home / place), "--port", "0", "-n", server.name_server)
        self.process = Started(home, "migrate", "broker-a", *where, "--yes", *flags)
        self.stopped = self.equal = self.stepped_down = 0.0

    def until_equal(self) -> None:
        self.process.until("writes are stopped")
        self.stopped = time.monotonic()
        self.process.until("are equal")
        self.equal = time.monotonic()

    def until_done(self) -> float:
        """The gap that it tells."""
        self.until_equal()
        self.process.until("from now on")
        self.stepped_down = time.monotonic()
        told = self.process.until("next time")
        found = re.search(r"^gap: (\d+\.\d) s without sends$", told, re.MULTILINE)
        assert found is not None, told
        return float(found[1])


async def _stored(server: Server) -> list[str]:
    async with server.connect() as client:
        stats = await client.admin.topics.stats(TOPIC)
        return [
            message.body.decode()
            for queue in stats.queues
            async for message in client.admin.queues.read(queue)
        ]


def _check_stopped(load: Bursts, taking: Takeover, end: float) -> None:
    """Sends came, and nothing was acknowledged between the stop of writes and its end."""
    start = taking.stopped + SLACK_SECONDS
    assert load.began_between(taking.stopped - BURST_SECONDS, end) > 0, "the test sends too little"
    assert load.between(start, end) == 0, "writes are not stopped"


def _check_nothing_lost(load: Bursts, server: Server) -> None:
    stored = asyncio.run(_stored(server))
    acknowledged = {one.body for one in load.sent if one.acknowledged is not None}
    assert acknowledged - set(stored) == set()


def test_a_broker_name_moves_on_and_on_under_load(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    with running_server(tmp_path / "old") as server, Bursts(server) as load:
        server.create(TOPIC, queues=QUEUES)
        load.go_on()
        _fail(server, tmp_path, load)
        _interrupt(server, tmp_path, load)
        first = Takeover(server, tmp_path, "first")
        with first.process:
            _take_over(first, load)
            second = Takeover(server, tmp_path, "second")
            with second.process:
                _take_over(second, load)
                load.__exit__()
                _check_nothing_lost(load, server)
                roles = aerobee(server, "broker", "replicas", "-o", "json").records
                assert sorted(one["role"] for one in roles) == ["ASYNC_MASTER", "SLAVE", "SLAVE"]
                second.process.stop()
            first.process.stop()


def _fail(server: Server, home: Path, load: Bursts) -> None:
    """The master cannot be stopped: it takes messages again."""
    taking = Takeover(server, home, "first", "--stop-command", "exit 3")
    with taking.process:
        taking.until_equal()
        _check_stopped(load, taking, taking.equal)
        status, out, error = taking.process.end()
        assert (status, "takes messages as before" in out) == (1, True), out + error
        load.go_on()


def _interrupt(server: Server, home: Path, load: Bursts) -> None:
    """Ctrl-C, while it waits for the end of the old master."""
    taking = Takeover(server, home, "first", "--stop-command", "sleep 1000")
    with taking.process:
        taking.until_equal()
        status, out, error = taking.process.stop(signal.SIGINT)
        assert "takes messages as before" in out, f"{status} {out} {error}"
        load.go_on()


def _take_over(taking: Takeover, load: Bursts) -> None:
    gap = taking.until_done()
    done = time.monotonic()
    load.go_on()
    _check_stopped(load, taking, taking.stepped_down)
    times = [one for one in load.times() if taking.stopped - 5 < one]
    pauses = [(after - before, before) for before, after in itertools.pairwise(times)]
    longest, began = max(pauses)
    assert began < taking.stopped + SLACK_SECONDS, "the longest pause is that of the takeover"
    assert longest < gap + (done - taking.stopped) + 5, f"{longest:.1f} s, and {gap} s are told"
