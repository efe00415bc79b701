"""Capture runs one capture: it loads the state, takes the snapshot, then streams the binary log.

    state? ──none──▶ snapshot of all tables ──▶ stream from its moment
       └──found──▶ tables that are not done yet ──▶ stream from its position

The database is read on a thread, one piece ahead of sending; messages are sent on the event loop.
Memory holds at most two pieces and the messages that wait in the producers.

A1. A crash at any point loses no change: the next run begins at a state whose rows are stored, and
    sends what came after it again.
"""

import asyncio
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from aerobee.client.client import Client
from aerobee.pipeline.capture.database.binlog import (
    Altered,
    BinlogReader,
    Boundary,
    Emptied,
    LogBatch,
    LogItem,
    Noted,
    RowsChanged,
)
from aerobee.pipeline.capture.database.catalog import (
    captured_tables,
    cascading_tables,
    disguised_columns,
)
from aerobee.pipeline.capture.database.server import (
    ServerAddress,
    ServerFacts,
    check,
    connect,
    current_position,
    explained,
)
from aerobee.pipeline.capture.database.snapshot import Snapshot
from aerobee.pipeline.capture.delivery import Delivery, now_ms
from aerobee.pipeline.capture.envelope import Origin
from aerobee.pipeline.capture.errors import Unfit
from aerobee.pipeline.capture.meter import Meter
from aerobee.pipeline.capture.outlet import Outlet
from aerobee.pipeline.capture.position import CaptureState, Phase, Position
from aerobee.pipeline.capture.state_topic import StateTopic, begun
from aerobee.pipeline.capture.table_schema import Kind, TableName, TableSchema
from aerobee.pipeline.capture.tables import TablePatterns, TopicNames

T = TypeVar("T")
Say = Callable[[str], None]

_READ_SECONDS_MAX = 0.5


class SnapshotMode(Enum):
    INITIAL = "initial"
    """Once for each table."""
    ALWAYS = "always"
    """Now, whatever was done before."""
    NEVER = "never"
    """Only changes from now on."""


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    name: str
    address: ServerAddress
    patterns: TablePatterns
    topics: TopicNames
    snapshot: SnapshotMode = SnapshotMode.INITIAL
    is_once: bool = False
    """End at what is the log's end now."""
    is_rereading: bool = False
    """Read tables again that were altered: what that did to their rows is not in the log."""
    queues: int = 8
    piece_rows: int = 1000
    save_seconds: float = 1.0
    """How often a state is saved while there is something new."""
    heartbeat_seconds: float = 30.0
    """A state is saved at least this often, also when nothing happens."""
    idle_seconds: float = 0.1
    """How long a database is silent before it says so."""


