"""Changes applied by key: the last one wins."""

import pytest

from aerobee.pipeline.capture.envelope import Envelope, Op
from aerobee.pipeline.capture.replica import Replica, ReplicaRow
from aerobee.pipeline.capture.table_schema import TableName

_NAME = TableName("shop", "orders")


def _change(op: Op, sequence: str, key: int | None, after: ReplicaRow | None = None) -> Envelope:
    named: ReplicaRow | None = None if key is None else {"id": key}
    return Envelope(op, _NAME, named, None, after, sequence, None, {})


def test_the_last_change_wins_in_whatever_order_they_come() -> None:
    replica = Replica()
    assert replica.apply(_change(Op.UPDATE, "2", 1, {"id": 1, "v": "new"}))
    assert not replica.apply(_change(Op.CREATE, "1", 1, {"id": 1, "v": "old"}))
    assert not replica.apply(_change(Op.UPDATE, "2", 1, {"id": 1, "v": "new"}))
    assert replica.rows(_NAME) == [{"id": 1, "v": "new"}]


def test_an_older_change_does_not_bring_back_what_was_deleted() -> None:
    replica = Replica()
    replica.apply(_change(Op.DELETE, "2", 1))
    assert not replica.apply(_change(Op.CREATE, "1", 1, {"id": 1}))
    assert replica.rows(_NAME) == []


def test_an_emptied_table_keeps_what_came_after() -> None:
    replica = Replica()
    replica.apply(_change(Op.CREATE, "1", 1, {"id": 1}))
    replica.apply(_change(Op.CREATE, "3", 2, {"id": 2}))
    assert replica.apply(_change(Op.TRUNCATE, "2", None))
    assert not replica.apply(_change(Op.TRUNCATE, "2", None))
    assert not replica.apply(_change(Op.UPDATE, "1", 3, {"id": 3}))
    assert replica.rows(_NAME) == [{"id": 2}]


def test_rows_without_a_key_cannot_be_applied() -> None:
    with pytest.raises(ValueError, match="no key"):
        Replica().apply(_change(Op.CREATE, "1", None, {"v": 1}))
