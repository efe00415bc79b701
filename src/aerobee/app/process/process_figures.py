"""Figures of this process from the system: memory and processor time.

Memory is of two kinds: the process's own, and pages of mapped files, which the system takes back
when it needs them. A log that was just written is mostly the second.
"""

import os
import resource
from typing import NamedTuple

MIB = 1 << 20
_STATM = "/proc/self/statm"
_PAGE_BYTES = resource.getpagesize()


class Memory(NamedTuple):
    """Memory of this process, in bytes."""

    resident: int
    of_files: int

    @property
    def own(self) -> int:
        return self.resident - self.of_files


def memory() -> Memory | None:
    """Return the memory of this process. None: this system does not tell."""
    try:
        with open(_STATM, encoding="ascii") as file:
            words = file.read().split()
    except OSError:
        return None
    return Memory(int(words[1]) * _PAGE_BYTES, int(words[2]) * _PAGE_BYTES)


def cpu_seconds() -> float:
    """Return user and system time so far."""
    used = os.times()
    return used.user + used.system


def age_seconds() -> float | None:
    """Return the time since the system started this process, its interpreter's start included.
    None: this system does not tell."""
    try:
        with open("/proc/self/stat", encoding="utf-8") as file:
            started_ticks = int(file.read().rpartition(")")[2].split()[19])
        with open("/proc/uptime", encoding="ascii") as file:
            uptime = float(file.read().split()[0])
    except OSError:
        return None
    return uptime - started_ticks / os.sysconf("SC_CLK_TCK")
