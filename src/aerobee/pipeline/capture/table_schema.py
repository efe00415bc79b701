"""TableSchema describes a table: its columns, the kinds of their values, and its key.

A schema has a version, a digest of its contents: the same columns have the same version in a
snapshot and in the binary log, today and when an old part of the log is read again. Every envelope
names the version of its row, and every version is announced before the first row that has it
(`docs/formats/capture.md`).
"""

import hashlib
import json
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

VERSION_DIGITS = 12


class Kind(Enum):
    """The kind of a column's values; decides how they are written."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    DOUBLE = "double"
    DATE = "date"
    DATETIME = "datetime"
    TIMESTAMP = "timestamp"
    TIME = "time"
    YEAR = "year"
    BIT = "bit"
    ENUM = "enum"
    SET = "set"
    TEXT = "text"
    BINARY = "binary"
    JSON = "json"
    GEOMETRY = "geometry"
    UUID = "uuid"
    INET = "inet"


class TableName(NamedTuple):
    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind
    is_unsigned: bool = False
    length: int = 0
    """Of bytes that all values have; 0 where they may differ."""
    labels: tuple[str, ...] = ()
    """What a set's or an enumeration's values are made of."""


@dataclass(frozen=True, slots=True)
class TableSchema:
    """T1. The key's columns are columns of the table, in the order of the key; a table may have
    none."""

    name: TableName
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def version(self) -> str:
        said = [[column.name, column.kind.value, column.is_unsigned] for column in self.columns]
        text = json.dumps([*self.name, said, self.key], ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:VERSION_DIGITS]

    def announcement(self, file: str, position: int, now_ms: int) -> bytes:
        """The schema as a message for programs that read its rows."""
        columns = [
            {
                "name": column.name,
                "kind": column.kind.value,
                **({"unsigned": True} if column.is_unsigned else {}),
                **({"labels": column.labels} if column.labels else {}),
            }
            for column in self.columns
        ]
        said = {
            "version": self.version,
            "db": self.name.schema,
            "table": self.name.table,
            "columns": columns,
            "key": self.key,
            "source": {"file": file, "pos": position},
            "ts_ms": now_ms,
        }
        return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()


# The binary log's numbers of types.
_LOG_KINDS = {
    **dict.fromkeys((1, 2, 3, 8, 9), Kind.INTEGER),
    4: Kind.FLOAT,
    5: Kind.DOUBLE,
    **dict.fromkeys((7, 17), Kind.TIMESTAMP),
    **dict.fromkeys((10, 14), Kind.DATE),
    **dict.fromkeys((11, 19), Kind.TIME),
    **dict.fromkeys((12, 18), Kind.DATETIME),
    13: Kind.YEAR,
    16: Kind.BIT,
    245: Kind.JSON,
    **dict.fromkeys((0, 246), Kind.DECIMAL),
    247: Kind.ENUM,
    248: Kind.SET,
    255: Kind.GEOMETRY,
}
_LOG_CHARACTERS = frozenset({15, 249, 250, 251, 252, 253, 254})
_LOG_FIXED = 254

# The names that information_schema has for them.
_NAMED_KINDS = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "bigint"), Kind.INTEGER),
    **dict.fromkeys(("char", "varchar", "tinytext", "text", "mediumtext", "longtext"), Kind.TEXT),
    **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob"), Kind.BINARY),
    **dict.fromkeys(("binary", "varbinary"), Kind.BINARY),
    **dict.fromkeys(("point", "linestring", "polygon", "multipoint"), Kind.GEOMETRY),
    **dict.fromkeys(("multilinestring", "multipolygon", "geometrycollection"), Kind.GEOMETRY),
    **dict.fromkeys(("geomcollection", "geometry"), Kind.GEOMETRY),
    **dict.fromkeys(("inet4", "inet6"), Kind.INET),
    **{
        kind.value: kind
        for kind in (
            *(Kind.DECIMAL, Kind.FLOAT, Kind.DOUBLE, Kind.DATE, Kind.DATETIME, Kind.TIMESTAMP),
            *(Kind.TIME, Kind.YEAR, Kind.BIT, Kind.ENUM, Kind.SET, Kind.JSON, Kind.UUID),
        )
    },
}


def kind_of_log(number: int, is_binary: bool) -> Kind | None:
    """Return the kind of a type in the binary log, whose characters may be bytes. None: unknown."""
    if number in _LOG_CHARACTERS:
        return Kind.BINARY if is_binary else Kind.TEXT
    return _LOG_KINDS.get(number)


def is_fixed_in_log(number: int) -> bool:
    """Whether all values of a type have as many bytes as the column."""
    return number == _LOG_FIXED


def kind_of_name(data_type: str) -> Kind | None:
    """Return the kind of a type by its name in information_schema. None: unknown."""
    return _NAMED_KINDS.get(data_type.lower())


def column_of_description(name: str, data_type: str, column_type: str) -> Column | None:
    """Return a column as information_schema describes it. None: its type is unknown.

    Labels and lengths are not kept: values of a query do not need them.
    """
    kind = kind_of_name(data_type)
    if kind is None:
        return None
    is_unsigned = "unsigned" in column_type.lower() and kind is not Kind.YEAR
    return Column(name, kind, is_unsigned)
