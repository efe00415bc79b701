"""The name of a row: its primary key as text.

    orders (7)               7
    places ("a b", 3)        a%20b|3

Two rows of a table have two names. It has no white space, because a message's keys are separated by
it. Only what must be is escaped: white space, control characters, `|` and `%`.
"""

from collections.abc import Iterable, Sequence

from aerobee.pipeline.capture.column_values import JsonValue, Row

SEPARATOR = "|"


def key_text(row: Row, columns: Sequence[str]) -> str:
    """Return the key of a row as text."""
    if len(columns) == 1:
        return _escaped(row[columns[0]])
    return SEPARATOR.join(_escaped(row[column]) for column in columns)


def key_row(row: Row, columns: Iterable[str]) -> dict[str, JsonValue]:
    """Return the columns of the key only."""
    return {column: row[column] for column in columns}


def _escaped(value: JsonValue) -> str:
    if not isinstance(value, str):
        return repr(value)
    if value.isalnum():
        return value
    return "".join(char if _is_plain(char) else _bytes(char) for char in value)


def _is_plain(char: str) -> bool:
    return char not in "%|" and char.isprintable() and not char.isspace()


def _bytes(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())
