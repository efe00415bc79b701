"""Delivery turns rows into envelopes, sends them to topics, and saves the state after them.

D1. A version of a schema is announced before the first row that has it.
D2. A state is saved when everything that it covers is stored, and not before.
"""

import time
from dataclasses import replace

from aerobee.pipeline.capture.column_values import Row
from aerobee.pipeline.capture.envelope import Change, Op, Origin, changes_of, encode
from aerobee.pipeline.capture.meter import Meter
from aerobee.pipeline.capture.outlet import Outlet
from aerobee.pipeline.capture.position import CaptureState
from aerobee.pipeline.capture.state_topic import StateTopic
from aerobee.pipeline.capture.table_schema import TableName, TableSchema
from aerobee.pipeline.capture.tables import TopicNames


class Delivery:
    """The messages of one run of a capture; all on its client's event loop."""

    def __init__(
        self,
        outlet: Outlet,
        states: StateTopic,
        state: CaptureState,
        topics: TopicNames,
        meter: Meter,
    ) -> None:
        self.state = state
        self._outlet = outlet
        self._states = states
        self._topics = topics
        self._meter = meter
        self._announced: set[str] = set()
        self._saved_at = 0.0
        self._sent_since = 0

    async def row(self, schema: TableSchema, version: str, origin: Origin, after: Row) -> None:
        """Send a row that a snapshot has read."""
        await self._announce(schema, version, origin)
        _, key, key_row, _, _ = changes_of(schema, None, after)[0]
        # One more than what is said of the whole table at this position.
        change = Change(Op.READ, schema.name, version, key, key_row, None, after, row=1)
        await self._send(change, origin)

    async def rows(
        self,
        schema: TableSchema,
        version: str,
        origin: Origin,
        rows: list[tuple[Row | None, Row | None]],
        order: int,
    ) -> int:
        """Send the rows of one event of the log; `order` is the number of the first in its
        transaction. Returns the number of changes."""
        await self._announce(schema, version, origin)
        number = 0
        for before, after in rows:
            for op, key, key_row, old, new in changes_of(schema, before, after):
                change = Change(
                    op, schema.name, version, key, key_row, old, new, number, order + number
                )
                await self._send(change, origin)
                number += 1
        return number

    async def emptied(self, table: TableName, origin: Origin, order: int = 0) -> None:
        """Announce that all rows of a table are gone. Stored when it returns."""
        change = Change(Op.TRUNCATE, table, "", "", None, None, None, order=order)
        body = self._encoded(change, origin)
        await self._outlet.send_to_all_queues(self._topics.of(table), body, op=change.op)

    def is_due(self, seconds: float) -> bool:
        """Whether the last saved state is older than this."""
        return time.monotonic() - self._saved_at >= seconds

    async def save(self) -> None:
        """Wait until all messages are stored, then store the state. SendFailed, TakenOver."""
        await self._outlet.drain()
        self.state = replace(
            self.state,
            rows=self.state.rows + self._sent_since,
            lag_seconds=self._meter.lag_seconds,
            updated_ms=now_ms(),
        )
        self._sent_since = 0
        await self._states.save(self.state)
        self._saved_at = time.monotonic()

    async def _announce(self, schema: TableSchema, version: str, origin: Origin) -> None:
        if version not in self._announced:
            position = origin.position
            said = schema.announcement(position.file, position.offset, now_ms())
            await self._states.announce(version, said)
            self._announced.add(version)

    async def _send(self, change: Change, origin: Origin) -> None:
        table = change.table
        await self._outlet.send(
            self._topics.of(table),
            self._encoded(change, origin),
            op=change.op,
            key=change.key if change.key_row is not None else "",
            order_by=f"{table}|{change.key}" if self._topics.is_shared else change.key,
        )

    def _encoded(self, change: Change, origin: Origin) -> bytes:
        body = encode(change, origin, self.state.name, self.state.epoch, now_ms())
        self._meter.count(change.op, len(body))
        self._sent_since += 1
        return body


def now_ms() -> int:
    return time.time_ns() // 1_000_000
