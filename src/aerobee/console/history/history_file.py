"""HistoryFile: chunks of series in one SQLite file, bounded by the age of chunks.

    series (id, name, used)          used: the start of its newest chunk, in ms
    chunk  (step, series, start) → values

Called on one worker thread, never on the event loop. A file that cannot be read is set aside and
begun anew: history is for looking at, and must not keep a console from starting.
"""

import contextlib
import logging
import os
import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from math import isnan
from typing import NamedTuple

from aerobee.console.history.steps import STEPS, Step

_log = logging.getLogger(__name__)

_SCHEMA = """
create table if not exists series (id integer primary key, name text unique, used integer);
create table if not exists chunk (
    step integer, series integer, start integer, chunk_values blob,
    primary key (step, series, start)
) without rowid;
"""
_CACHE_KIB = 512


class StoredChunk(NamedTuple):
    step_ms: int
    name: str
    start: int
    values: bytes


class HistoryFile:
    def __init__(self, path: str) -> None:
        self._path = path
        self._database: sqlite3.Connection | None = None
        self._ids: dict[str, int] = {}

    def open(self) -> None:
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            _log.warning("the history is begun anew", extra={"error": str(error)})
            self.close()
            with contextlib.suppress(FileNotFoundError):
                os.replace(self._path, f"{self._path}.unreadable")
            self._open()

    def _open(self) -> None:
        # One worker thread uses it, and not the one that made it.
        database = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        self._database = database
        if self._path != ":memory:":
            os.chmod(self._path, 0o600)
        database.execute(f"pragma cache_size = -{_CACHE_KIB}")
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = normal")
        database.execute("pragma journal_size_limit = 4194304")
        database.executescript(_SCHEMA)
        self._ids = dict(database.execute("select name, id from series"))

    def write(self, chunks: Iterable[StoredChunk]) -> None:
        """Write chunks, new or longer than before, in one transaction."""
        database = self._opened()
        database.execute("begin")
        try:
            for chunk in chunks:
                key = (chunk.step_ms, self._id(chunk.name), chunk.start)
                database.execute(
                    "insert or replace into chunk values (?, ?, ?, ?)",
                    (*key, self._with_stored(key, chunk.values)),
                )
                database.execute(
                    "update series set used = max(used, ?) where id = ?",
                    (chunk.start, self._ids[chunk.name]),
                )
        except BaseException:
            database.execute("rollback")
            raise
        database.execute("commit")

    def read(self, step: Step, names: Sequence[str], start: int, end: int) -> list[StoredChunk]:
        """Return the chunks that have something of a span of time."""
        found = []
        for name in names:
            number = self._ids.get(name)
            if number is None:
                continue
            rows = self._opened().execute(
                "select start, chunk_values from chunk"
                " where step = ? and series = ? and start >= ? and start < ? order by start",
                (step.ms, number, step.chunk_start(start), end),
            )
            found += [StoredChunk(step.ms, name, at, values) for at, values in rows]
        return found

    def forget(self, now_ms: int) -> None:
        """Delete chunks that are too old, and series that have none."""
        database = self._opened()
        for step in STEPS:
            oldest = now_ms - step.kept_ms - step.chunk_ms
            database.execute("delete from chunk where step = ? and start < ?", (step.ms, oldest))
        longest = max(step.kept_ms + step.chunk_ms for step in STEPS)
        gone = database.execute("delete from series where used < ?", (now_ms - longest,))
        if gone.rowcount:
            self._ids = dict(database.execute("select name, id from series"))

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _with_stored(self, key: tuple[int, int, int], values: bytes) -> bytes:
        """Fill gaps with the values of the file: a process before this one may have begun it."""
        row = (
            self._opened()
            .execute(
                "select chunk_values from chunk where step = ? and series = ? and start = ?", key
            )
            .fetchone()
        )
        if row is None:
            return values
        pairs = zip(array("f", values), array("f", row[0]), strict=True)
        return array("f", [old if isnan(new) else new for new, old in pairs]).tobytes()

    def _id(self, name: str) -> int:
        number = self._ids.get(name)
        if number is None:
            made = self._opened().execute("insert into series (name, used) values (?, 0)", (name,))
            number = self._ids[name] = int(made.lastrowid or 0)
        return number

    def _opened(self) -> sqlite3.Connection:
        assert self._database is not None, "open() comes first"
        return self._database
