"""Counters of the machine and of processes, read from Linux in /proc: text in, numbers out.

Counters that only grow (time, bytes) are kept as they are; two of them make a rate. What is not
there, or not ours to read, is nothing and no error.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_SECTOR_BYTES = 512
_LISTENING = "0A"


@dataclass(frozen=True, slots=True)
class ProcessCounters:
    cpu_seconds: float
    threads: dict[int, float]
    """CPU seconds of each thread."""
    memory_bytes: int
    """Of its own: without pages of files that it has mapped."""
    waits: dict[int, float] = field(default_factory=dict)
    """Seconds that each thread waited for a core; empty if the kernel does not count them."""


@dataclass(frozen=True, slots=True)
class Counters:
    """The machine at one moment."""

    at_ns: int
    busy_seconds: float
    idle_seconds: float
    cores: int
    load: float
    available_bytes: int
    net_in_bytes: int
    net_out_bytes: int
    disk_busy_ms: int
    disk_written_bytes: int
    disk_read_bytes: int
    is_disk_known: bool
    processes: dict[str, list[ProcessCounters]] = field(default_factory=dict)


class Proc:
    """One /proc, or a folder that looks like it."""

    def __init__(self, root: Path = Path("/proc")) -> None:
        self._root = root

    def read(self, at_ns: int, pids: dict[str, list[int]], device: str) -> Counters:
        """`pids` by whose they are; `device` as `/proc/diskstats` calls the disk, or empty."""
        busy, idle, cores = cpu_in(self._text("stat"))
        busy_ms, read, written = disk_in(self._text("diskstats"), device)
        net_in, net_out = network_in(self._text("net/dev"))
        load = self._text("loadavg").split()
        return Counters(
            at_ns,
            busy,
            idle,
            cores,
            float(load[0]) if load else 0.0,
            available_in(self._text("meminfo")),
            net_in,
            net_out,
            busy_ms,
            written,
            read,
            bool(device),
            {whose: self._processes(found) for whose, found in pids.items()},
        )

    def is_waiting_for_disk(self, pid: int) -> bool:
        """Whether a thread of this process sleeps in the kernel for a disk just now."""
        folder = f"{self._root}/{pid}/task"
        try:
            threads = os.listdir(folder)
        except OSError:
            return False
        return any(_is_in_disk_sleep(f"{folder}/{thread}/stat") for thread in threads)

    def listener(self, port: int) -> int | None:
        """The process that listens on a port, if it is one that we may look at."""
        sockets = {
            f"socket:[{inode}]"
            for name in ("net/tcp", "net/tcp6")
            for inode in listening_in(self._text(name), port)
        }
        if not sockets:
            return None
        for folder in self._root.glob("[0-9]*"):
            try:
                if any(os.readlink(entry) in sockets for entry in (folder / "fd").iterdir()):
                    return int(folder.name)
            except OSError:
                continue  # somebody else's, or gone
        return None

    def commit_log_of(self, pid: int) -> str:
        """The folder of the log that a broker's process has mapped; empty if it shows none."""
        for line in self._text(f"{pid}/maps").splitlines():
            folder, slash, _ = line.partition("/")[2].rpartition("/")
            if slash and folder.endswith("/commitlog"):
                return f"/{folder}"
        return ""

    def device_of(self, number: int) -> str:
        """What `/proc/diskstats` calls a device number of `stat`; empty if it is no disk."""
        wanted = [str(os.major(number)), str(os.minor(number))]
        for line in self._text("diskstats").splitlines():
            fields = line.split()
            if fields[:2] == wanted:
                return fields[2]
        return ""

    def _processes(self, pids: Iterable[int]) -> list[ProcessCounters]:
        found = []
        for pid in pids:
            own = self._text(f"{pid}/stat")
            if not own:
                continue
            threads, waits = {}, {}
            for folder in self._root.glob(f"{pid}/task/[0-9]*"):
                thread = int(folder.name)
                text = self._text(f"{pid}/task/{thread}/stat")
                scheduled = scheduled_in(self._text(f"{pid}/task/{thread}/schedstat"))
                if scheduled is not None:
                    threads[thread], waits[thread] = scheduled
                elif text:
                    threads[thread] = cpu_of_process(text)
            words = self._text(f"{pid}/statm").split() or ["0", "0", "0"]
            # Without pages of mapped files: a broker's log is not its memory.
            memory = (int(words[1]) - int(words[2])) * os.sysconf("SC_PAGE_SIZE")
            found.append(ProcessCounters(cpu_of_process(own), threads, memory, waits))
        return found

    def _text(self, name: str) -> str:
        try:
            return (self._root / name).read_text("utf-8", errors="replace")
        except OSError:
            return ""


def cpu_in(stat: str) -> tuple[float, float, int]:
    """Of all cores: seconds busy, seconds idle; and how many cores."""
    cores = sum(line.startswith("cpu") for line in stat.splitlines()) - 1
    for line in stat.splitlines():
        if line.startswith("cpu "):
            ticks = [int(part) for part in line.split()[1:9]]
            idle = ticks[3] + ticks[4]  # waiting for a disk is idle
            return (sum(ticks) - idle) / TICKS_A_SECOND, idle / TICKS_A_SECOND, max(1, cores)
    return 0.0, 0.0, 1


def cpu_of_process(stat: str) -> float:
    """Seconds, in the program and in the kernel for it. Its name may hold anything."""
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND


def scheduled_in(schedstat: str) -> tuple[float, float] | None:
    """Seconds that a thread ran, and that it waited for a core. None: the kernel does not count it,
    and shows no file or only zeros."""
    fields = schedstat.split()
    if len(fields) < 2 or fields[0] == "0":
        return None
    return int(fields[0]) / 1e9, int(fields[1]) / 1e9


def disk_in(diskstats: str, device: str) -> tuple[int, int, int]:
    """Milliseconds busy, bytes read, bytes written."""
    for line in diskstats.splitlines():
        fields = line.split()
        if len(fields) > 12 and fields[2] == device:
            return int(fields[12]), int(fields[5]) * _SECTOR_BYTES, int(fields[9]) * _SECTOR_BYTES
    return 0, 0, 0


def network_in(dev: str) -> tuple[int, int]:
    """Bytes in and out, but for what the machine says to itself."""
    came = left = 0
    for line in dev.splitlines():
        name, colon, figures = line.partition(":")
        if colon and name.strip() != "lo":
            fields = figures.split()
            came += int(fields[0])
            left += int(fields[8])
    return came, left


def available_in(meminfo: str) -> int:
    for line in meminfo.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def listening_in(table: str, port: int) -> list[str]:
    """The inodes of sockets that listen on a port."""
    found = []
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) < 10 or fields[3] != _LISTENING:
            continue
        if int(fields[1].rpartition(":")[2], 16) == port:
            found.append(fields[9])
    return found


def _is_in_disk_sleep(path: str) -> bool:
    """By the state in a thread's `stat`. It is asked often, of every thread: so without `Path`."""
    try:
        with open(path, "rb") as file:
            return file.read().rpartition(b") ")[2].startswith(b"D")
    except OSError:
        return False  # it has ended
