"""Reader of the binary log: returns whole rows with their schema, emptied tables, transaction ends.

    GTID or BEGIN ─▶ table map ─▶ rows … ─▶ Xid or COMMIT
                                              └ a position that is safe to begin at again

L1. Every event of a captured table becomes rows, or the reading ends with an error: an event that
    cannot be understood is never skipped.
L2. A row is described by the table map that precedes it in the log, so it has the columns that the
    table had then, not those that it has now.
"""

import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from aerobee.pipeline.capture.column_values import JsonValue, Row, from_log
from aerobee.pipeline.capture.database.binlog_library import UNREAD_ROWS, label_text, open_stream
from aerobee.pipeline.capture.database.ddl import Meaning, named_tables, read_statement
from aerobee.pipeline.capture.database.server import ServerAddress, explained
from aerobee.pipeline.capture.envelope import Origin
from aerobee.pipeline.capture.errors import Unreadable
from aerobee.pipeline.capture.position import Position
from aerobee.pipeline.capture.table_schema import (
    Column,
    Kind,
    TableName,
    TableSchema,
    is_fixed_in_log,
    kind_of_log,
)
from aerobee.pipeline.capture.tables import TablePatterns

_STANDALONE = 1  # of a MariaDB's GTID: one statement, which ends itself
_ALTERING = (Meaning.ALTERED, Meaning.LOST)
_EMPTY_SET = "empty set"
_NOT_LOGGED = "cols bitmap"

# What the library says of bytes that it did not expect.
_NOT_UNDERSTOOD = (ValueError, LookupError, TypeError, AttributeError, struct.error, RuntimeError)

Disguises = Callable[[TableName], dict[str, Kind]]


class RowsChanged(NamedTuple):
    schema: TableSchema
    version: str
    origin: Origin
    rows: list[tuple[Row | None, Row | None]]
    """Before and after."""


class Emptied(NamedTuple):
    table: TableName | None
    schema: str
    """Of all tables, where `table` is None."""
    origin: Origin


class Boundary(NamedTuple):
    """The end of a transaction: a position that a capture can start again from."""

    position: Position
    ts_ms: int
    transaction: str


class Altered(NamedTuple):
    """A table was altered: later rows may have other columns, and existing rows may have
    changed."""

    table: TableName
    has_lost_rows: bool
    origin: Origin


class Noted(NamedTuple):
    """A warning for the operator."""

    text: str


LogItem = RowsChanged | Emptied | Altered | Boundary | Noted


@dataclass(slots=True)
class LogBatch:
    items: list[LogItem]
    is_idle: bool = False
    """Nothing more is there for now."""
    is_end: bool = False
    """Nothing more will come."""


