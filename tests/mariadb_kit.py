"""A real MariaDB: the system's, or Debian's packages unpacked under build/ by the first test.

REQUIRE_MARIADB=1  fail where there is none and none can be had; otherwise such tests are skipped,
with a line on the terminal that says so.
"""

import contextlib
import functools
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pymysql
import pytest

from aerobee.pipeline.sandbox.mariadb import MariaDb
from aerobee.pipeline.sandbox.mariadb_program import DatabaseMissing, Program, find_program

CACHE = Path(__file__).parent.parent / "build" / "cache" / "mariadb"


@functools.lru_cache(maxsize=1)
def _found() -> Program | DatabaseMissing:
    try:
        return find_program(CACHE, _say)
    except DatabaseMissing as error:
        _say(f"SKIPPED: every test that needs a MariaDB: {error}")
        return error


def program() -> Program:
    """Skips the test where there is none."""
    found = _found()
    if isinstance(found, Program):
        return found
    if os.environ.get("REQUIRE_MARIADB"):
        raise found
    pytest.skip(str(found))


def _say(line: str) -> None:
    print(line, file=sys.__stderr__, flush=True)


class Database:
    """A server, and words for it."""

    def __init__(self, server: MariaDb) -> None:
        self.server = server

    def run(self, *statements: str) -> None:
        """Each is a transaction of its own, unless one begins with BEGIN."""
        connection = self.connect()
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
            connection.commit()
        finally:
            connection.close()

    def rows(self, statement: str) -> Sequence[tuple[Any, ...]]:
        connection = self.connect()
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall())
        finally:
            connection.close()

    def connect(self, **settings: Any) -> Any:
        at = self.server
        settings = {"user": at.user, "password": at.password, **settings}
        return pymysql.connect(
            host=at.host, port=at.port, charset="utf8mb4", autocommit=True, **settings
        )


@contextlib.contextmanager
def running_database(folder: Path, *options: str) -> Iterator[Database]:
    with MariaDb(folder, program(), *options) as server:
        yield Database(server)
