"""CPU time and highest memory of the processes of a Spark session.

    JVM ─┬─ daemon ── worker, worker, …    a worker's seconds go with it when it ends, for its
         │                                 daemon does not wait for it: so they are read meanwhile
         └─ a stream's own Python, chmod   the JVM waits for them, and has their seconds then

The highest memory of a process can be set back, so that each measurement has its own.
"""

import os
import threading
from pathlib import Path
from typing import NamedTuple

LOOKED_AFTER_SECONDS = 0.1
_IDLE_SECONDS = 0.02
"""What a process that waits for work takes at most."""
_TICKS = float(os.sysconf("SC_CLK_TCK"))


class Seconds(NamedTuple):
    jvm: float
    python: float


class _Process(NamedTuple):
    parent: int
    own: float
    of_ended: float
    """Of children that it waited for."""


class Usage:
    """Follows what is below a JVM, on a thread of its own."""

    def __init__(self, jvm: int) -> None:
        self._jvm = jvm
        self._seen: dict[int, _Process] = {}
        self._then: dict[int, float] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._follow, daemon=True).start()

    def seconds(self) -> Seconds:
        """So far."""
        with self._lock:
            self._look()
            below = [one for pid, one in self._seen.items() if pid != self._jvm]
            jvm = self._seen[self._jvm]
            return Seconds(jvm.own, jvm.of_ended + sum(one.own + one.of_ended for one in below))

    def forget_memory(self) -> None:
        """The highest is what it is now."""
        self._then = {}
        for pid in self._workers():
            process = _process(pid)
            self._then[pid] = process.own if process is not None else 0.0
            try:
                Path(f"/proc/{pid}/clear_refs").write_text("5")
            except OSError:
                continue  # ended, or not ours to set

    def memory_max(self) -> int:
        """Of the largest process below the JVM that did something since `forget_memory`."""
        found = [0]
        for pid in self._workers():
            process = _process(pid)
            if process is not None and process.own > self._then.get(pid, 0.0) + _IDLE_SECONDS:
                found.append(_highest_memory(pid))
        return max(found)

    def _workers(self) -> list[int]:
        return [pid for pid in _below(self._jvm) if pid != self._jvm]

    def _follow(self) -> None:
        pause = threading.Event()
        while not pause.wait(LOOKED_AFTER_SECONDS):
            with self._lock:
                self._look()

    def _look(self) -> None:
        found = {pid: one for pid in _below(self._jvm) if (one := _process(pid)) is not None}
        for pid in [pid for pid in self._seen if pid not in found]:
            if self._seen[pid].parent == self._jvm:
                del self._seen[pid]  # the JVM has its seconds by now
        self._seen.update(found)


def _below(pid: int) -> list[int]:
    """A process and all that came of it. Any of them may end while it is looked at."""
    found = [pid]
    for one in found:
        folder = Path(f"/proc/{one}/task")
        try:
            tasks = os.listdir(folder)
        except OSError:
            continue
        for task in tasks:
            try:
                found += [int(child) for child in (folder / task / "children").read_text().split()]
            except OSError:
                continue
    return found


def _process(pid: int) -> _Process | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    user, system, user_of_ended, system_of_ended = map(int, fields[11:15])
    ended = (user_of_ended + system_of_ended) / _TICKS
    return _Process(int(fields[1]), (user + system) / _TICKS, ended)


def _highest_memory(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = (line.split() for line in text.splitlines() if line.startswith("VmHWM"))
    return next((int(line[1]) * 1024 for line in lines), 0)
