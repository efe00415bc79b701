"""Lists of the API: rows that are searched, sorted and cut into pages on the server.

?q=ord&sort=-lag&offset=100&limit=100
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aerobee.console.http.action import Ask
from aerobee.console.http.parameters import QUERY, Parameter, ValueKind
from aerobee.console.http.problem import bad_request

PAGE = 100
PAGE_MAX = 1_000
Row = dict[str, Any]

LIST = (
    Parameter("q", QUERY, "only rows whose name contains this"),
    Parameter("sort", QUERY, "a column; with - before it, the largest first"),
    Parameter("offset", QUERY, "rows to pass over", ValueKind.WHOLE, 0, bounds=(0, 10**9)),
    Parameter("limit", QUERY, "rows at most", ValueKind.WHOLE, PAGE, bounds=(1, PAGE_MAX)),
)


def page_of(
    ask: Ask,
    rows: Iterable[Row],
    *,
    at: int,
    name: str = "name",
    unknown: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the page that a request asks for. `name` is the column that `q` searches."""
    listed = list(rows)
    found = _searched(listed, ask.text("q"), name)
    ordered = _sorted(found, ask.text("sort"))
    offset, limit = ask.whole("offset"), ask.whole("limit")
    return {
        "at": at,
        "total": len(listed),
        "found": len(found),
        "offset": offset,
        "rows": ordered[offset : offset + limit],
        "unknown": dict(unknown or {}),
    }


def _searched(rows: list[Row], wanted: str, name: str) -> list[Row]:
    low = wanted.lower()
    return [row for row in rows if low in str(row[name]).lower()] if low else rows


def _sorted(rows: list[Row], by: str) -> Sequence[Row]:
    """Sort by a column; rows without a value come last, whichever the direction."""
    column = by.removeprefix("-")
    if not column or not rows:
        return rows
    if column not in rows[0]:
        there = ", ".join(rows[0])
        raise bad_request(f"there is no column {column!r}", hint=f"there are: {there}")
    known = [row for row in rows if row[column] is not None]
    empty = [row for row in rows if row[column] is None]
    try:
        known.sort(key=lambda row: row[column], reverse=by.startswith("-"))
    except TypeError:
        raise bad_request(f"rows cannot be sorted by {column}") from None
    return [*known, *empty]
