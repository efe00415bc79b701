"""mqadmin's sub-commands as runbooks have them: what is typed, what must be seen.

In a command `{name}` is filled in: where the server is, and what an earlier one has shown.
"""

import contextlib
import io
import re
import shlex
import time
from pathlib import Path
from typing import NamedTuple

from aerobee.cli.mqadmin.entry import main
from tests.cli_kit import Said
from tests.process_kit import SECONDS_MAX


class Works(NamedTuple):
    """A command that ends well and shows all of these patterns."""

    command: str
    shows: tuple[str, ...]


class Fails(NamedTuple):
    """A command that ends badly, says this, and says what to do."""

    command: str
    says: str
    status: int = 1


class Place:
    """A server, and words to fill in."""

    def __init__(self, name_server: str, address: str, folder: Path) -> None:
        self.name_server = name_server
        self.address = address
        self.folder = folder
        self.words = {"address": address, "folder": str(folder), "broker": "broker-a"}

    def run(self, command: str) -> Said:
        """In this process: it asks the server, which is another."""
        for name, word in self.words.items():
            command = command.replace(f"{{{name}}}", word)
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            status = main([*shlex.split(command), "-n", self.name_server])
        return Said(status, out.getvalue(), error.getvalue())

    def see(self, case: Works) -> Said:
        """It works, and shows what it is to show."""
        return _seen(case, self.run(case.command))

    def see_in_time(self, case: Works) -> Said:
        """The same, of what takes a moment to come about."""
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            said = self.run(case.command)
            is_well = said.status == 0 and all(has(pattern, said.out) for pattern in case.shows)
            if is_well or time.monotonic() > deadline:
                return _seen(case, said)

    def see_refused(self, case: Fails) -> None:
        said = self.run(case.command)
        assert said.status == case.status, said.out + said.error
        assert has(case.says, said.error), said.error
        assert has(r"^  hint: \S", said.error), said.error


_WARNING = re.compile(r"aerobee: warning: .*\n  hint: .*\n")
"""Of a password in the arguments, as RocketMQ's tool takes it."""


def _seen(case: Works, said: Said) -> Said:
    assert said.status == 0, said.error
    assert not _WARNING.sub("", said.error)
    for pattern in case.shows:
        assert has(pattern, said.out), f"{pattern} is not in:\n{said.out}"
    return said


def has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.MULTILINE) is not None
