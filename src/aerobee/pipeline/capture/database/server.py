"""The database server: connects to it, checks that it can be captured, translates its errors.

All calls block; a capture makes them on a thread.
"""

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aerobee.errors import Misuse
from aerobee.pipeline.capture.errors import CaptureError, DatabaseGone, PositionLost, Unfit
from aerobee.pipeline.capture.position import Position

CONNECT_SECONDS_MAX = 10
READ_SECONDS_MAX = 60
# Rows could not be told from what the log would hold otherwise. Each with what it must be.
_SETTINGS: Mapping[str, tuple[str, str]] = {
    "log_bin": ("ON", "start the server with log-bin"),
    "binlog_format": ("ROW", "SET GLOBAL binlog_format = ROW, and end old sessions"),
    "binlog_row_image": ("FULL", "SET GLOBAL binlog_row_image = FULL, and end old sessions"),
    "binlog_row_metadata": ("FULL", "SET GLOBAL binlog_row_metadata = FULL"),
    "log_bin_compress": ("OFF", "SET GLOBAL log_bin_compress = OFF"),
    "binlog_transaction_compression": ("OFF", "SET GLOBAL binlog_transaction_compression = OFF"),
    "binlog_row_value_options": ("", "SET GLOBAL binlog_row_value_options = ''"),
}
_NEEDED = ("log_bin", "binlog_format", "binlog_row_image", "binlog_row_metadata")
_RIGHTS = "GRANT SELECT, RELOAD, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO the user"

ACCESS_DENIED = frozenset({1044, 1045, 1142, 1143, 1227, 1370, 1698})
_POSITION_LOST = 1236
_GONE = frozenset({1040, 1053, 1077, 1079, 1158, 1159, 1160, 1161, 1203, 2002, 2003, 2006, 2013})
# A table was altered or another transaction was in the way: a new try reads it as it is now.
_AGAIN = frozenset({1205, 1213, 1412})

Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Host, port, user and password of a database server."""

    host: str = "127.0.0.1"
    port: int = 3306
    user: str = "root"
    password: str = field(default="", repr=False)
    authority: str = ""
    """A file with the certificate of whoever vouches for the server; empty: TLS where the server
    offers it, whoever it is."""

    def settings(self) -> dict[str, Any]:
        sure = {"ssl_ca": self.authority, "ssl_verify_cert": True, "ssl_verify_identity": True}
        return {
            **(sure if self.authority else {}),
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "password": self.password,
            "charset": "utf8mb4",
            "connect_timeout": CONNECT_SECONDS_MAX,
            "read_timeout": READ_SECONDS_MAX,
        }

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ServerFacts:
    version: str
    is_mariadb: bool


def library() -> Any:
    """Return the module PyMySQL. Misuse: it is not installed."""
    try:
        import pymysql
    except ImportError as error:
        raise Misuse(
            "a capture needs PyMySQL and mysql-replication", hint="pip install 'aerobee[capture]'"
        ) from error
    return pymysql


@contextlib.contextmanager
def explained(address: ServerAddress) -> Iterator[None]:
    """Turn errors of PyMySQL into CaptureErrors, with a hint."""
    mysql = library()
    try:
        yield
    except mysql.err.MySQLError as error:
        raise explanation(error, address) from error
    except RuntimeError as error:  # a way to log in that needs a package which is not there
        raise Unfit(
            f"{address}: {error}", hint="pip install cryptography, or switch TLS on in the server"
        ) from error
    except (OSError, EOFError) as error:
        raise DatabaseGone(f"{address}: {error}", hint="is the database up?") from error


def explanation(error: Exception, address: ServerAddress) -> CaptureError:
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    said = str(error.args[1]) if len(error.args) > 1 else str(error)
    if code in ACCESS_DENIED:
        return Unfit(f"{address}: {said}", hint=f"user, password and rights: {_RIGHTS}")
    if code == _POSITION_LOST:
        return PositionLost(
            f"{address}: {said}",
            hint="the log before was purged or reset: start once with --snapshot always",
        )
    if code in _GONE:
        return DatabaseGone(f"{address}: {said}", hint="is the database up, at this address?")
    if code in _AGAIN:
        return DatabaseGone(f"{address}: {said}", hint="it is tried again")
    return CaptureError(f"{address}: {said} ({code})", hint="see the database's own log")


def connect(address: ServerAddress, **more: Any) -> Any:
    """Open a connection with autocommit. CaptureError."""
    mysql = library()
    with explained(address):
        return mysql.connect(**{**address.settings(), "autocommit": True, **more})


def connect_as_told(**settings: Any) -> Any:
    """Open a connection for the reader of the log, which passes a deprecated parameter."""
    if "db" in settings:
        settings["database"] = settings.pop("db")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return library().connect(**settings)


def query(connection: Any, statement: str, *values: object) -> Rows:
    """Run a query and return its rows. A literal % is written twice."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: Rows = cursor.fetchall()
        return rows


def check(address: ServerAddress) -> ServerFacts:
    """Check the server's settings. Unfit: it cannot be captured, with everything that must be
    changed."""
    connection = connect(address)
    try:
        with explained(address):
            version = str(query(connection, "SELECT VERSION()")[0][0])
            names = ", ".join(f"'{name}'" for name in _SETTINGS)
            said = query(connection, f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})")
            settings = {str(name).lower(): str(value) for name, value in said}
            _check_settings(address, version, settings)
            current_position(connection)
    finally:
        connection.close()
    return ServerFacts(version, "mariadb" in version.lower())


def _check_settings(address: ServerAddress, version: str, settings: Mapping[str, str]) -> None:
    if "binlog_row_metadata" not in settings:
        raise Unfit(
            f"{address} is {version}, whose log does not say what columns are called",
            hint="MariaDB 10.5, MySQL 8.0.1 and later can be captured",
        )
    wrong, remedies = [], []
    for name, (wanted, remedy) in _SETTINGS.items():
        value = settings.get(name, "" if name in _NEEDED else wanted)
        if value.upper() not in (wanted, {"ON": "1", "OFF": "0"}.get(wanted, wanted)):
            wrong.append(f"{name} is {value or 'not set'}")
            remedies.append(remedy)
    if wrong:
        raise Unfit(f"{address}: {', '.join(wrong)}", hint="; ".join(remedies))


def current_position(connection: Any) -> Position:
    """Return the end of the log. Unfit: there is no log."""
    mysql = library()
    try:
        rows = query(connection, "SHOW MASTER STATUS")
    except mysql.err.ProgrammingError:  # MySQL 8.4 has another word for it, and only that
        rows = query(connection, "SHOW BINARY LOG STATUS")
    if not rows:
        raise Unfit("the server writes no binary log", hint="start the server with log-bin")
    return Position(str(rows[0][0]), int(rows[0][1]))
