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
        if self.process.poll() is None:
            self.process.kill()
            self.end()

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
