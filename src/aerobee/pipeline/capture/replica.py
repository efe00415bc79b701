"""Replica applies captured changes to rows in memory, by key, and so rebuilds the tables.

R1. The change with the greatest sequence wins, in whatever order and however often changes come: so
    queues may be read in parallel, and changes that a capture sent again after a crash do no harm.
R2. A deleted row is remembered with its sequence, so that an older change cannot bring it back.
"""

from collections.abc import Iterable

from aerobee.pipeline.capture.column_values import JsonValue
from aerobee.pipeline.capture.envelope import Envelope, Op
from aerobee.pipeline.capture.row_key import key_text
from aerobee.pipeline.capture.table_schema import TableName

ReplicaRow = dict[str, JsonValue]


class Replica:
    """The rows of captured tables."""

    def __init__(self) -> None:
        self._tables: dict[TableName, dict[str, tuple[str, ReplicaRow | None]]] = {}
        self._emptied: dict[TableName, str] = {}

    def apply(self, envelope: Envelope) -> bool:
        """Apply a change; returns whether it changed a row. ValueError: the row has no key."""
        table = self._tables.setdefault(envelope.table, {})
        if envelope.op is Op.TRUNCATE:
            return self._empty(envelope, table)
        if envelope.key is None:
            raise ValueError(f"{envelope.table} has no key: its rows cannot be told apart")
        name = key_text(envelope.key, tuple(envelope.key))
        known = table.get(name, (self._emptied.get(envelope.table, ""), None))[0]
        if envelope.sequence <= known:
            return False
        table[name] = (envelope.sequence, envelope.after)
        return True

    def apply_all(self, bodies: Iterable[bytes]) -> None:
        for body in bodies:
            self.apply(Envelope.decode(body))

    def rows(self, table: TableName) -> list[ReplicaRow]:
        """The rows, ordered by the text of their keys."""
        found = sorted(self._tables.get(table, {}).items())
        return [row for _, (_, row) in found if row is not None]

    def _empty(self, envelope: Envelope, table: dict[str, tuple[str, ReplicaRow | None]]) -> bool:
        if envelope.sequence <= self._emptied.get(envelope.table, ""):
            return False
        self._emptied[envelope.table] = envelope.sequence
        older = [name for name, (seen, _) in table.items() if seen < envelope.sequence]
        for name in older:
            del table[name]
        return True
