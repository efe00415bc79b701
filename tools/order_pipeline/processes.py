"""The processes of the case: a server, and a capture; each says when it is ready, and is ended.

They are in a session of their own, so that Ctrl-C reaches the story first, which ends them in turn.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from aerobee.pipeline.sandbox.mariadb import MariaDb

END_SECONDS_MAX = 30
_PASSWORD = "AEROBEE_MYSQL_PASSWORD"


class Command:
    """`aerobee …` in a process; what it says beside its first line goes to a file."""

    def __init__(self, log: Path, *words: str, **environment: str) -> None:
        self._log = log
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "aerobee.cli.main", *words],
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                env={**os.environ, **environment},
                start_new_session=True,  # Ctrl-C is the story's to handle
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.communicate(timeout=END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def ready_line(self) -> str:
        """What it says when it is ready."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.startswith("ready: "):
            self._process.wait(END_SECONDS_MAX)
            raise SystemExit(f"{self.failure()}")
        return line

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def failure(self) -> str:
        words = " ".join(map(str, self._process.args[2:4]))  # type: ignore[index]
        said = self._log.read_text("utf-8", "replace").strip()
        return f"{words} has ended with status {self._process.returncode}:\n{said[-2000:]}"


def server(folder: Path) -> Command:
    """A name server and a broker."""
    words = ("up", "--store", str(folder / "broker"), "--port", "0", "--nameserver-port", "0")
    return Command(folder / "server.log", *words)


def name_server_in(ready: str) -> str:
    """`host:port`, of the line with which a server says that it is ready."""
    found = re.search(r"nameserver ([^ ,]+:\d+)", ready)
    if found is None:
        raise SystemExit(f"no name server in {ready!r}")
    return found[1]


def capture(folder: Path, database: MariaDb, tables: str, name: str, name_server: str) -> Command:
    """Changes of these tables as messages."""
    where = ("--host", database.host, "--port", str(database.port), "--user", database.user)
    words = ("capture", "mysql", *where, "--tables", tables, "--name", name, "-n", name_server)
    return Command(folder / "capture.log", *words, **{_PASSWORD: database.password})
