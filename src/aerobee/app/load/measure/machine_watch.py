"""The machine while a load runs: looked at every second, and at both ends of the measured time.

Workers must still be there at the end, or what they used is not known.
"""

import asyncio
import time
from collections.abc import Sequence

from aerobee.app.load.measure.cluster_facts import BrokerFacts, device_of
from aerobee.app.load.measure.proc import Counters, Proc
from aerobee.app.load.measure.usage import BROKER, CLIENT, Usage, usage_between

_LOOK_SECONDS = 1.0


class MachineWatch:
    def __init__(self, proc: Proc, brokers: Sequence[BrokerFacts]) -> None:
        local = [broker for broker in brokers if broker.pid is not None]
        self._proc = proc
        self._device = device_of(local[0].store, proc) if local else ""
        self._pids = {CLIENT: [], BROKER: sorted({one.pid for one in local if one.pid is not None})}
        self._looks: list[Counters] = []
        self._task: asyncio.Task[None] | None = None
        self._usage: Usage | None = None

    def begin(self, clients: Sequence[int], at_ns: int) -> None:
        """Look from that moment on at these processes."""
        self._pids[CLIENT] = list(clients)
        self._task = asyncio.ensure_future(self._look(at_ns))

    def end(self) -> Usage:
        """What was used since; once it has ended, always the same."""
        if self._usage is None:
            self._usage = self._end()
        return self._usage

    def _end(self) -> Usage:
        if self._task is not None:
            self._task.cancel()
        self._add()
        if len(self._looks) == 1:
            self._add()  # it ended before it began
        return usage_between(self._looks[0], self._looks[-1])

    def latest(self) -> Usage | None:
        """Of the last second."""
        return usage_between(self._looks[-2], self._looks[-1]) if len(self._looks) > 1 else None

    async def _look(self, at_ns: int) -> None:
        await asyncio.sleep(max(0.0, (at_ns - time.monotonic_ns()) / 1e9))
        while True:
            self._add()
            await asyncio.sleep(_LOOK_SECONDS)

    def _add(self) -> None:
        self._looks.append(self._proc.read(time.monotonic_ns(), self._pids, self._device))
