"""Captures in tests: a schema of one's own, what topics have of it, and what the tables have."""

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

import aerobee
from aerobee.model.message import StoredMessage
from aerobee.pipeline.capture.capture import Capture, CaptureOptions, SnapshotMode
from aerobee.pipeline.capture.database.server import ServerAddress
from aerobee.pipeline.capture.envelope import Envelope
from aerobee.pipeline.capture.meter import Meter
from aerobee.pipeline.capture.position import CaptureState, Position
from aerobee.pipeline.capture.replica import Replica
from aerobee.pipeline.capture.state_topic import state_topic
from aerobee.pipeline.capture.table_schema import TableName
from aerobee.pipeline.capture.tables import TablePatterns, TopicNames
from tests.mariadb_kit import Database
from tests.server_kit import Server

_numbers = itertools.count(1)


class Shop:
    """A schema, a capture of it, and the topics it goes to."""

    def __init__(self, database: Database, server: Server) -> None:
        self.database = database
        self.server = server
        self.schema = f"shop{next(_numbers)}"
        self.notes: list[str] = []
        database.run(f"CREATE DATABASE {self.schema}")

    @property
    def address(self) -> ServerAddress:
        at = self.database.server
        return ServerAddress(at.host, at.port, at.user, at.password)

    def run(self, *statements: str) -> None:
        """Of one connection, in this schema."""
        self.database.run(f"USE {self.schema}", *statements)

    def options(self, mode: SnapshotMode = SnapshotMode.INITIAL, **more: Any) -> CaptureOptions:
        said = {"patterns": TablePatterns([f"{self.schema}.*"]), "topics": TopicNames(), **more}
        return CaptureOptions(
            self.schema, self.address, snapshot=mode, **{"is_once": True, "queues": 4, **said}
        )

    def capture(self, mode: SnapshotMode = SnapshotMode.INITIAL, **more: Any) -> Meter:
        """Up to now."""
        meter = Meter()

        async def run() -> None:
            async with self.server.connect() as client:
                capture = Capture(self.options(mode, **more), meter, self.notes.append)
                await capture.run(client, asyncio.Event())

        asyncio.run(run())
        return meter

    def envelopes(self, table: str) -> list[Envelope]:
        """Of a table, queue by queue."""
        return [Envelope.decode(body) for body in self.bodies(f"{self.schema}-{table}")]

    def bodies(self, topic: str) -> list[bytes]:
        return [body for queue in queues_of(self.server, topic) for body in queue]

    def replica(self, table: str) -> list[dict[str, Any]]:
        """What whoever reads the topic knows of the table."""
        replica = Replica()
        for envelope in self.envelopes(table):
            replica.apply(envelope)
        return list(replica.rows(TableName(self.schema, table)))

    def rows(self, table: str, columns: str = "*") -> Sequence[tuple[Any, ...]]:
        return self.database.rows(f"SELECT {columns} FROM {self.schema}.{table} ORDER BY 1")


def queues_of(server: Server, topic: str) -> list[list[bytes]]:
    """The bodies of each queue."""
    return [[message.body for message in queue] for queue in messages_of(server, topic)]


def messages_of(server: Server, topic: str) -> list[list[StoredMessage]]:
    """The messages of each queue."""

    async def read() -> list[list[StoredMessage]]:
        async with aerobee.admin(server.name_server, timeout=60) as admin:
            stats = await admin.topics.stats(topic)
            return [
                [message async for message in admin.queues.read(queue)] for queue in stats.queues
            ]

    return asyncio.run(read())


def check_states(shop: Shop, tables: Sequence[str]) -> int:
    """Every state that was ever saved might be where the next run begins: in the broker's log, all
    that it covers stands before it, and it ends in the middle of no transaction. How many."""
    first: dict[tuple[str, str, str], int] = {}
    envelopes: dict[tuple[str, str, str], Envelope] = {}
    for table in tables:
        for message in itertools.chain(*messages_of(shop.server, f"{shop.schema}-{table}")):
            envelope = Envelope.decode(message.body)
            name = (str(envelope.table), envelope.sequence, str(envelope.key))
            envelopes[name] = envelope
            first[name] = min(message.log_offset, first.get(name, message.log_offset))
    transactions: dict[str, set[tuple[int, int]]] = {}
    for envelope in envelopes.values():
        if envelope.transaction:
            transactions.setdefault(envelope.transaction[0], set()).add(_place(envelope))
    saved = list(itertools.chain(*messages_of(shop.server, state_topic(shop.schema))))
    for message in saved:
        state = CaptureState.from_json(message.body)
        end = (state.position.file_number, state.position.offset)
        for places in transactions.values():
            assert len({place <= end for place in places}) == 1, f"{end} is inside of {places}"
        for name, envelope in envelopes.items():
            if _is_covered(envelope, state, end):
                assert first[name] < message.log_offset, f"{name} is stored after {state}"
    return len(saved)


def _place(envelope: Envelope) -> tuple[int, int]:
    source = envelope.source
    return Position(source["file"], source["pos"]).file_number, source["pos"]


def _is_covered(envelope: Envelope, state: CaptureState, end: tuple[int, int]) -> bool:
    if not envelope.source["snapshot"]:
        return _place(envelope) <= end
    if str(envelope.table) in state.done:
        return True
    key = state.reading.get(str(envelope.table))
    return key is not None and list((envelope.key or {}).values()) <= key