class BinlogReader:
    """Reads the log once, from a position on. Its calls block: make them on a thread."""

    def __init__(
        self,
        address: ServerAddress,
        patterns: TablePatterns,
        start: Position,
        *,
        server_id: int,
        heartbeat_seconds: float | None,
        disguises: Disguises,
    ) -> None:
        self._address = address
        self._patterns = patterns
        self._stream = open_stream(address, start, server_id, heartbeat_seconds)
        self._disguises = disguises
        self._schemas: dict[int, TableSchema | None] = {}
        self._known: dict[tuple[object, ...], tuple[TableSchema, str]] = {}
        self._versions: dict[TableSchema, str] = {}
        self._transaction = ""
        self._is_inside = False

    def close(self) -> None:
        self._stream.close()

    def read(self, rows_max: int, seconds_max: float) -> LogBatch:
        """Return the next items, up to so many rows; returns as soon as there is nothing more for
        now."""
        batch = LogBatch([])
        until = time.monotonic() + seconds_max
        rows = 0
        with explained(self._address):
            while rows < rows_max and time.monotonic() < until:
                event = self._stream.fetchone()
                if event is None:
                    batch.is_end = True
                    return batch
                kind = type(event).__name__
                if kind == "HeartbeatLogEvent":
                    batch.is_idle = True
                    return batch
                for item in self._understood(kind, event):
                    batch.items.append(item)
                    rows += len(item.rows) if isinstance(item, RowsChanged) else 0
        return batch

    def _understood(self, kind: str, event: Any) -> list[LogItem]:
        try:
            return list(self._items(kind, event))
        except _NOT_UNDERSTOOD as error:
            name = f"{getattr(event, 'schema', '')}.{getattr(event, 'table', '')}"
            raise self._unreadable(
                f"a {kind} of {name} that is not understood ({error!r})",
                "leave the table out with --tables '…,!SCHEMA.TABLE', and report it",
            ) from error

    def _items(self, kind: str, event: Any) -> Iterator[LogItem]:
        match kind:
            case "TableMapEvent":
                self._schemas[event.table_id] = self._schema(event)
            case "WriteRowsEvent" | "UpdateRowsEvent" | "DeleteRowsEvent":
                schema = self._schemas.get(event.table_id)
                if schema is not None:
                    yield self._rows(schema, event)
            case "MariadbGtidEvent":
                self._transaction = event.gtid
                self._is_inside = not event.flags & _STANDALONE
            case "GtidEvent":
                self._transaction = event.gtid
            case "XidEvent" | "XAPrepareEvent":
                yield self._end(event)
            case "QueryEvent":
                yield from self._statement(event)
            case "RotateEvent":
                if not self._is_inside and event.timestamp:
                    position = Position(event.next_binlog, event.position)
                    yield Boundary(position, event.timestamp * 1000, "")
            case "PartialUpdateRowsEvent":
                if self._patterns.has(TableName(event.schema, event.table)):
                    raise self._unreadable(
                        "a change of a part of a JSON column",
                        "SET GLOBAL binlog_row_value_options = ''",
                    )
            case "NotImplementedEvent":
                if event.event_type in UNREAD_ROWS:
                    raise self._unreadable(
                        "compressed rows",
                        "set log_bin_compress or binlog_transaction_compression to OFF",
                    )

    # Statements and transactions.

    def _position(self, event: Any) -> Position:
        return Position(self._stream.log_file, event.packet.log_pos)

    def _origin(self, event: Any) -> Origin:
        return Origin(self._position(event), event.timestamp * 1000, transaction=self._transaction)

    def _end(self, event: Any) -> Boundary:
        self._is_inside = False
        ended, self._transaction = self._transaction, ""
        return Boundary(self._position(event), event.timestamp * 1000, ended)

    def _statement(self, event: Any) -> Iterator[LogItem]:
        schema = event.schema.decode("utf-8", "replace")
        found = read_statement(event.query, schema)
        if found.meaning is Meaning.BEGIN:
            self._is_inside = True
            self._transaction = self._transaction or str(self._position(event))
            return
        if found.meaning is Meaning.END:
            yield self._end(event)
            return
        if found.meaning is Meaning.ROWS and self._is_captured(event.query, schema):
            raise self._unreadable(
                f"a statement instead of rows: {event.query[:80]}",
                "a session has binlog_format STATEMENT or MIXED: make it ROW",
            )
        if found.meaning is Meaning.EMPTIED:
            if found.schema:
                yield Emptied(None, found.schema, self._origin(event))
            for table in found.tables:
                if self._patterns.has(table):
                    yield Emptied(table, "", self._origin(event))
        elif found.meaning is Meaning.RENAMED:
            yield Noted(
                f"tables were renamed: {event.query[:120]}; rows that a table brought along are"
                " not in the log: a new snapshot has them (--snapshot always)"
            )
        elif found.meaning in _ALTERING and self._patterns.has(found.tables[0]):
            has_lost_rows = found.meaning is Meaning.LOST
            yield Altered(found.tables[0], has_lost_rows, self._origin(event))
        if not self._is_inside:
            yield self._end(event)

    def _is_captured(self, text: str, schema: str) -> bool:
        """Whether a statement may concern a captured table; True if that cannot be told."""
        return any(map(self._patterns.has, named_tables(text, schema)))

    def _unreadable(self, what: str, hint: str) -> Unreadable:
        place = f"{self._stream.log_file}:{self._stream.log_pos}"
        return Unreadable(f"{self._address}: the log has {what} before {place}", hint=hint)

    # Rows.

    def _schema(self, event: Any) -> TableSchema | None:
        """The schema of the rows that follow; None: they are not captured."""
        name = TableName(event.schema, event.table)
        if not self._patterns.has(name):
            return None
        said = event.optional_metadata
        look = (
            name.schema,
            name.table,
            tuple((c.name, c.type, c.unsigned, c.character_set_name) for c in event.columns),
            tuple(said.simple_primary_key_list or said.primary_keys_with_prefix),
            repr((said.set_str_value_list, said.set_enum_str_value_list)),
        )
        known = self._known.get(look)
        if known is None:
            schema = self._described(name, event)
            known = self._known[look] = (schema, schema.version)
            self._versions[schema] = known[1]
        return known[0]

    def _described(self, name: TableName, event: Any) -> TableSchema:
        disguised = self._disguises(name)
        columns = []
        for column in event.columns:
            is_binary = column.character_set_name == "binary"
            kind = kind_of_log(column.type, is_binary)
            if column.name is None or kind is None:
                raise self._unreadable(
                    f"a column of {name} without a name"
                    if column.name is None
                    else f"{name}.{column.name} with the type {column.type}",
                    "SET GLOBAL binlog_row_metadata = FULL, then --snapshot always"
                    if column.name is None
                    else f"leave the table out: --tables '…,!{name}'",
                )
            if kind is Kind.BINARY:
                kind = disguised.get(column.name, kind)
            is_fixed = is_fixed_in_log(column.type) and is_binary
            labels = column.set_values or (column.enum_values or [""])[1:]
            columns.append(
                Column(
                    column.name,
                    kind,
                    bool(column.unsigned),
                    column.max_length if is_fixed else 0,
                    tuple(label_text(label, column.character_set_name) for label in labels),
                )
            )
        said = event.optional_metadata
        places = said.simple_primary_key_list or list(said.primary_keys_with_prefix)
        return TableSchema(name, tuple(columns), tuple(columns[at].name for at in places))

    def _rows(self, schema: TableSchema, event: Any) -> RowsChanged:
        name = type(event).__name__
        rows: list[tuple[Row | None, Row | None]] = []
        for row in event.rows:
            if name == "UpdateRowsEvent":
                before = self._row(schema, event, row, "before_")
                rows.append((before, self._row(schema, event, row, "after_")))
            elif name == "WriteRowsEvent":
                rows.append((None, self._row(schema, event, row, "")))
            else:
                rows.append((self._row(schema, event, row, ""), None))
        return RowsChanged(schema, self._versions[schema], self._origin(event), rows)

    def _row(self, schema: TableSchema, event: Any, row: Any, which: str) -> dict[str, JsonValue]:
        values, absent = row[f"{which}values"], row[f"{which}none_sources"]
        found: dict[str, JsonValue] = {}
        for at, column in enumerate(schema.columns):
            value = values[column.name]
            if value is None:
                why = absent.get(column.name)
                if why == _NOT_LOGGED:
                    raise self._unreadable(
                        f"rows of {schema.name} that are not whole",
                        "a session has binlog_row_image MINIMAL or NOBLOB: make it FULL",
                    )
                found[column.name] = "" if why == _EMPTY_SET else None
                continue
            if column.labels:
                value = _labelled(column, event.columns[at], value)
            found[column.name] = from_log(column, value)
        return found


def _labelled(column: Column, described: Any, value: Any) -> object:
    """Replace the labels of sets and enumerations, which are raw bytes of the log, by text."""
    if column.kind is Kind.SET:
        raw = described.set_values
        return frozenset(column.labels[raw.index(label)] for label in value)
    place = described.enum_values.index(value)
    return column.labels[place - 1] if place else ""
