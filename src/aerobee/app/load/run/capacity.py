"""A daily volume, turned into a cluster: how many brokers, how much disk, memory and network.

Every step is a line with its arithmetic, so that who disagrees can say where. A broker is used to a
share of what it was measured at, and one broker more than needed is there so that one may be gone.

    record on disk   body + what RocketMQ adds to it in the log, + 20 bytes of its queue, + its keys
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from aerobee.app.load.workload.amounts import shown_bytes, shown_seconds
from aerobee.errors import Misuse

DAY_SECONDS = 86_400
QUEUE_UNIT_BYTES = 20
LOG_ENTRY_BYTES = 230
"""Of a message in the log besides its body: 91 bytes of fixed fields, a topic of 20, and the
properties that clients and brokers add, some 120."""
PROCESS_BYTES = 1 << 30
DISK_FULL = 0.75
"""From here on brokers delete before their time."""
WARM_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Volume:
    """What is asked for, and what is assumed."""

    daily: float
    size: float
    retention_seconds: float
    broker_rate: float
    """Messages a second that one broker was measured at, or is said to take."""
    rate_source: str = "--rate"
    peak_factor: float = 3.0
    headroom: float = 0.6
    copies: int = 1
    groups: int = 1
    spare: int = 1

    def __post_init__(self) -> None:
        for name in ("daily", "size", "retention_seconds", "broker_rate", "peak_factor"):
            if not 0 < getattr(self, name) < float("inf"):
                raise Misuse(f"{name.replace('_', ' ')} must be more than nothing")
        if not 0 < self.headroom <= 1:
            raise Misuse(f"headroom is {self.headroom}", hint="a share like 0.6")
        if self.copies < 1 or self.groups < 0 or self.spare < 0:
            raise Misuse("--copies is 1 or more, --groups and --spare 0 or more")


@dataclass(frozen=True, slots=True)
class Plan:
    brokers: int
    """Masters; with copies, each has so many less one beside it."""
    disk_bytes: float
    """Of each broker."""
    memory_bytes: float
    network_in: float
    """Bytes a second of each broker at the peak; the same for what goes out."""
    network_out: float
    peak_rate: float
    lines: Sequence[str] = field(default_factory=tuple)


def plan(volume: Volume) -> Plan:
    average = volume.daily / DAY_SECONDS
    peak = average * volume.peak_factor
    usable = volume.broker_rate * volume.headroom
    needed = math.ceil(peak / usable)
    brokers = needed + volume.spare
    on_disk = volume.size + LOG_ENTRY_BYTES + QUEUE_UNIT_BYTES
    kept = volume.daily * on_disk * volume.retention_seconds / DAY_SECONDS
    # The spare holds a share of the data as well, but with it gone the others must have room.
    disk = kept / needed / DISK_FULL
    on_wire = volume.size + LOG_ENTRY_BYTES
    network_in = peak / needed * on_wire
    network_out = network_in * (volume.groups + volume.copies - 1)
    warm = network_in * WARM_SECONDS
    memory = warm + PROCESS_BYTES
    lines = [
        f"{volume.daily:,.0f} a day are {average:,.0f}/s on the average.",
        f"At the peak {volume.peak_factor:g} times that (--peak): {peak:,.0f}/s.",
        f"A broker takes {volume.broker_rate:,.0f}/s ({volume.rate_source}); it is planned for "
        f"{volume.headroom:.0%} of that (--headroom): {usable:,.0f}/s.",
        f"{peak:,.0f} ÷ {usable:,.0f} → {needed} broker{'s' * (needed > 1)}, and {volume.spare} "
        f"more so that as many may be gone (--spare): {brokers}.",
        f"A message is {on_disk:,.0f} bytes on the disk: {volume.size:,.0f} of body, "
        f"{LOG_ENTRY_BYTES} around it, {QUEUE_UNIT_BYTES} in its queue.",
        f"{shown_seconds(volume.retention_seconds)} of it are {shown_bytes(kept)}; ÷ {needed} "
        f"brokers ÷ {DISK_FULL:.0%}, where brokers begin to delete: {shown_bytes(disk)} each.",
        f"In, at the peak: {peak / needed:,.0f}/s × {on_wire:,.0f} bytes = "
        f"{shown_bytes(network_in)}/s each; out, for {volume.groups} "
        f"group{'s' * (volume.groups != 1)} and {volume.copies - 1} more "
        f"cop{'y' if volume.copies == 2 else 'ies'}: {shown_bytes(network_out)}/s.",
        f"Memory: {WARM_SECONDS:.0f} s of the peak in the page cache, so that consumers that keep "
        f"up never read the disk, {shown_bytes(warm)}, and {shown_bytes(PROCESS_BYTES)} for the "
        f"process: {shown_bytes(memory)} each.",
    ]
    if volume.copies > 1:
        total = brokers * volume.copies
        lines.append(f"With {volume.copies} copies of everything: {total} brokers in all.")
    return Plan(brokers, disk, memory, network_in, network_out, peak, lines)
