"""One change of one row as a message's body; the format is in `docs/formats/capture.md`.

    {"op": "u", "key": {"id": 7}, "before": {…}, "after": {…},
     "source": {"name", "db", "table", "file", "pos", "row", "seq", "ts_ms", "snapshot", "schema"},
     "transaction": {"id": "0-1-42", "order": 3} or null, "ts_ms": …}

    c created   u updated   d deleted   r read by a snapshot   t all rows gone, and no key

An update that changes the key is a deletion of the old one and a creation of the new one: each has
its own place in the order of its own row.
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from aerobee.pipeline.capture.column_values import JsonValue, Row
from aerobee.pipeline.capture.position import Position, sequence
from aerobee.pipeline.capture.row_key import key_row, key_text
from aerobee.pipeline.capture.table_schema import TableName, TableSchema

# Made once: json.dumps would make one for each row.
_json = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), check_circular=False, allow_nan=False
).encode


class Op(StrEnum):
    CREATE = "c"
    UPDATE = "u"
    DELETE = "d"
    READ = "r"
    TRUNCATE = "t"


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of changes; one object for all rows of an event."""

    position: Position
    ts_ms: int
    is_snapshot: bool = False
    transaction: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """E1. `key` is the text that decides the change's queue; all changes of a row have the same."""

    op: Op
    table: TableName
    version: str
    key: str
    key_row: Row | None
    before: Row | None
    after: Row | None
    row: int = 0
    order: int = 0


def changes_of(
    schema: TableSchema, before: Row | None, after: Row | None
) -> list[tuple[Op, str, Row | None, Row | None, Row | None]]:
    """Return the changes of a row, one or two: op, key, key's columns, before, after."""
    columns, whole = schema.key, str(schema.name)

    def key(row: Row) -> tuple[str, Row | None]:
        # Rows without a key cannot be told apart: all of a table stay in one order.
        return (key_text(row, columns), key_row(row, columns)) if columns else (whole, None)

    if before is not None and after is not None:
        old, new = key(before), key(after)
        if old[0] == new[0]:
            return [(Op.UPDATE, *new, before, after)]
        return [(Op.DELETE, *old, before, None), (Op.CREATE, *new, None, after)]
    if before is not None:
        return [(Op.DELETE, *key(before), before, None)]
    assert after is not None
    return [(Op.CREATE, *key(after), None, after)]


def encode(change: Change, origin: Origin, name: str, epoch: int, now_ms: int) -> bytes:
    said = {
        "op": change.op,
        "key": change.key_row,
        "before": change.before,
        "after": change.after,
        "source": {
            "name": name,
            "db": change.table.schema,
            "table": change.table.table,
            "file": origin.position.file,
            "pos": origin.position.offset,
            "row": change.row,
            "seq": sequence(epoch, origin.position, change.row),
            "ts_ms": origin.ts_ms,
            "snapshot": origin.is_snapshot,
            "schema": change.version,
        },
        "transaction": (
            {"id": origin.transaction, "order": change.order} if origin.transaction else None
        ),
        "ts_ms": now_ms,
    }
    return _json(said).encode()


@dataclass(frozen=True, slots=True)
class Envelope:
    """A change, parsed from a message's body."""

    op: Op
    table: TableName
    key: dict[str, JsonValue] | None
    before: dict[str, JsonValue] | None
    after: dict[str, JsonValue] | None
    sequence: str
    transaction: tuple[str, int] | None
    source: dict[str, Any]

    @classmethod
    def decode(cls, body: bytes) -> Self:
        said = json.loads(body)
        source, transaction = said["source"], said["transaction"]
        return cls(
            Op(said["op"]),
            TableName(source["db"], source["table"]),
            said["key"],
            said["before"],
            said["after"],
            source["seq"],
            (transaction["id"], transaction["order"]) if transaction else None,
            source,
        )
