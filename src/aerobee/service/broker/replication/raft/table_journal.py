"""TableJournal writes the changes of a leader's tables to the log, so that whoever leads next has
them (`table_change`).

    topics, groups         on the disk ─▶ record appended ─▶ committed ─▶ the request is answered
    offsets, producers,    changed ─▶ one record of all, at most FLUSH_MS later ─▶ committed ─▶
    rounds, modes, users   answered
    delays, timer, pops    go with the offsets

J1. The record of a topic is in the log before the first message of the topic, that of a decision
    on staged batches before the first of them is published, and that of a finished round before
    its marks are dropped.
J2. A request that sets an offset is answered when the record of it is committed. A pull that brings
    an offset waits for nothing.
J3. A leader begins with a copy of all rows, in parts, one a tick, and writes another when the
    changes behind it have grown as large as it, or the log by half a file: so a start reads little,
    and retention leaves a whole one.

Called from the core's thread only. Imports more than 15 modules because it knows every table.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from aerobee.errors import AerobeeError, StorageError
from aerobee.model.access import Credentials
from aerobee.model.names import TABLES_TOPIC
from aerobee.ports.clock import Now
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.json_text import Value, write_standard
from aerobee.service.access.access_store import AccessStore
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.replication.raft.access_rows import log_key
from aerobee.service.broker.replication.raft.table_change import (
    ACCESS,
    DELAYS,
    EPOCHS,
    FINISHED,
    FORBIDDEN,
    GROUPS,
    MAPPINGS,
    MARKS,
    MODES,
    OFFSETS,
    POPPED,
    ROUNDS,
    STAGED,
    TIMER,
    TOPICS,
    ChangeKind,
    Rows,
    TableChange,
)
from aerobee.service.broker.replication.raft.table_rows import (
    ModeTable,
    SafeDelays,
    TableRows,
    TimerProgress,
    access_rows,
    delay_rows,
    row_sources,
    timer_rows,
)
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.offset_table import TopicGroup, key_text
from aerobee.service.broker.state.tables import Tables
from aerobee.service.request import Answer, Request
from aerobee.storage.metadata.saved_value import Done, Journal
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

FLUSH_MS = 20
PART_BYTES = 128 << 10
COPY_BYTES_MIN = 1 << 20
"""Changes that are read at a start before another copy is made."""
REST_MS_MAX = 500

_TOPIC = TABLES_TOPIC.encode()
WAITING = frozenset(
    {
        RequestCode.UPDATE_CONSUMER_OFFSET,
        RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
        RequestCode.CLONE_GROUP_OFFSET,
    }
)
"""Requests that set offsets, and are answered when these are committed."""
_AT_ONCE = frozenset({TOPICS, MAPPINGS, GROUPS})
"""Messages of a new topic come behind its record."""
_BESIDE = {GROUPS: FORBIDDEN, EPOCHS: ROUNDS}
"""Tables whose rows of the same names may have changed, too."""


class TableJournal:
    """Of one life as leader."""

    def __init__(self, tables: Tables, store: Store, answers: SafeAnswers, now: Now) -> None:
        self._store = store
        self._answers = answers
        self._now = now
        self._flushed_ms = now.monotonic_ms - FLUSH_MS
        self._sources = row_sources(tables)
        self._names: dict[str, dict[str, None]] = {}
        self._pairs: set[TopicGroup] = set()
        tables.offsets.table.changed = self._pairs
        self._waiting: list[Done] = []
        self._end = store.end_offset
        self._progress: dict[str, Callable[[], Rows]] = {}
        # Progress that is in the log, or was there when this leader began.
        self._written: dict[str, Rows] = {}
        self._watch_progress(MARKS, lambda: {POPPED: tables.offsets.popped_to})
        self._copying: Iterator[TableChange] | None = self._copy()
        self._copy_bytes = 0
        self._change_bytes = 0
        self._copied_at = store.end_offset
        self._refusal = ""
        epochs = tables.deduplication.epochs
        tables.topics.journal = self._journal_of(TOPICS)
        tables.topics.mappings.journal = self._journal_of(MAPPINGS)
        tables.groups.journal = self._journal_of(GROUPS)
        epochs.journal = self._journal_of(EPOCHS)
        epochs.journal_of_finished = self._journal_of(FINISHED)
        tables.staged_rounds.journal = self._journal_of(STAGED)

    def watch(self, safe_delays: SafeDelays, timer: TimerProgress, modes: ModeTable) -> None:
        """Write the state of these, too."""
        self._watch_progress(DELAYS, lambda: delay_rows(safe_delays()))
        self._watch_progress(TIMER, lambda: timer_rows(timer()))
        self._sources[MODES] = TableRows(modes.names, modes.row_json)
        modes.journal = self._journal_of(MODES)

    def watch_access(self, access: AccessStore, inner: Credentials) -> None:
        """Write users and their rules, too, sealed under the secret of the brokers' own user."""
        self._sources[ACCESS] = access_rows(access, log_key(inner))
        access.journal = self._journal_of(ACCESS)

    def _watch_progress(self, table: str, read: Callable[[], Rows]) -> None:
        self._progress[table] = read
        self._written[table] = read()

    def _journal_of(self, table: str) -> Journal:
        self._names[table] = {}
        return lambda names, done: self._saved(table, names, done)

    # Requests.

    def rows(self, rows: Iterable[Row]) -> list[Row]:
        """The rows of the request table, with those that set offsets answered later."""
        return [self._later(one) if one.code in WAITING else one for one in rows]

    def _later(self, row: Row) -> Row:
        def handle(request: Request, header: object) -> Answer | None:
            answer = row.handle(request, header)
            if answer is None or answer.code is not ResponseCode.SUCCESS or self._is_settled():
                return answer

            def stored(error: BaseException | None) -> None:
                if error is None:
                    request.answer(answer)
                else:
                    request.answer(Answer(ResponseCode.SYSTEM_ERROR, str(error)))

            self._waiting.append(stored)
            return None

        return row._replace(handle=handle)

    def _is_settled(self) -> bool:
        """Whether all changes are committed; else one that is repeated waits for the first."""
        return not self._is_dirty() and self._store.confirmation.confirmed_offset >= self._end

    def _saved(self, table: str, names: Sequence[str], done: Done) -> None:
        if not names and self._is_settled():
            done(None)
            return
        self._names[table].update(dict.fromkeys(names))
        self._waiting.append(done)
        if table in _AT_ONCE:
            self._flush()

    # Time.

    def on_round(self, now: Now) -> None:
        self._now = now
        if self._is_dirty() and now.monotonic_ms - self._flushed_ms >= FLUSH_MS:
            self._flush()

    def on_tick(self, now: Now) -> None:
        self._now = now
        if now.monotonic_ms - self._flushed_ms >= FLUSH_MS:
            self._flush()
        self._copy_on()

    def rest_ms(self, now: Now) -> int:
        if self._copying is not None:
            return FLUSH_MS if self._refusal else 0
        if self._is_dirty():
            return max(0, FLUSH_MS - (now.monotonic_ms - self._flushed_ms))
        return REST_MS_MAX

    def _is_dirty(self) -> bool:
        return bool(self._pairs or self._waiting or any(self._names.values()))

    # Changes.

    def _flush(self) -> None:
        """Append what has changed; the rest is tried again, if the store does not take it."""
        self._flushed_ms = self._now.monotonic_ms
        try:
            self._append_rows()
        except AerobeeError as error:
            self._note_refusal(error)
            return
        self._refusal = ""
        waiting, self._waiting = self._waiting, []
        for done in waiting:
            self._answers.wait(self._end, self._now, _told(done))

    def _append_rows(self) -> None:
        for table, names in self._names.items():
            while names:
                some = list(islice(names, 500))
                beside = [_BESIDE[table]] if table in _BESIDE else []
                self._append_change({one: self._rows_of(one, some) for one in (table, *beside)})
                for name in some:
                    del names[name]
        while self._pairs:
            pairs, size = [], 0
            rows: Rows = {}
            for pair in self._pairs:
                name = key_text(pair)
                rows[name] = self._sources[OFFSETS].find(name)
                pairs.append(pair)
                size += _size(name, rows[name])
                if size >= PART_BYTES:
                    break
            self._append_change({OFFSETS: rows})
            self._pairs.difference_update(pairs)
        self._append_progress()

    def _append_progress(self) -> None:
        """Behind the offsets that it speaks of."""
        news = {}
        for table, read in self._progress.items():
            rows = read()
            if rows != self._written[table]:
                news[table] = rows
        if news:
            self._append_change(news)
            self._written.update(news)

    def _append_change(self, tables: Mapping[str, Rows]) -> None:
        self._change_bytes += self._append(TableChange(ChangeKind.CHANGE, tables))

    def _append(self, change: TableChange) -> int:
        """The number of its bytes. AerobeeError: the store does not take it."""
        body = change.encode()
        draft = MessageDraft()
        draft.topic = _TOPIC
        draft.born_timestamp = self._now.wall_ms
        draft.set_body(memoryview(body))
        self._store.append(draft, self._now.wall_ms)
        self._end = self._store.end_offset
        return len(body)

    def _note_refusal(self, error: AerobeeError) -> None:
        if self._refusal != error.message:
            self._refusal = error.message
            _log.info("changes of tables wait: %s", error)

    # Copies.

    def _copy_on(self) -> None:
        """Append the next part of a copy, or begin one that is due."""
        grown = self._store.end_offset - self._copied_at
        is_large = self._change_bytes > max(COPY_BYTES_MIN, self._copy_bytes)
        if self._copying is None:
            if not is_large and grown < self._store.config.log_file_bytes // 2:
                return
            self._copying = self._copy()
        try:
            self._append_part(self._copying)
        except AerobeeError as error:
            self._note_refusal(error)
            self._copying = self._copy()  # a part is missing: from the begin again

    def _append_part(self, copying: Iterator[TableChange]) -> None:
        part = next(copying, None)
        if part is None:
            self._copying = None
            self._change_bytes = 0
            return
        if part.kind is ChangeKind.BEGIN:
            self._copy_bytes = 0
            self._copied_at = self._store.end_offset
        self._copy_bytes += self._append(part)
        self._refusal = ""

    def _copy(self) -> Iterator[TableChange]:
        """All rows, each as it is when its part is made."""
        yield TableChange(ChangeKind.BEGIN, {one: {} for one in (*self._sources, *self._progress)})
        for table, source in self._sources.items():
            rows: Rows = {}
            size = 0
            for name in source.names():
                row = source.find(name)
                if row is None:
                    continue
                rows[name] = row
                size += _size(name, row)
                if size >= PART_BYTES:
                    yield TableChange(ChangeKind.PART, {table: rows})
                    rows, size = {}, 0
            if rows:
                yield TableChange(ChangeKind.PART, {table: rows})
        yield TableChange(ChangeKind.END, {one: read() for one, read in self._progress.items()})

    def _rows_of(self, table: str, names: Iterable[str]) -> Rows:
        """Rows as they are now; None: there is none."""
        return {name: self._sources[table].find(name) for name in names}


def _size(name: str, row: Value | None) -> int:
    return len(name) + len(write_standard(row))


def _told(done: Done) -> Callable[[ResponseCode], None]:
    def told(code: ResponseCode) -> None:
        if code is ResponseCode.SUCCESS:
            done(None)
        else:
            done(
                StorageError(
                    "no majority of the group is known to have it",
                    hint="it may have been done: look, and try again",
                )
            )

    return told
