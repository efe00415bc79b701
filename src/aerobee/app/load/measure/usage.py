"""What was used of the machine between two moments, and of it by the load and by its brokers.

Shares of cores: 1.0 is one core all the time. A process that does its work in one thread is at its
end when that thread is, however many cores there are; so the busiest thread is what counts.
"""

from dataclasses import asdict, dataclass
from typing import Any

from aerobee.app.load.measure.proc import Counters, ProcessCounters


@dataclass(frozen=True, slots=True)
class PartUsage:
    """Of the processes of one side."""

    cores: float = 0.0
    busiest_thread: float = 0.0
    memory_bytes: int = 0
    is_known: bool = False


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

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


CLIENT, BROKER = "client", "broker"


def usage_between(before: Counters, after: Counters) -> Usage:
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
    )


def _part(before: list[ProcessCounters], after: list[ProcessCounters], seconds: float) -> PartUsage:
    if not before or len(before) != len(after):
        return PartUsage()
    busiest = cpu = 0.0
    for old, new in zip(before, after, strict=True):
        cpu += new.cpu_seconds - old.cpu_seconds
        for thread, spent in new.threads.items():
            busiest = max(busiest, spent - old.threads.get(thread, 0.0))
    memory = sum(one.memory_bytes for one in after)
    return PartUsage(cpu / seconds, busiest / seconds, memory, is_known=True)
