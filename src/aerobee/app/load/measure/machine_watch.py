"""The machine while a load runs: looked at every second, and at both ends of the measured time.

The kernel counts no time that a thread sleeps for a disk, unless it is told to. So the states of
the brokers' threads are sampled, 20 times a second.

Workers must still be there at the end, or what they used is not known.
"""

import asyncio
import math
import time
from collections.abc import Sequence

from aerobee.app.load.measure.cluster_facts import BrokerFacts, device_of
from aerobee.app.load.measure.proc import Counters, Proc
from aerobee.app.load.measure.usage import BROKER, CLIENT, Usage, usage_between

_LOOK_SECONDS = 1.0
_SAMPLE_SECONDS = 0.05


class MachineWatch:
    def __init__(self, proc: Proc, brokers: Sequence[BrokerFacts]) -> None:
        local = [broker for broker in brokers if broker.pid is not None]
        self._proc = proc
        self._device = device_of(local[0].store, proc) if local else ""
        names: dict[int, list[str]] = {}
        for broker in local:
            names.setdefault(broker.pid or 0, []).append(broker.name)
        self.broker_names = [", ".join(names[pid]) for pid in sorted(names)]
        """Of the brokers that are watched, a name for each process."""
        self._pids = {CLIENT: [], BROKER: sorted(names)}
        self._looks: list[Counters] = []
        self._task: asyncio.Task[None] | None = None
        self._usage: Usage | None = None
        self._samples = 0
        self._samples_in_disk = dict.fromkeys(names, 0)

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
        waited = max(self._samples_in_disk.values(), default=0) / max(1, self._samples)
        return usage_between(self._looks[0], self._looks[-1], waited)

    def latest(self) -> Usage | None:
        """Of the last second."""
        return usage_between(self._looks[-2], self._looks[-1]) if len(self._looks) > 1 else None

    async def _look(self, at_ns: int) -> None:
        await asyncio.sleep(max(0.0, (at_ns - time.monotonic_ns()) / 1e9))
        looked = -math.inf
        while True:
            now = time.monotonic()
            if now - looked >= _LOOK_SECONDS:
                looked = now
                self._add()
            self._samples += 1
            for pid in self._samples_in_disk:
                self._samples_in_disk[pid] += self._proc.is_waiting_for_disk(pid)
            await asyncio.sleep(_SAMPLE_SECONDS)

    def _add(self) -> None:
        self._looks.append(self._proc.read(time.monotonic_ns(), self._pids, self._device))
