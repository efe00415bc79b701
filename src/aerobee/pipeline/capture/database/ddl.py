"""Parser of logged SQL statements: finds emptied tables, and rows changed without being logged.

Nothing else is parsed. Columns need no parsing: the binary log describes them with each row.
"""

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from aerobee.pipeline.capture.table_schema import TableName

_COMMENT = re.compile(r"/\*(?!M?!).*?\*/|(?:--[ \t]|#)[^\n]*", re.DOTALL)
_NAME = r"(?:`(?:[^`]|``)+`|[\w$]+)"
_TABLE = rf"{_NAME}(?:\s*\.\s*{_NAME})?"
_TRUNCATE = re.compile(rf"TRUNCATE(?:\s+TABLE)?\s+({_TABLE})", re.IGNORECASE)
_DROP = re.compile(
    rf"DROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?({_TABLE}(?:\s*,\s*{_TABLE})*)", re.IGNORECASE
)
_REPLACE = re.compile(rf"CREATE\s+OR\s+REPLACE\s+TABLE\s+({_TABLE})", re.IGNORECASE)
_DROP_SCHEMA = re.compile(
    rf"DROP\s+(?:DATABASE|SCHEMA)\s+(?:IF\s+EXISTS\s+)?({_NAME})", re.IGNORECASE
)
_RENAME = re.compile(
    rf"RENAME\s+TABLES?\s|ALTER\s+(?:IGNORE\s+)?TABLE\s+{_TABLE}.*\bRENAME\s+(?!COLUMN|INDEX|KEY)",
    re.IGNORECASE | re.DOTALL,
)
_ALTER = re.compile(rf"ALTER\s+(?:ONLINE\s+|IGNORE\s+)*TABLE\s+({_TABLE})", re.IGNORECASE)
_LOSING = re.compile(r"\b(?:DROP|TRUNCATE|EXCHANGE)\s+PARTITION\b", re.IGNORECASE)
_ROWS = re.compile(r"(?:INSERT|UPDATE|DELETE|REPLACE|LOAD)\b", re.IGNORECASE)
_ENDS = frozenset({"COMMIT", "ROLLBACK"})


class Meaning(Enum):
    NOTHING = "nothing"
    BEGIN = "begin"
    END = "end"
    EMPTIED = "emptied"
    """All rows of the tables are gone."""
    RENAMED = "renamed"
    ALTERED = "altered"
    LOST = "lost"
    """Some rows of a table are gone, nobody knows which."""
    ROWS = "rows"
    """Rows were changed, and the log has the statement instead of the rows."""


class Statement(NamedTuple):
    meaning: Meaning
    tables: tuple[TableName, ...] = ()
    schema: str = ""
    """All tables of this schema, where one was dropped."""


def read_statement(text: str, schema: str) -> Statement:
    """Parse a statement; `schema` is the default schema of names without one."""
    words = _COMMENT.sub(" ", text).strip().rstrip(";").strip()
    upper = words[:16].upper()
    if upper == "BEGIN":
        return Statement(Meaning.BEGIN)
    if upper in _ENDS:
        return Statement(Meaning.END)
    if _ROWS.match(words):
        return Statement(Meaning.ROWS)
    found = _TRUNCATE.match(words) or _DROP.match(words) or _REPLACE.match(words)
    if found:
        names = re.findall(_TABLE, found[1])
        return Statement(Meaning.EMPTIED, tuple(_table_name(name, schema) for name in names))
    found = _DROP_SCHEMA.match(words)
    if found:
        return Statement(Meaning.EMPTIED, schema=_unquoted(found[1]))
    if _RENAME.match(words):
        return Statement(Meaning.RENAMED)
    found = _ALTER.match(words)
    if found:
        meaning = Meaning.LOST if _LOSING.search(words) else Meaning.ALTERED
        return Statement(meaning, (_table_name(found[1], schema),))
    return Statement(Meaning.NOTHING)


def named_tables(text: str, schema: str) -> Iterator[TableName]:
    """Return every name, and every pair of names, that may be a table in a statement."""
    for found in re.findall(_TABLE, text):
        yield _table_name(found, schema)


def _table_name(text: str, schema: str) -> TableName:
    names = [_unquoted(name) for name in re.findall(_NAME, text)]
    return TableName(names[0], names[1]) if len(names) == 2 else TableName(schema, names[0])


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
