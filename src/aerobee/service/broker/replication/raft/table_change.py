"""TableChange: rows of a leader's tables as a record of the log; and the tables that the records of
a log add up to.

A record is an ordinary message of the topic rmq_sys_aerobee_tables. Its body is JSON:

    {"kind":"change","topics":{"T":{…},"U":null},"offsets":{"T@g":{"0":5}},"marks":{"popped":7}}

    topics, mappings, groups    rows as in their files of the folder `config`
    forbidden                   by group: topics that it may not read
    offsets                     by topic@group: the offset of each queue
    delays                      by level: the first message whose delivery could be lost
    marks                       popped: `popLogOffset` of consumerOffset.json
    modes                       by topic: the request modes of its groups
    epochs, rounds, finished    rows of producerEpochs.json, by producer and by write
    staged                      rows of stagedRounds.json
    access                      by user: the user with its rules, sealed (`access_rows`)
    timer                       read: all messages for a tick before this time are delivered that
                                are before takenIn in the timer's queue

    change               rows that have changed
    begin, part, …, end  a copy of all rows: nothing before `begin` is needed

T1. A row is written whole, as it is when the record is appended: of several records that have it
    the last counts. null: the row is gone.
T2. `begin` names the tables of its copy, without rows. A table that it does not name is not copied.
T3. Between `begin` and `end` there may be changes, and rows of a part may be newer than `begin`. So
    a copy that a lost leader has left without its end is a number of changes like others.
"""

from collections.abc import Collection, Mapping
from enum import Enum
from typing import NamedTuple, TypeAlias, cast

from aerobee.errors import ProtocolError, RemoteProtocolError
from aerobee.model.names import TABLES_TOPIC
from aerobee.protocol.message.stored_message import decode_record
from aerobee.protocol.text.json_text import Parsed, Value, parse, write_standard
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.store import Store

TOPICS, MAPPINGS, GROUPS, FORBIDDEN = "topics", "mappings", "groups", "forbidden"
EPOCHS, ROUNDS, FINISHED, STAGED = "epochs", "rounds", "finished", "staged"
OFFSETS, DELAYS, MARKS, MODES, TIMER = "offsets", "delays", "marks", "modes", "timer"
ACCESS = "access"
TABLES = (
    *(TOPICS, MAPPINGS, GROUPS, FORBIDDEN),
    *(OFFSETS, DELAYS, MARKS, MODES, TIMER),
    *(EPOCHS, ROUNDS, FINISHED, STAGED, ACCESS),
)
POPPED = "popped"

Rows: TypeAlias = dict[str, Value | None]
"""By name; None: the row is gone."""


class ChangeKind(Enum):
    CHANGE = "change"
    BEGIN = "begin"
    PART = "part"
    END = "end"


class TableChange(NamedTuple):
    kind: ChangeKind
    tables: Mapping[str, Rows]
    """Rows by the name of their table."""

    def encode(self) -> bytes:
        return write_standard({"kind": self.kind.value, **self.tables})


def decode_change(body: bytes) -> TableChange:
    """RemoteProtocolError: the body is that of another message."""
    members = parse(body)
    try:
        if not isinstance(members, dict):
            raise ValueError("no JSON object")
        kind = ChangeKind(members.get("kind"))
        tables = {name: _rows(members[name]) for name in TABLES if name in members}
    except ValueError as error:
        raise RemoteProtocolError(f"a record of tables that is none: {error}") from None
    return TableChange(kind, tables)


def _rows(value: Parsed) -> Rows:
    if not isinstance(value, dict):
        raise ValueError("a table that has no rows")
    return cast("Rows", value)


class LogTables:
    """The tables that a log has."""

    def __init__(self, whole: Collection[str]) -> None:
        self.whole = frozenset(whole)
        """Tables of which all rows are here: what the broker has otherwise is gone."""
        self.rows: dict[str, Rows] = {name: {} for name in TABLES}
        self.deleted: dict[str, int] = {}
        """Topics that were deleted, and the log offset before which their messages are dead."""

    def take(self, change: TableChange, end_offset: int) -> None:
        """`end_offset`: the log offset behind the record."""
        for table, rows in change.tables.items():
            self.rows[table].update(rows)
        for topic, row in change.tables.get(TOPICS, {}).items():
            if row is None:
                self.deleted[topic] = end_offset

    def onto(self, table: str, base: Mapping[str, Value]) -> dict[str, Value]:
        """The rows of a table, put onto those that the broker has otherwise."""
        merged: Rows = {} if table in self.whole else dict(base)
        merged.update(self.rows[table])
        return {name: row for name, row in merged.items() if row is not None}


def read_log_tables(store: Store, since: int = 0) -> LogTables | None:
    """What the log says of the tables from a log offset on, and from the last whole copy on; None:
    it says nothing. Reads from the disk."""
    queue = store.queue(TABLES_TOPIC.encode(), 0)
    if queue is None:
        return None
    oldest = first_from(queue, since)
    if oldest == queue.max_offset:
        return None
    start = _last_copy(store, queue, oldest)
    whole = () if start is None else change_at(store, queue, start)[0].tables
    tables = LogTables(whole)
    for offset in range(oldest if start is None else start, queue.max_offset):
        change, end_offset = change_at(store, queue, offset)
        tables.take(change, end_offset)
    return tables


def first_from(queue: ConsumeQueue, log_offset: int) -> int:
    """The queue offset of the first record from a log offset on."""
    low, high = queue.min_offset, queue.max_offset
    while low < high:
        middle = (low + high) // 2
        unit = queue.unit(middle)
        if unit is None or unit[0] < log_offset:
            low = middle + 1
        else:
            high = middle
    return low


def _last_copy(store: Store, queue: ConsumeQueue, oldest: int) -> int | None:
    """The queue offset at which the last whole copy begins."""
    has_end = False
    for offset in reversed(range(oldest, queue.max_offset)):
        kind = change_at(store, queue, offset)[0].kind
        if kind is ChangeKind.END:
            has_end = True
        elif kind is ChangeKind.BEGIN and has_end:
            return offset
    return None


def change_at(store: Store, queue: ConsumeQueue, offset: int) -> tuple[TableChange, int]:
    """A record, and the log offset behind it. RemoteProtocolError: it is none; ProtocolError: it is
    not in the log any more."""
    unit = queue.unit(offset)
    record = None if unit is None else store.record_at(unit[0])
    if unit is None or record is None:
        raise ProtocolError(f"the record {offset} of {TABLES_TOPIC} is not in the log")
    return decode_change(decode_record(bytes(record)).body), unit[0] + unit[1]
