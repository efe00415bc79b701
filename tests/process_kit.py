"""Processes as people run them: `aerobee …`, their ready line, their status."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

SECONDS_MAX = 200
"""For whatever a test waits for: a slow and busy machine takes ten times as long as a quick one."""
PATIENT = {"AEROBEE_BROKER_OS_PAGE_CACHE_BUSY_TIME_OUT_MILLS": "600000"}
"""How long the disk of a shared machine is busy says nothing of the code under test."""

SMALL_FILES = """\
mappedFileSizeCommitLog=1048576
mappedFileSizeConsumeQueue=20000
maxHashSlotNum=1000
maxIndexNum=4000
flushIntervalCommitLog=5
timerPrecisionMs=20
timerFlushIntervalMs=20
timerWheelSlots=100000
mappedFileSizeTimerLog=10420
"""
"""Settings of a broker with which few messages roll every kind of file, and timers tick fast."""


class Started:
    """One process; the rest of its output once it has ended."""

    def __init__(self, home: Path, *arguments: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "aerobee.cli.main", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **PATIENT, "HOME": str(home), **environment},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:  # its pipes are closed, also those of one that has ended by itself
            if self.is_running:
                self.process.kill()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def ports(self) -> dict[str, int]:
        """Waits for the line that says it is ready: what is on which port."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("ready: "), self.end()
        return {name: int(port) for name, port in re.findall(r"(\w+) [^ ,]+:(\d+)", line)}

    def until(self, text: str) -> str:
        """Waits for a line with this text: everything up to it."""
        assert self.process.stdout is not None
        said = ""
        while text not in said:
            line = self.process.stdout.readline()
            assert line, said + str(self.end())
            said += line
        return said

    def end(self) -> tuple[int, str, str]:
        """Status, stdout, stderr."""
        stdout, stderr = self.process.communicate(timeout=SECONDS_MAX)
        return self.process.returncode, stdout, stderr

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        self.process.send_signal(number)
        return self.end()


def files_under(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def listening_ports(pid: int) -> set[int]:
    """The ports of IPv4 on which a process listens."""
    links = [os.readlink(place) for place in Path(f"/proc/{pid}/fd").iterdir()]
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return {
        int(row[1].rpartition(":")[2], 16)
        for row in rows
        if row[3] == "0A" and f"socket:[{row[9]}]" in links
    }
