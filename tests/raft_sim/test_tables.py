"""Tables of a group go with its log: stories by seed, and mistakes that must be noticed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from aerobee.model.names import TABLES_TOPIC
from aerobee.service.broker.deduplication import sequences_file
from aerobee.service.broker.replication.raft import table_change, table_restoring
from aerobee.service.broker.replication.raft.table_change import (
    EPOCHS,
    TABLES,
    ChangeKind,
    LogTables,
)
from aerobee.service.broker.replication.raft.table_journal import TableJournal
from tests.raft_sim.table_story import TableStory

SEEDS = 12
ROUNDS = 4


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_new_leader_has_what_was_acknowledged(seed: int) -> None:
    story = TableStory(seed)
    story.run(ROUNDS)
    assert story.judged > 2 * ROUNDS


class Mistake(NamedTuple):
    name: str
    owner: Any
    function: str
    wrong: Callable[[Any], Any]
    """The wrong function, made from the right one."""


def _nothing_restored(right: Any) -> Any:
    return lambda store, since: None


def _files_win(right: Any) -> Any:
    """Rows that this broker has otherwise stay."""

    def onto(self: LogTables, table: str, base: Any) -> Any:
        return {**right(self, table, base), **base}

    return onto


def _first_wins(right: Any) -> Any:
    """Stale offsets win: of several records the first counts."""

    def take(self: LogTables, change: Any, end_offset: int) -> None:
        for table, rows in change.tables.items():
            self.rows[table] = {**rows, **self.rows[table]}

    return take


def _answered_at_once(right: Any) -> Any:
    """Offsets are acknowledged before they are committed."""

    def settled(self: TableJournal) -> bool:
        return True

    return settled


def _producers_not_told(right: Any) -> Any:
    """Epochs of producers are in the leader's file only."""

    def journal_of(self: TableJournal, table: str) -> Any:
        journal = right(self, table)
        return (lambda names, done: done(None)) if table == EPOCHS else journal

    return journal_of


def _marks_not_read(right: Any) -> Any:
    return lambda store, log_offset, known: 0


def _removals_forgotten(right: Any) -> Any:
    def take(self: LogTables, change: Any, end_offset: int) -> None:
        tables = {
            table: {name: row for name, row in rows.items() if row is not None}
            for table, rows in change.tables.items()
        }
        right(self, change._replace(tables=tables), end_offset)

    return take


def _old_copy(right: Any) -> Any:
    """A start reads the last copy, and not the changes behind it."""

    def read(store: Any, since: int) -> Any:
        queue = store.queue(TABLES_TOPIC.encode(), 0)
        if queue is None:
            return None
        found = LogTables(TABLES)
        for offset in range(queue.min_offset, queue.max_offset):
            change, end = table_change.change_at(store, queue, offset)
            if change.kind is not ChangeKind.CHANGE:
                found.take(change, end)
        return found

    return read


MISTAKES = [
    Mistake("nothing restored", table_restoring, "read_log_tables", _nothing_restored),
    Mistake("changes behind a copy not read", table_restoring, "read_log_tables", _old_copy),
    Mistake("stale offsets win", LogTables, "take", _first_wins),
    Mistake("files win over the log", LogTables, "onto", _files_win),
    Mistake("removed rows come back", LogTables, "take", _removals_forgotten),
    Mistake("offsets acknowledged early", TableJournal, "_is_settled", _answered_at_once),
    Mistake("epochs of producers not in the log", TableJournal, "_journal_of", _producers_not_told),
    Mistake("marks of producers not read", sequences_file, "replay_log", _marks_not_read),
]


@contextmanager
def planted(mistake: Mistake) -> Iterator[None]:
    right = getattr(mistake.owner, mistake.function)
    setattr(mistake.owner, mistake.function, mistake.wrong(right))
    try:
        yield
    finally:
        setattr(mistake.owner, mistake.function, right)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.name.replace(" ", "-"))
def test_a_mistake_with_tables_is_noticed(mistake: Mistake) -> None:
    with planted(mistake):
        assert any(_is_noticed(seed) for seed in range(SEEDS)), mistake.name


def _is_noticed(seed: int) -> bool:
    try:
        TableStory(seed).run(ROUNDS)
    except AssertionError:
        return True
    return False
