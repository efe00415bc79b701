"""Changes of rows, and the text they become."""

import json

import pytest

from aerobee.pipeline.capture.column_values import JsonValue
from aerobee.pipeline.capture.envelope import Change, Envelope, Op, Origin, changes_of, encode
from aerobee.pipeline.capture.position import Position
from aerobee.pipeline.capture.table_schema import Column, Kind, TableName, TableSchema

_NAME = TableName("shop", "orders")
_COLUMNS = (Column("id", Kind.INTEGER), Column("v", Kind.TEXT))
_KEYED = TableSchema(_NAME, _COLUMNS, ("id",))
_KEYLESS = TableSchema(_NAME, _COLUMNS, ())


def _row(key: int, value: str) -> dict[str, JsonValue]:
    return {"id": key, "v": value}


def test_what_happens_to_a_row_is_one_change() -> None:
    one, two = _row(1, "a"), _row(1, "b")
    assert changes_of(_KEYED, None, one) == [(Op.CREATE, "1", {"id": 1}, None, one)]
    assert changes_of(_KEYED, one, two) == [(Op.UPDATE, "1", {"id": 1}, one, two)]
    assert changes_of(_KEYED, one, None) == [(Op.DELETE, "1", {"id": 1}, one, None)]


def test_a_changed_key_is_a_deletion_and_a_creation() -> None:
    one, two = _row(1, "a"), _row(2, "a")
    assert changes_of(_KEYED, one, two) == [
        (Op.DELETE, "1", {"id": 1}, one, None),
        (Op.CREATE, "2", {"id": 2}, None, two),
    ]


def test_rows_without_a_key_stay_together() -> None:
    one, two = _row(1, "a"), _row(2, "a")
    assert changes_of(_KEYLESS, one, two) == [(Op.UPDATE, "shop.orders", None, one, two)]


def test_an_envelope_says_what_and_where_and_when() -> None:
    origin = Origin(Position("b.000007", 4711), 1_000, transaction="0-1-42")
    after = _row(1, "ü")
    change = Change(Op.CREATE, _NAME, "v1", "1", {"id": 1}, None, after, 2, 3)
    body = encode(change, origin, "main", 1, 1_500)
    assert "ü".encode() in body
    assert json.loads(body) == {
        "op": "c",
        "key": {"id": 1},
        "before": None,
        "after": after,
        "source": {
            "name": "main",
            "db": "shop",
            "table": "orders",
            "file": "b.000007",
            "pos": 4711,
            "row": 2,
            "seq": "0001-0000000007-000000004711-00000002",
            "ts_ms": 1_000,
            "snapshot": False,
            "schema": "v1",
        },
        "transaction": {"id": "0-1-42", "order": 3},
        "ts_ms": 1_500,
    }
    read = Envelope.decode(body)
    assert (read.op, read.table, read.after) == (Op.CREATE, _NAME, after)
    assert read.transaction == ("0-1-42", 3)


def test_a_row_of_a_snapshot_has_no_transaction() -> None:
    origin = Origin(Position("b.000007", 4711), 1_000, is_snapshot=True)
    change = Change(Op.READ, _NAME, "v1", "1", {"id": 1}, None, {"id": 1})
    read = Envelope.decode(encode(change, origin, "main", 1, 1_500))
    assert read.transaction is None
    assert read.source["snapshot"]


def test_an_envelope_never_has_a_number_that_json_does_not_have() -> None:
    origin = Origin(Position("b.000007", 4711), 1_000)
    change = Change(Op.CREATE, _NAME, "v1", "1", {"id": 1}, None, {"id": 1, "x": float("nan")})
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode(change, origin, "main", 1, 1_500)
