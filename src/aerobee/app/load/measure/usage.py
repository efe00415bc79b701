"""Usage of the machine between two moments, in all, by the load and by its brokers.

Shares of cores: 1.0 is one core all the time. A process that does its work in one thread is at its
end when that thread is, however many cores there are; so the busiest thread is what counts. A
thread is busy while it runs and while it waits for a core.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from aerobee.app.load.measure.proc import Counters, ProcessCounters


@dataclass(frozen=True, slots=True)
class PartUsage:
    """Of the processes of one side."""

    cores: float = 0.0
    busiest_thread: float = 0.0
    """The share of the time in which the busiest thread ran on a core."""
    memory_bytes: int = 0
    is_known: bool = False
    busiest_waited: float = 0.0
    """The share of the time in which that thread could run and waited for a core."""
    busiest: int = 0
    """The process of that thread, counted from 0."""
    is_wait_known: bool = False

    @property
    def busy(self) -> float:
        """The share of the time in which the busiest thread had work."""
        return min(1.0, self.busiest_thread + self.busiest_waited)


@dataclass(frozen=True, slots=True)
class Usage:
    seconds: float
    cores: int
    machine: float
    """Of all cores together, 0 to 1."""
    load: float
    available_bytes: int
    client: PartUsage
    broker: PartUsage
    disk_busy: float
    """The share of the time in which the broker's disk had something to do."""
    disk_written_a_second: float
    disk_read_a_second: float
    net_in_a_second: float
    net_out_a_second: float
    is_disk_known: bool = True
    disk_waited: float = 0.0
    """The share of the time in which a thread of a broker waited for the disk."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


CLIENT, BROKER = "client", "broker"


def usage_between(before: Counters, after: Counters, disk_waited: float = 0.0) -> Usage:
    """`disk_waited` is sampled by the caller: the kernel has no counter of it."""
    seconds = max(1e-9, (after.at_ns - before.at_ns) / 1e9)
    busy = after.busy_seconds - before.busy_seconds
    idle = after.idle_seconds - before.idle_seconds
    return Usage(
        seconds,
        after.cores,
        busy / (busy + idle) if busy + idle > 0 else 0.0,
        after.load,
        after.available_bytes,
        _part(before.processes.get(CLIENT, []), after.processes.get(CLIENT, []), seconds),
        _part(before.processes.get(BROKER, []), after.processes.get(BROKER, []), seconds),
        min(1.0, (after.disk_busy_ms - before.disk_busy_ms) / 1000 / seconds),
        (after.disk_written_bytes - before.disk_written_bytes) / seconds,
        (after.disk_read_bytes - before.disk_read_bytes) / seconds,
        (after.net_in_bytes - before.net_in_bytes) / seconds,
        (after.net_out_bytes - before.net_out_bytes) / seconds,
        after.is_disk_known,
        disk_waited,
    )


def _part(
    before: Sequence[ProcessCounters], after: Sequence[ProcessCounters], seconds: float
) -> PartUsage:
    if not before or len(before) != len(after):
        return PartUsage()
    # (had work, ran, waited, process) of each thread
    threads = [(0.0, 0.0, 0.0, 0)]
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        for thread, spent in new.threads.items():
            ran = spent - old.threads.get(thread, 0.0)
            waited = new.waits.get(thread, 0.0) - old.waits.get(thread, 0.0)
            threads.append((ran + waited, ran, waited, number))
    _, ran, waited, number = max(threads)
    cpu = sum(new.cpu_seconds - old.cpu_seconds for old, new in zip(before, after, strict=True))
    return PartUsage(
        cpu / seconds,
        ran / seconds,
        sum(one.memory_bytes for one in after),
        is_known=True,
        busiest_waited=waited / seconds,
        busiest=number,
        is_wait_known=any(one.waits for one in after),
    )
