"""Commands as people give them."""

import contextlib
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aerobee.cli.main import main
from tests.process_kit import SECONDS_MAX
from tests.server_kit import Server

AGAIN_SECONDS = 20
NOWHERE = Server("127.0.0.1:1")
"""Nobody is there."""


class Said:
    """What a command came to."""

    def __init__(self, status: int, out: str, error: str) -> None:
        self.status = status
        self.out = out
        self.error = error

    @property
    def records(self) -> Any:
        return json.loads(self.out)


def aerobee(server: Server, *words: str, stdin: str | None = None) -> Said:
    """One command, asked of a server; in a process of its own if there is something to read."""
    return aerobee_here(*words, "-n", server.name_server, stdin=stdin)


def aerobee_here(*words: str, stdin: str | None = None) -> Said:
    """One command that asks no server."""
    if stdin is not None:
        run = subprocess.run(
            _command(words), input=stdin, capture_output=True, text=True, check=False
        )
        return Said(run.returncode, run.stdout, run.stderr)
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 2
            if isinstance(end.code, str):
                error.write(end.code)
    return Said(status, out.getvalue(), error.getvalue())


class Terminal:
    """A process on a terminal of 80 columns."""

    def __init__(self, command: Sequence[str], **variables: str) -> None:
        self._screen, side = pty.openpty()
        environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm", **variables}
        self._process = subprocess.Popen(
            command, stdin=side, stdout=side, stderr=side, env=environment
        )
        os.close(side)
        self._text = ""

    def wait_for(self, text: str, count: int = 1) -> None:
        """Until it has been shown so often."""
        while self._text.count(text) < count:
            assert self._read(), f"{text!r} never came: {self._text!r}"

    def type(self, text: str) -> None:
        os.write(self._screen, text.encode())

    def interrupt(self) -> None:
        """Ctrl-C, until it ends. The first one when it waits: Python does not look at a signal that
        comes between a question and the wait for its answer. Not soon again: one that comes while
        Python itself ends kills the process."""
        while not self._is_asleep():
            os.sched_yield()
        is_open = True
        while is_open:
            self._process.send_signal(signal.SIGINT)
            while is_open and select.select([self._screen], [], [], AGAIN_SECONDS)[0]:
                is_open = self._read()

    def end(self) -> tuple[int, list[str]]:
        """Its status and what was shown, line by line, without what moves the cursor."""
        while self._read():
            pass
        os.close(self._screen)
        plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", self._text)
        return self._process.wait(SECONDS_MAX), plain.splitlines()

    def _is_asleep(self) -> bool:
        state = Path(f"/proc/{self._process.pid}/stat").read_text("utf-8").rpartition(") ")[2][0]
        return state in "SZ"  # waiting, or over

    def _read(self) -> bool:
        try:
            read = os.read(self._screen, 4096)
        except OSError:  # how a terminal ends
            return False
        self._text += read.decode()
        return bool(read)


class OnTerminal(Terminal):
    """One command of ours."""

    def __init__(self, *words: str, **variables: str) -> None:
        super().__init__(_command(words), **variables)


def _command(words: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "aerobee.cli.main", *words]
