"""The demonstration, as a guest of a process that runs a cluster: traffic, consumers, a picture.

It is a client like any other, over the same sockets. On a terminal it draws twice a second; without
one it says a line now and then.
"""

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, TextIO

from aerobee.app import process_figures
from aerobee.app.demo.consumers import Consumers
from aerobee.app.demo.figures import Asker
from aerobee.app.demo.history import History
from aerobee.app.demo.picture import Places, Vitals, picture, plain_line
from aerobee.app.demo.screen import KeptLog, Screen
from aerobee.app.demo.traffic import Traffic
from aerobee.app.ink import Ink
from aerobee.app.lifecycle import Ended, say
from aerobee.client.client import Client, connect
from aerobee.errors import AerobeeError

_log = logging.getLogger(__name__)

# Warns of every dead letter: here they are part of the story.
_EXPECTED = logging.getLogger("aerobee.client.owned_queue")
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
        """`places`: where everything is, once it is known."""
        self._places = places
        self._ink = ink
        self._screen = Screen(stream) if is_drawn else None
        self._kept_log = KeptLog()
        self._now = seconds
        self._began = 0.0
        self._history = History()
        self._client: Client | None = None
        self._consumers: Consumers | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, failed: Ended) -> str:
        _EXPECTED.setLevel(logging.ERROR)
        self._began = self._now()
        client = self._client = connect(self._places().nameserver)
        await client.open()
        traffic = Traffic(client)
        await traffic.open()
        self._consumers = Consumers(client, self._seconds)
        handling = await self._consumers.open()
        if self._screen is not None:
            self._kept_log.take_over()
            self._screen.open()
        asker = Asker(client.admin)
        showing = self._draw(asker) if self._screen is not None else self._say(asker)
        for one in (self._send(traffic), showing, *handling):
            self._spawn(one, failed)
        return ""

    async def stop(self) -> None:
        if self._screen is not None:
            self._screen.close()
            self._kept_log.give_back(sys.stderr)
        sending, showing = self._tasks[:2]
        for task in (sending, showing):
            task.cancel()
        await asyncio.gather(sending, showing, return_exceptions=True)
        if self._consumers is not None:
            await self._consumers.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._client is not None:
            await self._client.close()
        _EXPECTED.setLevel(logging.NOTSET)

    def _seconds(self) -> float:
        return self._now() - self._began

    def _spawn(self, work: Coroutine[Any, Any, None], failed: Ended) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.append(task)

        def ended(task: asyncio.Task[None]) -> None:
            error = None if task.cancelled() else task.exception()
            if error is not None:
                failed(error)

        task.add_done_callback(ended)

    async def _send(self, traffic: Traffic) -> None:
        last = self._seconds()
        while True:
            await asyncio.sleep(TURN_SECONDS)
            now = self._seconds()
            await traffic.turn(now, now - last)
            last = now

    async def _draw(self, asker: Asker) -> None:
        cpu = _CpuShare(self._seconds)
        while True:
            if await self._look(asker) and self._screen is not None:
                memory, warning = process_figures.memory(), self._kept_log.newest
                vitals = Vitals(memory, cpu.of_late(), warning)
                self._screen.draw(picture(self._history, self._places(), vitals, self._ink))
            await asyncio.sleep(DRAW_SECONDS)

    async def _say(self, asker: Asker) -> None:
        await self._look(asker)
        waits = iter(FIRST_SECONDS)
        while True:
            await asyncio.sleep(next(waits, LINE_SECONDS))
            if await self._look(asker):
                say(plain_line(self._history))

    async def _look(self, asker: Asker) -> bool:
        """Whether there are new figures: a cluster that does not answer is asked again."""
        try:
            wall_ms = int(time.time() * 1000)
            self._history.add(await asker.ask(self._seconds(), wall_ms))
        except AerobeeError as error:
            _log.warning("the cluster does not say how it is: %s", error)
            return False
        return True


class _CpuShare:
    """Of one core, since it was asked before; smoothed, for it is looked at twice a second."""

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
