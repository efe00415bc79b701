"""The demonstration, as a guest of a process that runs a cluster: traffic, consumers, a picture.

It is a client like any other, over the same sockets. On a terminal it draws twice a second; without
one it prints a line at intervals.
"""

import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TextIO

from aerobee.app.demo.consumers import Consumers
from aerobee.app.demo.figures import Asker
from aerobee.app.demo.history import History
from aerobee.app.demo.picture import Places, Vitals, picture, plain_line, replica_line
from aerobee.app.demo.screen import KeptLog, Screen
from aerobee.app.demo.traffic import Traffic
from aerobee.app.ink import Ink
from aerobee.app.process import process_figures
from aerobee.app.process.lifecycle import CannotStart, Ended, say
from aerobee.client.client import connect
from aerobee.errors import AerobeeError

_log = logging.getLogger(__name__)

# Warns of every dead letter: here they are part of the story.
_EXPECTED = logging.getLogger("aerobee.client.pull.owned_queue")
TURN_SECONDS = 0.2
DRAW_SECONDS = 0.5
FIRST_SECONDS = (1.0, 2.0)
"""Before the first line, and before the second."""
LINE_SECONDS = 5.0


class Demo:
    """D1. After `stop` nothing of it runs, and the terminal is as it was."""

    def __init__(
        self,
        places: Callable[[], Places],
        ink: Ink,
        *,
        is_drawn: bool,
        stream: TextIO = sys.stdout,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """`places` returns the addresses; called after the start."""
        self._places = places
        self._ink = ink
        self._screen = Screen(stream) if is_drawn else None
        self._kept_log = KeptLog()
        self._now = seconds
        self._began = 0.0
        self._history = History()
        self._undo = contextlib.AsyncExitStack()

    async def start(self, failed: Ended) -> str:
        self._began = self._now()
        async with contextlib.AsyncExitStack() as undo:
            try:
                client = await undo.enter_async_context(connect(self._places().nameserver))
                traffic = Traffic(client)
                await traffic.open()
                consumers = Consumers(client, self._seconds)
                handling = await consumers.open()
            except AerobeeError as error:
                raise CannotStart(
                    f"the demonstration cannot start: {error.message}", hint=error.hint
                ) from None
            undo.push_async_callback(ended, [spawned(one, failed) for one in handling])
            undo.push_async_callback(consumers.close)
            _EXPECTED.setLevel(logging.ERROR)
            undo.callback(_EXPECTED.setLevel, logging.NOTSET)
            asker = Asker(client.admin)
            showing = self._say(asker) if self._screen is None else self._draw(asker, self._screen)
            for work in (self._send(traffic), showing):
                task = spawned(work, failed)
                undo.push_async_callback(ended, [task])
                undo.callback(task.cancel)
            if self._screen is not None:
                self._kept_log.take_over()
                undo.callback(self._kept_log.give_back, sys.stderr)
                self._screen.open()
                undo.callback(self._screen.close)
            self._undo = undo.pop_all()
        return ""

    async def stop(self) -> None:
        await self._undo.aclose()

    def _seconds(self) -> float:
        return self._now() - self._began

    async def _send(self, traffic: Traffic) -> None:
        last = self._seconds()
        while True:
            await asyncio.sleep(TURN_SECONDS)
            now = self._seconds()
            await traffic.turn(now, now - last)
            last = now

    async def _draw(self, asker: Asker, screen: Screen) -> None:
        cpu = _CpuShare(self._seconds)
        while True:
            if await self._look(asker):
                memory, warning = process_figures.memory(), self._kept_log.newest
                vitals = Vitals(memory, cpu.of_late(), warning)
                screen.draw(picture(self._history, self._places(), vitals, self._ink))
            await asyncio.sleep(DRAW_SECONDS)

    async def _say(self, asker: Asker) -> None:
        await self._look(asker)
        waits = iter(FIRST_SECONDS)
        while True:
            await asyncio.sleep(next(waits, LINE_SECONDS))
            if await self._look(asker):
                lines = (plain_line(self._history), replica_line(self._history))
                say("\n".join(filter(None, lines)))

    async def _look(self, asker: Asker) -> bool:
        """Fetch figures; returns whether there are new ones. A cluster that does not answer is
        asked again."""
        try:
            wall_ms = int(time.time() * 1000)
            self._history.add(await asker.ask(self._seconds(), wall_ms))
        except AerobeeError as error:
            _log.warning("the cluster does not say how it is: %s", error)
            return False
        return True


class _CpuShare:
    """The share of one core since the last call; smoothed, because it is read twice a second."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._at, self._used = seconds(), process_figures.cpu_seconds()
        self._share = 0.0

    def of_late(self) -> float:
        at, used = self._seconds(), process_figures.cpu_seconds()
        if at > self._at:
            share = (used - self._used) / (at - self._at)
            self._share += (share - self._share) / 8
            self._at, self._used = at, used
        return self._share


def spawned(work: Coroutine[Any, Any, None], failed: Ended) -> asyncio.Task[None]:
    """Start a task; `failed` is called if it ends with an error."""

    def is_over(task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            failed(error)

    task = asyncio.ensure_future(work)
    task.add_done_callback(is_over)
    return task


async def ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Wait until tasks have ended, however they end."""
    await asyncio.gather(*tasks, return_exceptions=True)
