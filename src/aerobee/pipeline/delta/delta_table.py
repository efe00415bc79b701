"""A Delta table as the copy of another table: changes by key, each batch of a query once.

    one MERGE for each batch, and in the same commit `(query, batch)`, which a replay looks up first
    `_sequence`  of the last change of a row: an older change, come late, does nothing

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
SEQUENCE = "_sequence"


class NoDelta(AerobeeError):
    """The library `deltalake` is not installed."""


def opened(address: str) -> "DeltaTable | None":
    """Open the table at an address; None if there is none."""
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
    """Return the commit properties that record a batch, so that `is_applied` finds it."""
    from deltalake import CommitProperties, Transaction

    return CommitProperties(app_transactions=[Transaction(query, batch)])


class DeltaCopy:
    """A Delta table at one address that changes are applied to."""

    def __init__(self, address: str) -> None:
        self._address = address

    def schema(self) -> "StructType | None":
        """The columns of the source as Spark types, read from the table; None: there is no table
        yet."""
        import json

        from pyspark.sql.types import StructType

        table = opened(self._address)
        if table is None:
            return None
        found = StructType.fromJson(json.loads(table.schema().to_json()))
        return StructType([one for one in found.fields if one.name != SEQUENCE])

    def is_applied(self, query: str, batch: int) -> bool:
        return is_applied(opened(self._address), query, batch)

    def apply(
        self,
        changes: "pa.Table",
        keys: Sequence[str],
        query: str,
        batch: int,
        *,
        emptied: str | None = None,
    ) -> None:
        """Merge rows, at most one of each key, with `_sequence` and `is_gone`. If `emptied` is
        given, rows of the table with an older sequence are deleted."""
        table = self._with_columns_of(changes)
        if is_applied(table, query, batch):
            return
        rows = [name for name in changes.column_names if name != GONE]
        values: dict[str, Any] = {_quoted(name): f"s.{_quoted(name)}" for name in rows}
        on = " AND ".join(f"t.{_quoted(key)} = s.{_quoted(key)}" for key in keys) or "false"
        is_newer = f"s.{SEQUENCE} >= t.{SEQUENCE}"
        merging = (
            table.merge(
                changes,
                on,
                source_alias="s",
                target_alias="t",
                commit_properties=once(query, batch),
            )
            .when_matched_delete(f"s.{GONE} AND {is_newer}")
            .when_matched_update(values, is_newer)
            .when_not_matched_insert(values, f"NOT s.{GONE}")
        )
        if emptied is not None:
            merging = merging.when_not_matched_by_source_delete(f"t.{SEQUENCE} <= '{emptied}'")
        merging.execute()

    def _with_columns_of(self, changes: "pa.Table") -> "DeltaTable":
        """Return the table, created or widened so that it has every column of the changes."""
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
