"""The commands of docs/migration.md are run, in their order, under load of a producer."""

import asyncio
import contextlib
import re
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path

from aerobee.errors import AerobeeError
from aerobee.model.route import MASTER_ID
from aerobee.protocol.headers.replication import ASYNC_MASTER
from tests.cli_kit import aerobee
from tests.process_kit import Started
from tests.server_kit import Server, running_server

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "migration.md").read_text("utf-8")
COMMANDS = "".join(re.findall(r"```shell\n(.*?)```", PAGE, re.DOTALL)).splitlines()
TOPIC = "orders"
GAP = r"^gap: \d+\.\d s without sends$"


class Load:
    """A producer on a thread of its own, and what was acknowledged to it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._send()))
        self.acknowledged: list[str] = []
        self.has_sent = threading.Event()
        self.refused = 0

    async def _send(self) -> None:
        async with self._server.connect() as client:
            number = 0
            while not self._is_over.is_set():
                body = f"{number}"
                try:
                    await client.send(TOPIC, body.encode(), timeout=5)
                except AerobeeError:
                    self.refused += 1
                else:
                    self.acknowledged.append(body)
                    self.has_sent.set()
                number += 1

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            self._thread.join()


async def _stored(server: Server) -> set[str]:
    """The bodies of all messages of the topic."""
    async with server.connect() as client:
        stats = await client.admin.topics.stats(TOPIC)
        return {
            message.body.decode()
            for queue in stats.queues
            async for message in client.admin.queues.read(queue)
        }


def _words(line: str, server: Server, home: Path) -> list[str]:
    """A command of the page, with the addresses and folders of this test."""
    words = shlex.split(line)
    assert words[0] == "aerobee", line
    here = {
        "10.0.0.9:9876": server.name_server,
        "10.0.0.1:10911": _old(server),
        "/data/new": str(home / "new"),
        "10911": "0",
    }
    return [here.get(word, word) for word in words[1:]]


def _old(server: Server) -> str:
    """The address of the first master."""
    return f"127.0.0.1:{server.broker_port}"


async def _restart_as_master(server: Server) -> None:
    """What a person is asked to do; a broker of ours does it by request."""
    async with server.connect() as client:
        role = client.admin.replicas.change_role
        await role(_old(server), ASYNC_MASTER, MASTER_ID, is_forced=True)


def _wait_for(load: Load, more: int) -> int:
    """Wait until so many more are acknowledged; the number before."""
    before = len(load.acknowledged)
    while len(load.acknowledged) < before + more:
        load.has_sent.wait()
        load.has_sent.clear()
    return before


def test_a_broker_is_moved_under_load_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    """Every command of the page works; messages go on to be stored behind the gap."""
    (tmp_path / "old").mkdir()
    with running_server(tmp_path / "old") as server, contextlib.ExitStack() as stack:
        server.send(TOPIC, [b"first"])
        load, before = Load(server), 0
        with load.running():
            for line in COMMANDS:
                words = _words(line, server, tmp_path)
                if words[0] != "migrate" or "--dry-run" in words:
                    said = aerobee(server, *words[:-2] if "-n" in words else words)
                    assert said.status == 0, f"{line}\n{said.out}{said.error}"
                    continue
                process = stack.enter_context(Started(tmp_path, *words))
                if "--to" in words:
                    process.until("restart the broker")
                    asyncio.run(_restart_as_master(server))
                    status, told, error = process.end()
                    assert status == 0, error
                    assert re.search(GAP, told, re.MULTILINE)
                    _wait_for(load, 50)
                    continue
                if "--follow" in words:
                    process.until("without --follow")
                    assert process.stop()[0] == 0
                    continue
                told = process.until("next time")
                assert re.search(GAP, told, re.MULTILINE)
                before = _wait_for(load, 50)
        stored = asyncio.run(_stored(server))
        assert {*load.acknowledged, "first"} - stored == set()
        assert load.refused < before