class Capture:
    """One capture of a database. After an error `run` may be called again: it continues where it
    was."""

    def __init__(self, options: CaptureOptions, meter: Meter, say: Say) -> None:
        self._options = options
        self._meter = meter
        self._say = say
        self._mode = options.snapshot
        self._instance = uuid.uuid4().hex[:12]
        self._began_ms = now_ms()
        self._facts = ServerFacts("", False)
        self._moment = self._reached = Position("", 0)
        self._order = 0
        self._is_reread_due = False
        self._has_state = False
        self._topics_known: set[str] = set()

    async def run(self, client: Client, stop: asyncio.Event) -> None:
        """Run until stopped or, with `is_once`, until everything is captured. After CaptureError,
        SendFailed and other errors of the client it may be called again."""
        while True:
            self._is_reread_due = False
            await self._run(client, stop)
            if stop.is_set() or not self._is_reread_due:
                return

    async def _run(self, client: Client, stop: asyncio.Event) -> None:
        """Read the tables that are not done, then the log, up to where a table has to be read
        again."""
        options = self._options
        # The database first: no topic is made for one that is not there.
        self._facts = await asyncio.to_thread(check, options.address)
        tables = await asyncio.to_thread(self._tables)
        states = StateTopic(client, options.name)
        known = await states.load(may_be_new=not self._has_state)
        self._has_state = True
        outlet = Outlet(client, options.queues, self._topics_known)
        snapshot = Snapshot(options.address, is_mariadb=self._facts.is_mariadb)
        try:
            delivery, unread = await self._begin(known, tables, snapshot, outlet, states)
            for schema in unread:
                if not stop.is_set():
                    await self._read_table(schema, snapshot, delivery, stop)
            await asyncio.to_thread(snapshot.close)
            if not stop.is_set():
                await self._stream(delivery, stop)
            await delivery.save()
        finally:
            snapshot.close()
            await outlet.close()

    # Where to begin.

    def _tables(self) -> list[TableSchema]:
        options = self._options
        connection = connect(options.address)
        try:
            with explained(options.address):
                tables = captured_tables(connection, options.patterns)
                cascades = cascading_tables(connection, options.patterns)
        finally:
            connection.close()
        if not tables:
            raise Unfit(
                f"{options.address} has no table {options.patterns} that we may see",
                hint="see --tables, and which rights the user has: SELECT ON schema.*",
            )
        for name in cascades:
            self._say(
                f"{name} has a foreign key with CASCADE or SET NULL: what that changes is not in"
                " the log"
            )
        for schema in tables:
            options.topics.of(schema.name)  # may refuse, and then at once
            if not schema.key:
                self._say(
                    f"{schema.name} has no primary key: its rows keep their order, but cannot be"
                    " told apart"
                )
        return tables

    async def _begin(
        self,
        known: CaptureState | None,
        tables: list[TableSchema],
        snapshot: Snapshot,
        outlet: Outlet,
        states: StateTopic,
    ) -> tuple[Delivery, list[TableSchema]]:
        """Return the state to continue from, and the tables to read first."""
        is_anew = known is None or self._mode is SnapshotMode.ALWAYS
        if self._mode is SnapshotMode.NEVER:
            unread: list[TableSchema] = []
        else:
            done = frozenset() if is_anew or known is None else known.done
            unread = [schema for schema in tables if str(schema.name) not in done]
        if unread:
            moment = await asyncio.to_thread(snapshot.begin)
        else:
            moment = await asyncio.to_thread(self._current)
        state = known
        if state is None or is_anew:
            epoch = 1 if known is None else known.epoch + 1
            state = CaptureState(self._options.name, moment, epoch)
        if not unread:
            names = frozenset(str(schema.name) for schema in tables)
            state = replace(state, done=state.done | names)
        state = replace(begun(state, self._instance, self._began_ms), phase=Phase.SNAPSHOT)
        delivery = Delivery(outlet, states, state, self._options.topics, self._meter)
        self._moment = moment
        if known is not None and is_anew:
            for schema in unread:
                await delivery.emptied(schema.name, self._snapshot_origin())
        await delivery.save()
        self._mode = SnapshotMode.INITIAL if is_anew else self._mode
        return delivery, unread

    def _current(self) -> Position:
        connection = connect(self._options.address)
        try:
            with explained(self._options.address):
                return current_position(connection)
        finally:
            connection.close()

    def _snapshot_origin(self) -> Origin:
        return Origin(self._moment, now_ms(), is_snapshot=True)

    # The snapshot.

    async def _read_table(
        self, schema: TableSchema, snapshot: Snapshot, delivery: Delivery, stop: asyncio.Event
    ) -> None:
        name, version, origin = str(schema.name), schema.version, self._snapshot_origin()
        self._meter.table = name
        after = delivery.state.reading.get(name)
        pieces = snapshot.pieces(schema, after, self._options.piece_rows)
        reading = asyncio.create_task(asyncio.to_thread(next, pieces, None))
        try:
            while (piece := await reading) is not None:
                if stop.is_set():
                    return
                reading = asyncio.create_task(asyncio.to_thread(next, pieces, None))
                for row in piece.rows:
                    await delivery.row(schema, version, origin, row)
                if piece.last_key is not None:
                    delivery.state = delivery.state.table_read_to(name, piece.last_key)
                    if delivery.is_due(self._options.save_seconds):
                        await delivery.save()
        finally:
            await _settled(reading)  # nothing may use the connection after this
        delivery.state = delivery.state.table_done(name)
        await delivery.save()

    # The log.

    async def _stream(self, delivery: Delivery, stop: asyncio.Event) -> None:
        options = self._options
        delivery.state = replace(delivery.state, phase=Phase.STREAMING)
        await delivery.save()
        self._meter.phase = Phase.STREAMING
        self._meter.position = self._reached = delivery.state.position
        reader = BinlogReader(
            options.address,
            options.patterns,
            delivery.state.position,
            server_id=random.randrange(1 << 24, 1 << 31),
            heartbeat_seconds=None if options.is_once else options.idle_seconds,
            disguises=self._disguises,
        )
        self._order = 0
        reading = asyncio.create_task(self._read(reader))
        try:
            while True:
                batch = await reading
                if stop.is_set():
                    break
                if not batch.is_end:
                    reading = asyncio.create_task(self._read(reader))
                for item in batch.items:
                    await self._deliver(item, delivery)
                    if self._is_reread_due and isinstance(item, Boundary):
                        break
                if batch.is_idle or batch.is_end:
                    self._meter.lag_seconds = 0.0
                if batch.is_end or self._is_reread_due:
                    break
                is_behind = delivery.state.position != self._reached
                if delivery.is_due(
                    options.save_seconds if is_behind else options.heartbeat_seconds
                ):
                    await self._save(delivery)
        finally:
            await _settled(reading)
            await asyncio.to_thread(reader.close)
        delivery.state = replace(delivery.state, phase=Phase.STOPPED)
        await self._save(delivery)

    async def _read(self, reader: BinlogReader) -> LogBatch:
        return await asyncio.to_thread(reader.read, self._options.piece_rows, _READ_SECONDS_MAX)

    async def _save(self, delivery: Delivery) -> None:
        delivery.state = replace(delivery.state, position=self._reached)
        await delivery.save()

    async def _deliver(self, item: LogItem, delivery: Delivery) -> None:
        match item:
            case RowsChanged(schema, version, origin, rows):
                self._order += await delivery.rows(schema, version, origin, rows, self._order)
                self._know(schema.name, delivery)
            case Emptied(table, schema_name, origin):
                for name in self._emptied_tables(table, schema_name, delivery):
                    await delivery.emptied(name, origin, self._order)
                    self._order += 1
            case Altered(table, has_lost_rows, origin):
                await self._altered(table, has_lost_rows, origin, delivery)
            case Boundary(position, ts_ms):
                self._meter.position = self._reached = position
                self._meter.transactions += bool(self._order)
                self._meter.lag_seconds = max(0.0, (now_ms() - ts_ms) / 1000)
                self._order = 0
            case Noted(text):
                self._say(text)

    async def _altered(
        self, table: TableName, has_lost_rows: bool, origin: Origin, delivery: Delivery
    ) -> None:
        what = "has lost rows that the log does not name" if has_lost_rows else "was altered"
        then = "it is read again" if self._options.is_rereading else "see --reread-altered"
        self._say(f"{table} {what} before {origin.position}; {then}")
        if self._options.is_rereading and str(table) in delivery.state.done:
            if has_lost_rows:
                await delivery.emptied(table, origin)
            delivery.state = delivery.state.table_undone(str(table))
            self._is_reread_due = True

    def _know(self, table: TableName, delivery: Delivery) -> None:
        """Add a table that appeared in the log: it is captured from its beginning."""
        if str(table) not in delivery.state.done and not self._is_reread_due:
            delivery.state = delivery.state.table_done(str(table))

    def _emptied_tables(
        self, table: TableName | None, schema: str, delivery: Delivery
    ) -> list[TableName]:
        """Return the tables that were emptied, of those whose rows are in topics."""
        if table is not None:
            return [table] if str(table) in delivery.state.done else []
        return [
            TableName(*name.split(".", 1))
            for name in sorted(delivery.state.done)
            if name.startswith(f"{schema}.")
        ]

    def _disguises(self, table: TableName) -> dict[str, Kind]:
        connection = connect(self._options.address)
        try:
            with explained(self._options.address):
                return disguised_columns(connection, table)
        finally:
            connection.close()


async def _settled(task: "asyncio.Task[T]") -> None:
    """Wait for a task whose result is no longer needed."""
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()
