"""Calls of the console's pages, timed, and the processes behind them, weighed.

Times are those of a client on the same machine, from the request to the last byte of its answer;
the console and the cluster share its cores, with whatever else runs there. Beside them stands the
processor time that the console spent meanwhile, on the call and on all else: what a machine of its
own would make of it.
"""

import contextlib
import gzip
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
SECONDS_MAX = 120


class RunningConsole(NamedTuple):
    address: str
    pid: int


class Timed(NamedTuple):
    """One page's call."""

    page: str
    path: str
    ms: list[float]
    own_ms: list[float]
    """Processor time of the console."""
    bytes: int


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


@contextlib.contextmanager
def running_console(name_server: str, folder: Path) -> Iterator[RunningConsole]:
    """`aerobee console` in a process of its own, on a free port."""
    words = ("console", "-n", name_server, "--port", "0", "--data", str(folder))
    console = subprocess.Popen(
        [sys.executable, "-m", "aerobee", *words], stdout=subprocess.PIPE, text=True
    )
    try:
        assert console.stdout is not None
        address = next(
            found[1]
            for line in console.stdout
            if (found := re.search(r"console http://(\S+)", line)) is not None
        )
        yield RunningConsole(address, console.pid)
    finally:
        console.terminate()
        console.communicate(timeout=60)


def ask(address: str, path: str) -> tuple[float, bytes]:
    """Return how many ms a call took, and its answer."""
    connection = HTTPConnection(address, timeout=SECONDS_MAX)
    try:
        begun = time.perf_counter()
        connection.request("GET", path, headers={"accept-encoding": "gzip"})
        answer = connection.getresponse()
        body = answer.read()
        took = (time.perf_counter() - begun) * 1000
    finally:
        connection.close()
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status} {body[:300]!r}")
    return took, body


def value(address: str, path: str) -> Any:
    return json.loads(ask(address, path)[1])


def timed(console: RunningConsole, page: str, path: str, rounds: int) -> Timed:
    taken, spent = [], []
    for _ in range(rounds):
        before = run_ms(console.pid)
        taken.append(ask(console.address, path))
        spent.append(run_ms(console.pid) - before)
    return Timed(page, path, [ms for ms, _ in taken], spent, len(taken[-1][1]))


def run_ms(pid: int) -> float:
    """Processor time of a process's main thread, since its start."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text("utf-8").split()[0]) / 1e6


def resident_mib(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text("utf-8")
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    assert found is not None
    return int(found[1]) / 1024


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and all of its threads, since its start."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def download_bytes(address: str) -> int:
    """Return the bytes of the page and its files, compressed as a browser gets them."""
    body = ask(address, "/")[1]
    total = len(body)
    page = gzip.decompress(body).decode() if body[:2] == b"\x1f\x8b" else body.decode()
    for path in re.findall(r'(?:src|href)="(/assets/[^"]+)"', page):
        total += len(ask(address, path)[1])
    return total
