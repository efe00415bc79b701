"""Rows of a leader's tables, as their files have them, for the records of the log (`table_change`).

Each table says which rows it has and what is in one; a table of progress is small, and is told as a
whole.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TypeAlias

from aerobee.protocol.text.json_text import Value
from aerobee.service.access.access_store import AccessStore
from aerobee.service.broker.deduplication.producer_epochs import (
    ProducerEpochs,
    finished_json,
    round_json,
)
from aerobee.service.broker.replication.raft.access_rows import sealed_row
from aerobee.service.broker.replication.raft.table_change import (
    EPOCHS,
    FINISHED,
    FORBIDDEN,
    GROUPS,
    MAPPINGS,
    OFFSETS,
    ROUNDS,
    STAGED,
    TOPICS,
    Rows,
)
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.offset_table import SEPARATOR, key_text
from aerobee.service.broker.state.tables import Tables
from aerobee.storage.metadata.saved_value import Journal
from aerobee.storage.timer.timer_checkpoint import TimerCheck

READ, TAKEN_IN = "read", "takenIn"
"""Rows of the timer's progress."""


class TableRows(NamedTuple):
    names: Callable[[], list[str]]
    find: Callable[[str], Value | None]
    """None: there is no such row."""


class ModeTable(Protocol):
    """The request modes, by topic (`membership.request_modes`)."""

    journal: Journal | None

    def names(self) -> list[str]: ...

    def row_json(self, topic: str) -> dict[str, Value] | None: ...


SafeDelays: TypeAlias = Callable[[], Mapping[int, int]]
"""By delay level: the first message whose delivery could be lost."""
TimerProgress: TypeAlias = Callable[[], TimerCheck]
"""The checkpoint of what is delivered into the log."""
RowSources: TypeAlias = dict[str, TableRows]


def row_sources(tables: Tables) -> RowSources:
    """The tables of a broker, by name, in the order in which a copy has them."""
    topics, groups, staged = tables.topics, tables.groups, tables.staged_rounds
    mappings = topics.mappings
    return {
        TOPICS: TableRows(lambda: [one.name for one in topics.all()], topics.row_json),
        MAPPINGS: TableRows(lambda: [one.topic for one in mappings.all()], mappings.row_json),
        GROUPS: TableRows(lambda: [one.name for one in groups.all()], groups.row_json),
        FORBIDDEN: _forbidden(groups),
        OFFSETS: _offsets(tables.offsets),
        **_epochs(tables.deduplication.epochs),
        STAGED: TableRows(staged.names, staged.row_json),
    }


def _forbidden(groups: Groups) -> TableRows:
    def find(group: str) -> Value | None:
        return dict(groups.forbidden.get(group, {})) or None

    return TableRows(lambda: list(groups.forbidden), find)


def _offsets(offsets: ConsumerOffsets) -> TableRows:
    def find(name: str) -> Value | None:
        topic, _, group = name.partition(SEPARATOR)
        return dict(offsets.of(group, topic)) or None

    return TableRows(lambda: [key_text(pair) for pair in offsets.pairs()], find)


def _epochs(epochs: ProducerEpochs) -> RowSources:
    def find_round(producer: str) -> Value | None:
        found = epochs.rounds().get(producer)
        return None if found is None else round_json(found)

    def find_finished(write_id: str) -> Value | None:
        found = epochs.finished().get(write_id)
        return None if found is None else finished_json(found)

    return {
        EPOCHS: TableRows(lambda: list(epochs.epochs()), lambda name: epochs.epochs().get(name)),
        ROUNDS: TableRows(lambda: list(epochs.rounds()), find_round),
        FINISHED: TableRows(lambda: list(epochs.finished()), find_finished),
    }


def access_rows(access: AccessStore, key: bytes) -> TableRows:
    """Users with their rules, sealed under a key."""
    accounts = access.accounts
    return TableRows(
        lambda: list(accounts.table.users), lambda name: sealed_row(accounts.table, name, key)
    )


def delay_rows(safe_offsets: Mapping[int, int]) -> Rows:
    return {str(level): offset for level, offset in safe_offsets.items()}


def timer_rows(check: TimerCheck) -> Rows:
    return {READ: check.read_ms, TAKEN_IN: check.taken_in}
