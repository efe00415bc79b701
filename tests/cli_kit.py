"""Commands as people give them."""

import contextlib
import io
import json
import subprocess
import sys
from typing import Any

from aerobee.cli.main import main
from tests.server_kit import Server


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
    command = [*words, "-n", server.name_server]
    if stdin is not None:
        run = subprocess.run(
            [sys.executable, "-m", "aerobee.cli.main", *command],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        return Said(run.returncode, run.stdout, run.stderr)
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            status = main(command)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 2
            if isinstance(end.code, str):
                error.write(end.code)
    return Said(status, out.getvalue(), error.getvalue())
