"""ActionLog: the record of changes that were made through the console, and of log-ins.

    {"at": 1700000000000, "user": "alice", "role": "admin", "from": "127.0.0.1",
     "action": "deleteTopic", "of": "orders", "outcome": "done", "detail": ""}

One line of JSON each, in files that are only appended to: `actions.log`, and older ones with a
number. The newest ENTRIES_MAX are also in memory, for the page. No value of a request is in it but
the name of the thing that was changed: a body may hold a password.
"""

import asyncio
import json
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import NamedTuple

FILE = "actions.log"
FILE_BYTES_MAX = 10 << 20
FILES_MAX = 5
ENTRIES_MAX = 5_000
DONE, REFUSED, FAILED = ("done", "refused", "failed")


class ActionEntry(NamedTuple):
    at: int
    user: str | None
    role: str | None
    address: str
    action: str
    of: str
    outcome: str
    detail: str = ""

    def record(self) -> dict[str, object]:
        """The entry as a row of the page and as a line of the file."""
        told = self._asdict()
        return {("from" if name == "address" else name): value for name, value in told.items()}


class ActionLog:
    def __init__(self, folder: str, worker: Executor) -> None:
        self._path = os.path.join(folder, FILE)
        self._worker = worker
        self._newest: deque[ActionEntry] = deque(_entries(self._path), ENTRIES_MAX)

    def newest(self) -> list[ActionEntry]:
        """Return the entries in memory, the newest first."""
        return list(reversed(self._newest))

    async def add(self, entry: ActionEntry) -> None:
        """Add an entry; returns when it is written."""
        self._newest.append(entry)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._worker, self._write, entry)

    def _write(self, entry: ActionEntry) -> None:
        line = json.dumps(entry.record(), ensure_ascii=False) + "\n"
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with open(descriptor, "a", encoding="utf-8") as file:
            file.write(line)
            size = file.tell()
        if size >= FILE_BYTES_MAX:
            self._turn_over()

    def _turn_over(self) -> None:
        for number in range(FILES_MAX - 1, 0, -1):
            older = f"{self._path}.{number}"
            newer = f"{self._path}.{number - 1}" if number > 1 else self._path
            if os.path.exists(newer):
                os.replace(newer, older)


def _entries(path: str) -> Iterator[ActionEntry]:
    """The entries of a file that can be read; a line that was cut by a crash is left out."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    told = json.loads(line)
                    told["address"] = told.pop("from")
                    yield ActionEntry(**told)
                except (ValueError, TypeError, KeyError, AttributeError):
                    continue
    except OSError:
        return
