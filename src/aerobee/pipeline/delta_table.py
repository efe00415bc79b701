"""A Delta table as the copy of another table: changes by key, each batch of a query once.

    one MERGE for each batch, and in the same commit `(query, batch)`, which a replay looks up first

Written by the library `deltalake`, in the driver: no JAR. Two queries may write the same table;
Delta's own order of commits decides between them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aerobee.errors import AerobeeError

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import CommitProperties, DeltaTable
    from pyspark.sql.types import StructType

GONE = "is_gone"


class NoDelta(AerobeeError):
    """The library that writes Delta tables is not there."""


def opened(address: str) -> "DeltaTable | None":
    """The table at an address, if there is one."""
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise NoDelta(
            "deltalake is not installed", hint="pip install 'aerobee[lake]' brings it"
        ) from None
    return DeltaTable(address) if DeltaTable.is_deltatable(address) else None


def is_applied(table: "DeltaTable | None", query: str, batch: int) -> bool:
    """Whether a batch of a query is in the table."""
    last = table.transaction_version(query) if table is not None else None
    return last is not None and last >= batch


def once(query: str, batch: int) -> "CommitProperties":
    """What a commit says so that the next look finds it."""
    from deltalake import CommitProperties, Transaction

    return CommitProperties(app_transactions=[Transaction(query, batch)])


class DeltaCopy:
    """D1. Keys are columns of the table."""

    def __init__(self, address: str, keys: Sequence[str]) -> None:
        self._address = address
        self._keys = tuple(keys)

    def schema(self) -> "StructType | None":
        """The columns of the table in Spark's words: Delta has them from Spark."""
        import json

        from pyspark.sql.types import StructType

        table = opened(self._address)
        if table is None:
            return None
        return StructType.fromJson(json.loads(table.schema().to_json()))

    def is_applied(self, query: str, batch: int) -> bool:
        return is_applied(opened(self._address), query, batch)

    def apply(self, changes: "pa.Table", query: str, batch: int) -> None:
        """Rows by key, with `is_gone`; at most one of each key."""
        table = self._with_columns_of(changes)
        if is_applied(table, query, batch):
            return
        rows = [name for name in changes.column_names if name != GONE]
        values: dict[str, Any] = {_quoted(name): f"s.{_quoted(name)}" for name in rows}
        on = " AND ".join(f"t.{_quoted(key)} = s.{_quoted(key)}" for key in self._keys)
        (
            table.merge(
                changes,
                on,
                source_alias="s",
                target_alias="t",
                commit_properties=once(query, batch),
            )
            .when_matched_delete(f"s.{GONE}")
            .when_matched_update(values)
            .when_not_matched_insert(values, f"NOT s.{GONE}")
            .execute()
        )

    def _with_columns_of(self, changes: "pa.Table") -> "DeltaTable":
        """The table, made or widened so that it has every column of the changes."""
        from deltalake import DeltaTable
        from deltalake.schema import Schema

        wanted = Schema.from_arrow(changes.drop_columns([GONE]).schema)
        table = opened(self._address)
        if table is None:
            return DeltaTable.create(self._address, wanted, mode="ignore")
        there = {one.name for one in table.schema().fields}
        new = [one for one in wanted.fields if one.name not in there]
        if new:
            table.alter.add_columns(new)
        return table


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
