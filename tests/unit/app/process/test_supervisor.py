import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from aerobee.app.process.lifecycle import STOPPED, WRONG_CONFIG
from aerobee.app.process.source_watch import SourceWatch
from aerobee.app.process.supervisor import Supervisor
from tests.client_kit import until
from tests.net_kit import in_loop

# Says that it is there, and ends as it is told to: at once, or by the signal.
CHILD = """
import os, signal, sys
notes, status = sys.argv[1], int(sys.argv[2])
if status < 0:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
with open(notes, "a") as file:
    file.write(f"{os.getpid()}\\n")
if status < 0:
    signal.sigwait([signal.SIGTERM])
    sys.exit(0)
sys.exit(status)
"""
UNTIL_TOLD = -1


class Children:
    """What they write down: one line for each that began."""

    def __init__(self, folder: Path) -> None:
        self._notes = folder / "notes"
        self._notes.touch()

    def command(self, status: int) -> list[str]:
        return [sys.executable, "-c", CHILD, str(self._notes), str(status)]

    def begun(self) -> list[int]:
        return [int(line) for line in self._notes.read_text("utf-8").splitlines()]

    def living(self) -> list[int]:
        return [pid for pid in self.begun() if os.path.exists(f"/proc/{pid}")]


async def while_running(supervisor: Supervisor, test: Callable[[], Awaitable[None]]) -> int:
    running = asyncio.ensure_future(supervisor.run())
    await test()
    os.kill(os.getpid(), signal.SIGTERM)
    return await running


def test_all_are_started_and_a_signal_ends_them(tmp_path: Path) -> None:
    children = Children(tmp_path)

    async def test() -> None:
        async def both() -> None:
            await until(lambda: len(children.begun()) == 2)

        supervisor = Supervisor(children.command(UNTIL_TOLD), 2)
        assert await while_running(supervisor, both) == STOPPED
        assert children.living() == []
        assert len(children.begun()) == 2

    in_loop(test)


def test_one_that_ends_is_started_again(tmp_path: Path) -> None:
    children = Children(tmp_path)

    async def test() -> None:
        async def again() -> None:
            await until(lambda: len(children.begun()) >= 2)

        assert await while_running(Supervisor(children.command(1), 1), again) == STOPPED

    in_loop(test)


def test_one_that_is_killed_is_replaced_and_the_others_go_on(tmp_path: Path) -> None:
    children = Children(tmp_path)

    async def test() -> None:
        async def killed() -> None:
            await until(lambda: len(children.begun()) == 2)
            first, second = children.begun()
            os.kill(first, signal.SIGKILL)
            await until(lambda: len(children.begun()) == 3)
            assert second in children.living()

        supervisor = Supervisor(children.command(UNTIL_TOLD), 2)
        assert await while_running(supervisor, killed) == STOPPED
        assert children.living() == []

    in_loop(test)


def test_an_application_that_cannot_begin_ends_all(tmp_path: Path) -> None:
    children = Children(tmp_path)

    async def test() -> None:
        assert await Supervisor(children.command(WRONG_CONFIG), 1).run() == WRONG_CONFIG
        assert len(children.begun()) == 1

    in_loop(test)


def test_a_change_of_the_source_starts_them_anew(tmp_path: Path) -> None:
    children = Children(tmp_path)

    async def test() -> None:
        async def changed() -> None:
            await until(lambda: len(children.begun()) == 1)
            (tmp_path / "app.py").write_text("x = 1", encoding="utf-8")
            await until(lambda: len(children.begun()) == 2)
            await until(lambda: len(children.living()) == 1)

        watch = SourceWatch(str(tmp_path))
        command = children.command(UNTIL_TOLD)
        supervisor = Supervisor(command, 1, watch=watch, look_seconds=0.02)
        assert await while_running(supervisor, changed) == STOPPED

    in_loop(test)
