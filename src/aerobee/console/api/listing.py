"""Lists of the API: rows that are searched, sorted and cut into pages on the server.

?q=ord&sort=-lag&offset=100&limit=100
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from aerobee.console.http.action import Ask
from aerobee.console.http.parameters import QUERY, Parameter, ValueKind
from aerobee.console.http.problem import bad_request
from aerobee.console.watch.broker_tables import Named

T = TypeVar("T")
E = TypeVar("E", bound=Named)

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
    found = _searched(listed, ask.text("q"), lambda row: str(row[name]))
    ordered = _sorted(found, ask.text("sort"))
    return _page(ask, at, len(listed), len(found), _cut(ask, ordered), unknown or {})


def page_of_entries(
    ask: Ask, entries: Sequence[E], row: Callable[[E], Row], *, at: int
) -> dict[str, Any]:
    """Return the page that a request asks for, of entries in the order of their names. Their rows
    are made where they are shown, or sorted by: making ten thousand takes longer than the rest."""
    found = _searched(entries, ask.text("q"), lambda entry: entry.name)
    by = ask.text("sort")
    if by in ("", "name", "-name"):
        ordered = found[::-1] if by == "-name" else found
        rows: Sequence[Row] = [row(entry) for entry in _cut(ask, ordered)]
    else:
        rows = _cut(ask, _sorted([row(entry) for entry in found], by))
    return _page(ask, at, len(entries), len(found), rows, {})


def _page(
    ask: Ask, at: int, total: int, found: int, rows: Sequence[Row], unknown: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "at": at,
        "total": total,
        "found": found,
        "offset": ask.whole("offset"),
        "rows": rows,
        "unknown": dict(unknown),
    }


def _cut(ask: Ask, rows: Sequence[T]) -> Sequence[T]:
    offset = ask.whole("offset")
    return rows[offset : offset + ask.whole("limit")]


def _searched(rows: Sequence[T], wanted: str, name: Callable[[T], str]) -> Sequence[T]:
    low = wanted.lower()
    return [row for row in rows if low in name(row).lower()] if low else rows


def _sorted(rows: Sequence[Row], by: str) -> Sequence[Row]:
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
