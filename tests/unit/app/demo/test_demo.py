import asyncio
import io
import logging
from pathlib import Path

import pytest

from aerobee.app.demo.demo import Demo
from aerobee.app.demo.picture import Places
from aerobee.app.ink import Ink
from aerobee.app.process.lifecycle import CannotStart
from aerobee.client.client import connect
from aerobee.testing.cluster import Cluster
from tests.net_kit import in_loop
from tests.process_kit import SECONDS_MAX
from tests.up_kit import running
from tools.terminal_picture import Terminal


class Drawn(io.StringIO):
    """A terminal's stream: whoever waits is told when something was drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.terminal = Terminal()
        self.changed = asyncio.Event()

    def write(self, text: str) -> int:
        self.terminal.feed(text.replace("\n", "\r\n").replace("\r\r", "\r"))
        self.changed.set()
        return len(text)

    async def until(self, text: str) -> None:
        while text not in "\n".join(self.terminal.lines()):
            self.changed.clear()
            await self.changed.wait()


def places(cluster: Cluster) -> Places:
    return Places(cluster.address, "127.0.0.1:1", "./data", "aerobee")


def failed(error: BaseException) -> None:
    raise AssertionError("it failed") from error


def test_what_is_drawn_is_what_the_cluster_says_and_nothing_is_left() -> None:
    async def test() -> None:
        before = asyncio.all_tasks()
        async with Cluster() as cluster:
            stream = Drawn()
            demo = Demo(lambda: places(cluster), Ink(False), is_drawn=True, stream=stream)
            handlers = logging.getLogger().handlers
            assert await demo.start(failed) == ""
            await stream.until("demo-shipping has a bad time")
            assert stream.terminal.is_second_screen
            await demo.stop()
            assert not stream.terminal.is_second_screen
            assert logging.getLogger().handlers == handlers
            stats = await cluster.client.admin.topics.stats("demo-orders")
            assert len(stats.queues) == 2
        assert asyncio.all_tasks() == before

    in_loop(test)


def test_without_a_terminal_there_is_a_line_with_numbers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            demo = Demo(lambda: places(cluster), Ink(False), is_drawn=False)
            await demo.start(failed)
            said = ""
            while "demo: in " not in said:
                await cluster.client.admin.cluster()
                said += capsys.readouterr().out
            await demo.stop()
            assert not said.startswith("demo: in 0/s")
            assert "\x1b" not in said

    in_loop(test)


def test_where_there_are_slaves_a_line_says_whether_they_are_in_sync(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def test() -> None:
        async with (
            running(tmp_path, slaves=1, replication="sync") as (server, _),
            connect(server.address, timeout=SECONDS_MAX) as client,
        ):
            where = Places(server.address, "", "./data", "aerobee")
            demo = Demo(lambda: where, Ink(False), is_drawn=False)
            await demo.start(failed)
            said = ""
            while "demo: slaves in sync 1 of 1, bytes behind " not in said:
                await client.admin.cluster()
                said += capsys.readouterr().out
            await demo.stop()

    in_loop(test)


def test_a_cluster_without_a_broker_is_a_reason_not_to_start() -> None:
    async def test() -> None:
        before = asyncio.all_tasks()
        async with Cluster() as cluster:
            await cluster.stop_broker("broker-a")
            stream = Drawn()
            demo = Demo(lambda: places(cluster), Ink(False), is_drawn=True, stream=stream)
            with pytest.raises(CannotStart, match="the demonstration cannot start: no broker"):
                await demo.start(failed)
            assert not stream.terminal.is_second_screen
        assert asyncio.all_tasks() == before

    in_loop(test)


def test_what_cannot_go_on_is_told() -> None:
    class Torn(Drawn):
        """A stream that fails once, in a way that nobody expects."""

        has_failed = False

        def flush(self) -> None:
            if "demo-orders" in "\n".join(self.terminal.lines()) and not self.has_failed:
                self.has_failed = True
                raise RuntimeError("it cannot be drawn")

    async def test() -> None:
        told: asyncio.Queue[BaseException] = asyncio.Queue()
        async with Cluster() as cluster:
            demo = Demo(lambda: places(cluster), Ink(False), is_drawn=True, stream=Torn())
            await demo.start(told.put_nowait)
            assert str(await told.get()) == "it cannot be drawn"
            await demo.stop()

    in_loop(test)
