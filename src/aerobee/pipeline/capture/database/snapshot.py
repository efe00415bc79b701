"""Snapshot reads every row of the captured tables as of one moment, and that moment's log position.

The moment is the start of a transaction. Other sessions may write meanwhile, except on servers that
cannot tell the position of a transaction (MySQL): there tables are locked while it is asked for.
Tables are read in pieces, in the order of their keys. A snapshot that was interrupted continues
after the last piece, in a new transaction; changes made in between are in the log from the first
moment on, and are sent after these rows.
"""

import base64
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from aerobee.pipeline.capture.column_values import Row, from_query, time_text
from aerobee.pipeline.capture.database.server import (
    ServerAddress,
    connect,
    current_position,
    explained,
    library,
    query,
)
from aerobee.pipeline.capture.position import Position
from aerobee.pipeline.capture.table_schema import Kind, TableSchema

# What a comparison orders otherwise than a sort does, or not exactly.
_UNORDERED = (Kind.ENUM, Kind.SET, Kind.BIT, Kind.FLOAT, Kind.DOUBLE, Kind.JSON, Kind.GEOMETRY)
_BASE64 = "base64"


class Piece(NamedTuple):
    rows: list[Row]
    last_key: list[Any] | None
    """Where the next piece begins behind; None: it cannot be begun in the middle."""


class Snapshot:
    """One snapshot. Its calls block: make them on a thread, one at a time."""

    def __init__(self, address: ServerAddress, *, is_mariadb: bool) -> None:
        self._address = address
        self._is_mariadb = is_mariadb
        self._connection: Any = None

    def begin(self) -> Position:
        """Start the transaction and return its position in the log."""
        self._connection = connect(self._address, read_timeout=3600)
        with explained(self._address):
            query(self._connection, "SET SESSION time_zone = '+00:00', wait_timeout = 86400")
            query(self._connection, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            return self._moment() if self._is_mariadb else self._moment_under_lock()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def pieces(
        self, schema: TableSchema, after: Sequence[Any] | None, rows_max: int
    ) -> Iterator[Piece]:
        """Yield the table's rows after a key. The last piece is short or empty."""
        if not is_ordered(schema):
            yield from self._stream(schema, rows_max)
            return
        key = None if after is None else list(after)
        while True:
            piece = self._piece(schema, key, rows_max)
            yield piece
            key = piece.last_key
            if len(piece.rows) < rows_max:
                return

    def _moment(self) -> Position:
        query(self._connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
        said = query(self._connection, "SHOW STATUS LIKE 'binlog_snapshot_%%'")
        found = {str(name).lower(): value for name, value in said}
        return Position(str(found["binlog_snapshot_file"]), int(found["binlog_snapshot_position"]))

    def _moment_under_lock(self) -> Position:
        lock = connect(self._address)
        try:
            query(lock, "FLUSH TABLES WITH READ LOCK")
            query(self._connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
            return current_position(lock)
        finally:
            lock.close()  # and with it the lock

    def _piece(self, schema: TableSchema, after: list[Any] | None, rows_max: int) -> Piece:
        condition, values = "", list[object]()
        if after is not None:
            condition, values = after_condition(schema.key, [key_value(one) for one in after])
        order = ", ".join(quoted(name) for name in schema.key)
        text = f"{_select(schema)}{condition} ORDER BY {order} LIMIT {rows_max}"
        with explained(self._address):
            found = query(self._connection, text, *values)
        rows = [_row(schema, values_of) for values_of in found]
        if not found:
            return Piece(rows, after)
        places = [[column.name for column in schema.columns].index(name) for name in schema.key]
        return Piece(rows, [stored_key_value(found[-1][place]) for place in places])

    def _stream(self, schema: TableSchema, rows_max: int) -> Iterator[Piece]:
        with explained(self._address):
            cursor = self._connection.cursor(library().cursors.SSCursor)
            cursor.execute(_select(schema), ())
            try:
                while found := cursor.fetchmany(rows_max):
                    yield Piece([_row(schema, values) for values in found], None)
            except GeneratorExit:
                # Closed like others it would read the rest of the table.
                cursor._result.unbuffered_active = False
                cursor.connection = None
                raise
            cursor.close()


def is_ordered(schema: TableSchema) -> bool:
    """Whether a table can be read in pieces, in the order of its key."""
    kinds = {column.name: column.kind for column in schema.columns}
    return bool(schema.key) and all(kinds[name] not in _UNORDERED for name in schema.key)


def after_condition(key: Sequence[str], values: Sequence[object]) -> tuple[str, list[object]]:
    """Return SQL for the rows after a key: (a > 1) OR (a = 1 AND b > 2), which servers find by the
    key's index."""
    terms: list[str] = []
    used: list[object] = []
    for at, name in enumerate(key):
        equal = [f"{quoted(other)} = %s" for other in key[:at]]
        terms.append("(" + " AND ".join([*equal, f"{quoted(name)} > %s"]) + ")")
        used += values[: at + 1]
    return " WHERE " + " OR ".join(terms), used


def quoted(name: str) -> str:
    """Quote a name for SQL; a % is doubled, because the library would take it for a parameter."""
    return "`" + name.replace("`", "``").replace("%", "%%") + "`"


def stored_key_value(value: object) -> Any:
    """Convert a value of a key for the state, which is JSON."""
    match value:
        case bytes():
            return {_BASE64: base64.b64encode(value).decode()}
        case Decimal() | datetime() | date():
            return str(value)
        case timedelta():
            return time_text(value)
    return value


def key_value(stored: Any) -> object:
    """Convert a value of a key in the state for a query."""
    return base64.b64decode(stored[_BASE64]) if isinstance(stored, dict) else stored


def _select(schema: TableSchema) -> str:
    # Servers show six digits of a FLOAT; in a sum with a DOUBLE it keeps all that it has.
    columns = [
        f"{quoted(column.name)} + 0e0" if column.kind is Kind.FLOAT else quoted(column.name)
        for column in schema.columns
    ]
    name = schema.name
    return f"SELECT {', '.join(columns)} FROM {quoted(name.schema)}.{quoted(name.table)}"


def _row(schema: TableSchema, values: Sequence[object]) -> Row:
    return {
        column.name: from_query(column, value)
        for column, value in zip(schema.columns, values, strict=True)
    }
