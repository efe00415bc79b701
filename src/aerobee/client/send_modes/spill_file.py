"""`SpillFile` stores messages in a SQLite file until a broker answers again.

    waiting(id, topic, body, properties, sys_flag, order_by, producer_group, kept_ms, refused)

`id` is the order in which messages were kept and are sent. `refused` is the reason why a broker
refused one: it is kept for a person to look at, and holds up no other. The file is SQLite's in WAL
mode with full synchronisation: messages survive a power cut once `add` has returned. One process at
a time: the file is locked while it is open.

All calls block: one thread makes them, `spill`'s own.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aerobee.errors import CorruptFile, Misuse

VERSION = 1
_LAYOUT = """
CREATE TABLE IF NOT EXISTS waiting (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL,
    body BLOB NOT NULL,
    properties BLOB NOT NULL,
    sys_flag INTEGER NOT NULL,
    order_by TEXT,
    producer_group TEXT,
    kept_ms INTEGER NOT NULL,
    refused TEXT
)
"""


class Kept(NamedTuple):
    """One message. Its topic is named as on the wire."""

    topic: str
    body: bytes
    properties: bytes
    sys_flag: int
    order_by: str | None
    group: str | None
    kept_ms: int

    @property
    def size(self) -> int:
        return len(self.body) + len(self.properties)


class Waiting(NamedTuple):
    """Number and size of the waiting messages."""

    messages: int
    size: int


class SpillFile:
    def __init__(self, path: str) -> None:
        """Open the file. Misuse: another process has it. CorruptFile: it is no spill file."""
        self._path = path
        try:
            # Every call comes from the thread that opened it.
            self._database = sqlite3.connect(path, isolation_level=None, timeout=0)
        except sqlite3.Error as error:
            raise Misuse(
                f"the spill file {path} cannot be opened: {error}",
                hint="a path in a folder that exists and may be written to",
            ) from None
        try:
            self._prepare()
        except sqlite3.OperationalError as error:
            self._database.close()
            raise Misuse(
                f"the spill file {path} cannot be used: {error}",
                hint="does another process have it? each needs one of its own",
            ) from None
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise CorruptFile(f"no spill file: {error}", path=path) from None

    def _prepare(self) -> None:
        run = self._database.execute
        run("PRAGMA locking_mode=EXCLUSIVE")
        run("PRAGMA journal_mode=WAL")
        run("PRAGMA synchronous=FULL")
        (version,) = run("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(f"its version is {version}, not {VERSION}")
        run("BEGIN EXCLUSIVE")
        run(_LAYOUT)
        run(f"PRAGMA user_version={VERSION}")
        run("COMMIT")

    def add(self, messages: Sequence[Kept]) -> list[int]:
        """Store messages, all or none; returns their ids. OSError: the disk does not take them."""
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                ids = [self._insert(message) for message in messages]
                self._database.execute("COMMIT")
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise OSError(f"{self._path}: {error}") from error
        return ids

    def _insert(self, message: Kept) -> int:
        cursor = self._database.execute(
            "INSERT INTO waiting (topic, body, properties, sys_flag, order_by, producer_group,"
            " kept_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
            message,
        )
        return int(cursor.lastrowid or 0)

    def first(self, count: int) -> list[tuple[int, Kept]]:
        """The oldest messages that no broker has refused, with their ids."""
        rows = self._database.execute(
            "SELECT id, topic, body, properties, sys_flag, order_by, producer_group, kept_ms"
            " FROM waiting WHERE refused IS NULL ORDER BY id LIMIT ?",
            (count,),
        )
        return [(row[0], Kept(*row[1:])) for row in rows]

    def remove(self, ids: Iterable[int]) -> None:
        self._database.executemany("DELETE FROM waiting WHERE id = ?", [(one,) for one in ids])

    def refuse(self, number: int, reason: str) -> None:
        self._database.execute("UPDATE waiting SET refused = ? WHERE id = ?", (reason, number))

    def waiting(self) -> Waiting:
        """Number and size of the messages that no broker has refused."""
        row = self._database.execute(
            "SELECT count(*), coalesce(sum(length(body) + length(properties)), 0)"
            " FROM waiting WHERE refused IS NULL"
        ).fetchone()
        return Waiting(*row)

    def close(self) -> None:
        self._database.close()
