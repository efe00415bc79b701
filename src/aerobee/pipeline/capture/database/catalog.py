"""Queries of information_schema: the captured tables, for a snapshot, and types that the log omits.

A row of the log is described by the log itself. The log does not tell a UUID or an IP address from
other bytes; those columns are looked up here.
"""

from typing import Any

from aerobee.pipeline.capture.database.server import query
from aerobee.pipeline.capture.errors import Unfit
from aerobee.pipeline.capture.table_schema import (
    Column,
    Kind,
    TableName,
    TableSchema,
    column_of_description,
    kind_of_name,
)
from aerobee.pipeline.capture.tables import TablePatterns, matching

_TABLES = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = %s"
_COLUMNS = (
    "SELECT column_name, data_type, column_type FROM information_schema.columns"
    " WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"
)
_KEY = (
    "SELECT column_name FROM information_schema.statistics WHERE table_schema = %s"
    " AND table_name = %s AND index_name = 'PRIMARY' ORDER BY seq_in_index"
)
_CASCADES = (
    "SELECT DISTINCT constraint_schema, table_name FROM information_schema.referential_constraints"
    " WHERE delete_rule IN %s OR update_rule IN %s"
)
_CASCADING = ("CASCADE", "SET NULL", "SET DEFAULT")
_IN_DISGUISE = (Kind.UUID, Kind.INET)


def captured_tables(connection: Any, patterns: TablePatterns) -> list[TableSchema]:
    """Return the chosen tables that exist, ordered by name. Unfit: a column cannot be captured."""
    names = [
        TableName(str(schema), str(table))
        for schema, table in query(connection, _TABLES, "BASE TABLE")
    ]
    return [describe(connection, name) for name in matching(patterns, names)]


def cascading_tables(connection: Any, patterns: TablePatterns) -> list[TableName]:
    """Return tables whose rows change by a foreign key's cascade, which servers do not log."""
    found = query(connection, _CASCADES, _CASCADING, _CASCADING)
    return matching(patterns, [TableName(str(schema), str(table)) for schema, table in found])


def describe(connection: Any, name: TableName) -> TableSchema:
    columns: list[Column] = []
    for column_name, data_type, column_type in query(connection, _COLUMNS, *name):
        column = column_of_description(str(column_name), str(data_type), str(column_type))
        if column is None:
            raise Unfit(
                f"{name}.{column_name} is a {data_type}, which is not known here",
                hint=f"leave the table out: --tables '…,!{name}'",
            )
        columns.append(column)
    key = tuple(str(row[0]) for row in query(connection, _KEY, *name))
    return TableSchema(name, tuple(columns), key)


def disguised_columns(connection: Any, name: TableName) -> dict[str, Kind]:
    """Return columns whose values the log has as bytes, with their kinds."""
    found = {
        str(column): kind_of_name(str(data_type))
        for column, data_type, _ in query(connection, _COLUMNS, *name)
    }
    return {column: kind for column, kind in found.items() if kind in _IN_DISGUISE}
