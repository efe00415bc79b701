"""`python -m bench.up`: how long `aerobee` takes to start, and what it takes of memory.

python -m bench.up                # ten rounds, two minutes
python -m bench.up --rounds 3     # a first look
python -m bench.up --root DIR     # on another disk (a folder of its own, emptied)

The cases alternate within each round; the figure is the median of the rounds, the worst one beside
it. A start is over when the line `ready:` is read; that of the console, which comes later, when it
has answered with its page and with the figures of the cluster. Commands that ask a broker ask one
that does nothing else; their time is that of the whole command. Processor time is the process's
own, up to then: where others use the machine, too, it says more than the clock. Memory is what the
system counts as resident, and how much of it is the process's own and not pages of its files.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

MIB = 1 << 20
ROUNDS = 10
MESSAGES = 100_000
BATCH = 500
DEMO_SECONDS = 15.0
_TICKS = os.sysconf("SC_CLK_TCK")
_UNKEPT = "PYTHONDONTWRITEBYTECODE"
_ANY_PORTS = ("--port", "0", "--nameserver-port", "0")


class Start(NamedTuple):
    """One start."""

    seconds: float
    cpu_seconds: float
    resident: int = 0
    own: int = 0


class Case(NamedTuple):
    title: str
    run: Callable[[], Start]
    goal: str = ""


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "aerobee.cli.main", *words]


def _environment() -> dict[str, str]:
    """As a shell has it, in which modules stay compiled from one start to the next."""
    return {name: value for name, value in os.environ.items() if name != _UNKEPT}


def ended(*words: str) -> Start:
    """A command that ends by itself."""
    began = time.perf_counter()
    with subprocess.Popen(
        command(*words), stdout=subprocess.DEVNULL, env=_environment()
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}")
    return Start(seconds, used.ru_utime + used.ru_stime)


class Running:
    """A server that is ready."""

    def __init__(self, *words: str) -> None:
        self._began = time.perf_counter()
        self._process = subprocess.Popen(
            command("up", *_ANY_PORTS, *words),
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(),
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        seconds = time.perf_counter() - self._began
        found = re.match(r"ready: nameserver ([^ ,]+)", line)
        if found is None:
            raise SystemExit(f"it did not start: {line}")
        self.address = found[1]
        self.start = Start(seconds, self.cpu_seconds(), *self.memory())

    def console(self) -> Start:
        """The start of the console: over when it has answered what a browser asks at first."""
        assert self._process.stdout is not None
        told = (re.search(r"console\s+http://(\S+)", line) for line in self._process.stdout)
        found = next((one for one in told if one is not None), None)
        if found is None:
            raise SystemExit("it has no console")
        for path in ("/", "/api/overview"):
            with urlopen(f"http://{found[1]}{path}", timeout=60) as answer:
                answer.read()
        seconds = time.perf_counter() - self._began
        return Start(seconds, self.cpu_seconds(), *self.memory())

    def cpu_seconds(self) -> float:
        text = Path(f"/proc/{self._process.pid}/stat").read_text("utf-8")
        words = text.rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / _TICKS

    def memory(self) -> tuple[int, int]:
        """Resident, and of that its own."""
        text = Path(f"/proc/{self._process.pid}/status").read_text("utf-8")
        kib = dict(re.findall(r"(\w+):\s+(\d+) kB", text))
        return int(kib["VmRSS"]) * 1024, int(kib["RssAnon"]) * 1024

    def stop(self) -> Start:
        self._process.terminate()
        self._process.communicate(timeout=60)
        return self.start


def fill(folder: str) -> None:
    """A store to go on with."""
    import asyncio

    import aerobee

    async def send(address: str) -> None:
        async with aerobee.connect(address) as client:
            for start in range(0, MESSAGES, BATCH):
                numbers = range(start, start + BATCH)
                await client.send_batch("orders", [{"number": number} for number in numbers])

    server = Running("--store", folder)
    try:
        asyncio.run(send(server.address))
    finally:
        server.stop()


def cases(root: Path, name_server: str) -> list[Case]:
    full, empty = str(root / "full"), str(root / "empty")
    fill(full)

    def fresh() -> Start:
        shutil.rmtree(empty, ignore_errors=True)
        return Running("--store", empty).stop()

    def with_console() -> Start:
        shutil.rmtree(empty, ignore_errors=True)
        server = Running("--store", empty)
        try:
            return server.console()
        finally:
            server.stop()

    def asking(line: str) -> Case:
        words = [*line.split(), "-n", name_server]
        return Case(f"`aerobee {line}`", lambda: ended(*words), "0.15 s")

    return [
        Case("`aerobee --help`", lambda: ended("--help"), "0.15 s"),
        Case("`aerobee topic --help`", lambda: ended("topic", "--help"), "0.15 s"),
        asking("message send hello hi"),  # first: the next ones ask about it
        asking("message tail hello --from earliest --count 1"),
        asking("topic list"),
        asking("group list"),
        asking("mqadmin clusterList"),
        Case("`aerobee up`, new", fresh, "1 s, 80 MiB"),
        Case("`aerobee up`, new, until the console answers", with_console),
        Case(
            f"`aerobee up`, {MESSAGES:,} messages", lambda: Running("--store", full).stop(), "1 s"
        ),
        Case("`aerobee up --brokers 3`", lambda: Running("--temp", "--brokers", "3").stop()),
        Case("`aerobee up --demo`", lambda: Running("--temp", "--demo").stop()),
    ]


def table(found: Sequence[tuple[Case, Sequence[Start]]]) -> list[str]:
    lines = [
        "| start | median | worst | processor time | resident | own | goal |",
        "|---|---|---|---|---|---|---|",
    ]
    for case, starts in found:
        times = [one.seconds for one in starts]
        cpu = statistics.median(one.cpu_seconds for one in starts)
        resident = statistics.median(one.resident for one in starts)
        own = statistics.median(one.own for one in starts)
        lines.append(
            f"| {case.title} | {statistics.median(times):.2f} s | {max(times):.2f} s | {cpu:.2f} s "
            f"| {_mib(resident)} | {_mib(own)} | {case.goal or '–'} |"
        )
    return lines


def _mib(size: float) -> str:
    return f"{size / MIB:.0f} MiB" if size else "–"


def demo() -> str:
    """What the demonstration takes while it runs."""
    server = Running("--temp", "--demo")
    time.sleep(3)  # its own start is not what is asked for
    began, used = time.perf_counter(), server.cpu_seconds()
    time.sleep(DEMO_SECONDS)
    share = (server.cpu_seconds() - used) / (time.perf_counter() - began)
    resident, own = (size / MIB for size in server.memory())
    server.stop()
    return (
        f"`aerobee up --demo`, while it runs: {share:.0%} of a core, {resident:.0f} MiB resident, "
        f"{own:.0f} MiB its own."
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.up", description="starts and memory")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--root", type=Path)
    parsed = parser.parse_args()
    root = parsed.root or Path(tempfile.mkdtemp(prefix="aerobee-bench-"))
    asked = Running("--temp")
    try:
        chosen = cases(root, asked.address)
        seen: list[list[Start]] = [[] for _ in chosen]
        for number in range(parsed.rounds):
            print(f"round {number + 1} of {parsed.rounds}", file=sys.stderr)
            for case, starts in zip(chosen, seen, strict=True):
                starts.append(case.run())
        print("\n".join(table(list(zip(chosen, seen, strict=True)))))
        print()
        print(demo())
    finally:
        asked.stop()
        shutil.rmtree(root, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
