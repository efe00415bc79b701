"""Pace gives turns to the lanes of a worker: a lane awaits a turn and gets the time it was due.

A lane sends, waits for the answer and asks again; there are as many lanes as requests that may be
in flight. With a schedule a lane waits until the next event is due, and gets that time, however
late it asks. Without one every turn is due at once.

P1. Each turn is given once, none is left out, and none is given before it is due.
P2. After the end no turn is given, and waiting lanes get None.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from aerobee.app.load.worker.alarm import Alarm
from aerobee.app.load.workload.schedule import Schedule


class Pace:
    def __init__(
        self,
        schedule: Schedule | None,
        end_ns: int,
        count: int | None = None,
        *,
        count_from_ns: int = 0,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """`count`: the maximal number of turns that are due from `count_from_ns` on."""
        self._schedule = schedule
        self._end_ns = end_ns
        self._count_max = count
        self._count_from_ns = count_from_ns
        self._counted = 0
        self._now_ns = now_ns
        self._waiting: deque[tuple[int, asyncio.Future[bool]]] = deque()
        self._loop = asyncio.get_running_loop()
        self._alarm = None if schedule is None else Alarm(self._wake)
        self.given = 0
        """Turns so far."""
        self.is_over = False

    async def turn(self) -> int | None:
        """Wait for the next turn and return its due time. None: there are no more."""
        now = self._now_ns()
        if self._is_end(now):
            return None
        if self._schedule is None:
            self._give(now)
            return now
        due = self._schedule.due(self.given)
        if due >= self._end_ns:
            return None
        self._give(due)
        if due <= now and not self._waiting:
            return due
        turn: asyncio.Future[bool] = self._loop.create_future()
        self._waiting.append((due, turn))
        if len(self._waiting) == 1:
            self._ring_at(due)
        if await turn:
            return due
        self.given -= 1
        return None

    def stop(self) -> None:
        """Give no more turns."""
        self.is_over = True
        for _, turn in self._waiting:
            if not turn.done():
                turn.set_result(False)
        self._waiting.clear()

    def close(self) -> None:
        self.stop()
        if self._alarm is not None:
            self._alarm.close()

    def _give(self, due_ns: int) -> None:
        self.given += 1
        if due_ns >= self._count_from_ns:
            self._counted += 1

    def _is_end(self, now: int) -> bool:
        return (
            self.is_over
            or now >= self._end_ns
            or (self._count_max is not None and self._counted >= self._count_max)
        )

    def _wake(self) -> None:
        now = self._now_ns()
        while self._waiting and self._waiting[0][0] <= now:
            _, turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(True)
        if self._waiting:
            self._ring_at(self._waiting[0][0])

    def _ring_at(self, moment_ns: int) -> None:
        assert self._alarm is not None
        self._alarm.ring_at(moment_ns)


async def until(moment_ns: int) -> None:
    """Sleep until a moment of the machine's monotonic clock."""
    await asyncio.sleep(max(0.0, (moment_ns - time.monotonic_ns()) / 1e9))
