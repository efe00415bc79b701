from pathlib import Path
from typing import Any

import pyarrow as pa

from aerobee.pipeline.delta.delta_table import GONE, SEQUENCE, DeltaCopy, opened


def changes(*rows: dict[str, Any]) -> Any:
    return pa.Table.from_pylist([{SEQUENCE: "", GONE: False, **row} for row in rows])


def table_at(path: Path) -> list[dict[str, Any]]:
    table = opened(str(path))
    assert table is not None
    rows = table.to_pyarrow_table().drop_columns([SEQUENCE]).to_pylist()
    return sorted(rows, key=lambda row: int(row["id"]))


def test_rows_come_change_and_go_by_key(tmp_path: Path) -> None:
    copy = DeltaCopy(str(tmp_path))
    copy.apply(changes({"id": 1, "city": "Rome"}, {"id": 2, "city": "Oslo"}), ["id"], "q", 0)
    copy.apply(
        changes(
            {"id": 1, "city": "Bern"},
            {"id": 2, "city": None, GONE: True},
            {"id": 3, "city": None},
            {"id": 4, "city": "Kyiv", GONE: True},
        ),
        ["id"],
        "q",
        1,
    )
    assert table_at(tmp_path) == [{"id": 1, "city": "Bern"}, {"id": 3, "city": None}]


def test_a_batch_is_applied_once_and_an_older_one_not_at_all(tmp_path: Path) -> None:
    copy = DeltaCopy(str(tmp_path))
    assert not copy.is_applied("q", 0)
    copy.apply(changes({"id": 1, "city": "Rome"}), ["id"], "q", 4)
    for batch in (4, 3):
        assert copy.is_applied("q", batch)
        copy.apply(changes({"id": 1, "city": "Oslo"}), ["id"], "q", batch)
    assert table_at(tmp_path) == [{"id": 1, "city": "Rome"}]
    copy.apply(changes({"id": 1, "city": "Oslo"}), ["id"], "another", 0)
    assert table_at(tmp_path) == [{"id": 1, "city": "Oslo"}]
    assert not copy.is_applied("q", 5)


def test_a_new_column_is_added_and_a_missing_one_left_alone(tmp_path: Path) -> None:
    copy = DeltaCopy(str(tmp_path))
    copy.apply(changes({"id": 1, "city": "Rome"}), ["id"], "q", 0)
    copy.apply(changes({"id": 1, "is new": True}, {"id": 2, "is new": None}), ["id"], "q", 1)
    assert table_at(tmp_path) == [
        {"id": 1, "city": "Rome", "is new": True},
        {"id": 2, "city": None, "is new": None},
    ]
    schema = copy.schema()
    assert schema is not None
    assert schema.simpleString() == "struct<id:bigint,city:string,is new:boolean>"


def test_a_key_of_two_columns_is_one_key(tmp_path: Path) -> None:
    copy = DeltaCopy(str(tmp_path))
    rows = [{"id": 1, "Line No": 1, "n": 1}, {"id": 1, "Line No": 2, "n": 2}]
    copy.apply(changes(*rows), ["id", "Line No"], "q", 0)
    copy.apply(changes({**rows[1], "n": 3}), ["id", "Line No"], "q", 1)
    found = sorted((row["Line No"], row["n"]) for row in table_at(tmp_path))
    assert found == [(1, 1), (2, 3)]


def test_an_older_change_that_comes_late_does_nothing(tmp_path: Path) -> None:
    copy = DeltaCopy(str(tmp_path))
    copy.apply(changes({"id": 1, "n": 5, SEQUENCE: "5"}), ["id"], "q", 0)
    copy.apply(changes({"id": 1, "n": 3, SEQUENCE: "3"}), ["id"], "q", 1)
    copy.apply(changes({"id": 1, "n": 4, SEQUENCE: "4", GONE: True}), ["id"], "q", 2)
    assert table_at(tmp_path) == [{"id": 1, "n": 5}]
    copy.apply(changes({"id": 1, "n": 5, SEQUENCE: "6", GONE: True}), ["id"], "q", 3)
    assert table_at(tmp_path) == []


def test_an_emptied_table_keeps_what_is_newer(tmp_path: Path) -> None:
    copy = DeltaCopy(str(tmp_path))
    rows = [{"id": number, "n": number, SEQUENCE: f"{number}"} for number in (1, 2, 8)]
    copy.apply(changes(*rows), ["id"], "q", 0)
    copy.apply(changes({"id": 2, "n": 9, SEQUENCE: "9"}), ["id"], "q", 1, emptied="7")
    assert table_at(tmp_path) == [{"id": 2, "n": 9}, {"id": 8, "n": 8}]
    nothing = changes({"id": 1, "n": 1}).slice(0, 0)
    copy.apply(nothing, [], "q", 2, emptied="9")
    assert table_at(tmp_path) == []


def test_where_there_is_no_table_there_is_none(tmp_path: Path) -> None:
    assert opened(str(tmp_path / "nowhere")) is None
    assert DeltaCopy(str(tmp_path / "nowhere")).schema() is None
