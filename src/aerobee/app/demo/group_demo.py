"""The demonstration of a Raft group, as a guest of the process that runs it: one sender, one
reader, a picture, and keys that break the leader.

The sender sends one numbered message after another to one queue, as an application with the default
settings would; the reader reads them back, and a ledger compares. On a terminal it draws four times
a second; without one it prints a line at intervals, and there are no keys.
"""

import asyncio
import contextlib
import logging
import sys
import time
from bisect import bisect_left
from collections.abc import Callable
from typing import TextIO

from aerobee.app.chaos.pauses import longest_pause
from aerobee.app.demo.demo import ended, spawned
from aerobee.app.demo.group_figures import GroupAsker
from aerobee.app.demo.group_picture import (
    CHART_COLUMNS,
    COLUMN_SECONDS,
    GroupPlaces,
    Loss,
    group_line,
    group_picture,
)
from aerobee.app.demo.keys import Keys
from aerobee.app.demo.ledger import Ledger
from aerobee.app.demo.screen import KeptLog, Screen
from aerobee.app.ink import Ink
from aerobee.app.members.member_group import MemberGroup
from aerobee.app.members.member_process import MemberProcess
from aerobee.app.process.lifecycle import CannotStart, Ended, say
from aerobee.client.api.receipt import Durability
from aerobee.client.client import Client, connect
from aerobee.errors import AerobeeError

_log = logging.getLogger(__name__)

TOPIC = "demo-raft"
SEND_SECONDS = 0.02
"""Between two sends."""
SEND_SECONDS_MAX = 10.0
DRAW_SECONDS = 0.25
LINE_SECONDS = 2.0
PAUSE_SECONDS = 4.0
READ_COUNT = 256
_LIBRARY = logging.getLogger("aerobee.client")


class GroupDemo:
    """D1. After `stop` nothing of it runs, and the terminal is as it was."""

    def __init__(
        self,
        group: MemberGroup,
        places: Callable[[], GroupPlaces],
        ink: Ink,
        *,
        is_drawn: bool,
        stream: TextIO = sys.stdout,
        keyboard: int = 0,
    ) -> None:
        """`places` returns the addresses; called after the start. `keyboard`: a descriptor."""
        self._group = group
        self._places = places
        self._ink = ink
        self._screen = Screen(stream) if is_drawn else None
        self._keys = Keys(keyboard, self.press)
        self._kept_log = KeptLog()
        self._began = time.monotonic()
        self._ledger = Ledger(0)
        self._acknowledged: list[float] = []
        self.losses: list[Loss] = []
        self._waking: set[asyncio.TimerHandle] = set()
        self._undo = contextlib.AsyncExitStack()

    async def start(self, failed: Ended) -> str:
        self._began = time.monotonic()
        async with contextlib.AsyncExitStack() as undo:
            try:
                client = await undo.enter_async_context(connect(self._places().nameserver))
                await client.admin.topics.create(TOPIC, queues=1)
                stats = await client.admin.topics.stats(TOPIC)
            except AerobeeError as error:
                raise CannotStart(
                    f"the demonstration cannot start: {error.message}", hint=error.hint
                ) from None
            start = sum(one.max_offset for one in stats.queues.values())
            self._ledger = Ledger(start)
            showing = self._say(client) if self._screen is None else self._draw(client)
            for work in (self._send(client, start), self._read(client, start), showing):
                task = spawned(work, failed)
                undo.push_async_callback(ended, [task])
                undo.callback(task.cancel)
            undo.callback(self._wake_all)
            # A leader that is lost is what is shown here: nobody needs to be warned of it.
            _LIBRARY.setLevel(logging.ERROR)
            undo.callback(_LIBRARY.setLevel, logging.NOTSET)
            if self._screen is not None:
                self._kept_log.take_over()
                undo.callback(self._kept_log.give_back, sys.stderr)
                self._screen.open()
                undo.callback(self._screen.close)
                self._keys.open()
                undo.callback(self._keys.close)
            self._undo = undo.pop_all()
        return ""

    async def stop(self) -> None:
        await self._undo.aclose()

    def press(self, key: str) -> None:
        """Break the leader: k, s or p; other keys do nothing."""
        leader = self._group.leader
        if leader is None:
            return
        if key == "k":
            leader.kill()
            self._lost(leader, "killed")
        elif key == "s":
            leader.stop()
            self._lost(leader, "stopped")
        elif key == "p":
            leader.pause()
            self._lost(leader, "paused")
            loop = asyncio.get_running_loop()
            self._waking.add(loop.call_later(PAUSE_SECONDS, leader.go_on))

    def _lost(self, leader: MemberProcess, did: str) -> None:
        clock = time.strftime("%H:%M:%S")
        so_far = self._ledger.acknowledged
        self.losses.append(Loss(clock, did, leader.node, time.monotonic(), acknowledged=so_far))

    def _wake_all(self) -> None:
        for handle in self._waking:
            handle.cancel()
        for member in self._group.members:
            member.go_on()

    # Traffic.

    async def _send(self, client: Client, number: int) -> None:
        while True:
            try:
                receipt = await client.send(TOPIC, b"%d" % number, timeout=SEND_SECONDS_MAX)
            except AerobeeError as error:
                _log.warning("message %d was not acknowledged: %s", number, error.message)
                self._ledger.on_failed(number)
            else:
                if receipt.durability is Durability.PROMISED:
                    self._acknowledged.append(time.monotonic())
                    self._ledger.on_acknowledged(number, receipt.offset)
                    self._end_losses()
                else:
                    self._ledger.on_failed(number)
            number += 1
            await asyncio.sleep(SEND_SECONDS)

    def _end_losses(self) -> None:
        """After a send: a group that has another leader has gone on."""
        leader = self._group.leader
        for loss in self.losses:
            is_other = leader is not None and leader.node != loss.node
            if loss.gap_seconds is None and is_other:
                assert leader is not None
                now = self._acknowledged[-1]
                loss.gap_seconds = longest_pause(self._acknowledged, loss.since, now)
                loss.successor = leader.node

    async def _read(self, client: Client, start: int) -> None:
        async with client.reader(TOPIC, start="earliest") as reader:
            await reader.seek(start)
            while True:
                for message in await reader.read(READ_COUNT):
                    if message.offset >= start:
                        self._ledger.on_read(int(message.body), message.offset)

    # Pictures.

    def _rates(self) -> list[int]:
        """Acknowledged sends in each column of the chart; the one that is being filled is not
        there."""
        last = int((time.monotonic() - self._began) / COLUMN_SECONDS)
        found = []
        for column in range(max(0, last - CHART_COLUMNS), last):
            edges = (self._began + (column + one) * COLUMN_SECONDS for one in (0, 1))
            first, end = (bisect_left(self._acknowledged, edge) for edge in edges)
            found.append(end - first)
        return found

    async def _draw(self, client: Client) -> None:
        assert self._screen is not None
        asker = GroupAsker(client.admin, self._group.members)
        while True:
            figures = await asker.ask()
            picture = group_picture(
                time.monotonic() - self._began,
                figures,
                self._ledger,
                self._rates(),
                self.losses,
                self._places(),
                self._kept_log.newest,
                self._ink,
            )
            self._screen.draw(picture)
            await asyncio.sleep(DRAW_SECONDS)

    async def _say(self, client: Client) -> None:
        asker = GroupAsker(client.admin, self._group.members)
        while True:
            await asyncio.sleep(LINE_SECONDS)
            say(group_line(await asker.ask(), self._ledger))
