from typing import NamedTuple

import pytest

from aerobee.console.api.listing import LIST, Row, page_of, page_of_entries
from aerobee.console.http.action import Ask
from aerobee.console.http.parameters import read_all
from aerobee.console.http.problem import Problem
from aerobee.console.session.visitor import Visitor

ROWS: list[Row] = [
    {"name": "orders", "lag": 5},
    {"name": "Payments", "lag": None},
    {"name": "reorders", "lag": 50},
]


def _page(**query: str) -> dict[str, object]:
    return page_of(Ask(read_all(LIST, {}, query, {}), Visitor("")), ROWS, at=7)


class Entry(NamedTuple):
    name: str
    lag: int | None


ENTRIES = [Entry(row["name"], row["lag"]) for row in ROWS]


@pytest.mark.parametrize("sort", ["", "-lag", "lag", "name", "-name"])
@pytest.mark.parametrize("query", [{}, {"q": "ORD"}, {"limit": "1"}, {"q": "o", "offset": "1"}])
def test_pages_of_entries_are_those_of_their_rows(sort: str, query: dict[str, str]) -> None:
    asked = Ask(read_all(LIST, {}, {**query, "sort": sort}, {}), Visitor(""))
    made: list[Entry] = []

    def row(entry: Entry) -> Row:
        made.append(entry)
        return entry._asdict()

    in_order = sorted(ENTRIES)
    page = page_of_entries(asked, in_order, row, at=7)
    assert page == page_of(asked, [one._asdict() for one in in_order], at=7)
    if "lag" not in sort:
        assert len(made) == len(page["rows"])


def test_rows_are_searched_sorted_and_cut() -> None:
    page = _page(q="ORD", sort="-lag", limit="1")
    assert page["rows"] == [ROWS[2]]
    assert (page["total"], page["found"], page["at"]) == (3, 2, 7)
    assert _page(q="ord", sort="-lag", offset="1")["rows"] == [ROWS[0]]


def test_rows_without_a_value_come_last_in_both_directions() -> None:
    assert [row["name"] for row in _page(sort="lag")["rows"]] == [  # type: ignore[attr-defined]
        "orders",
        "reorders",
        "Payments",
    ]
    assert _page(sort="-lag")["rows"] == [ROWS[2], ROWS[0], ROWS[1]]


def test_a_column_that_is_not_there_is_told() -> None:
    with pytest.raises(Problem, match="no column 'size'"):
        _page(sort="size")
