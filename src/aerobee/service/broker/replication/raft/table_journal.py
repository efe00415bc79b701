"""TableJournal writes the changes of a leader's tables to the log, so that whoever leads next has
them (`table_change`).

    topics, groups    on the disk ─▶ record appended ─▶ committed ─▶ the request is answered
    offsets           changed ─▶ one record of all, at most FLUSH_MS later ─▶ committed ─▶ answered
    delays, pops      go with the offsets

J1. The record of a topic is in the log before the first message of the topic.
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
from aerobee.model.names import TABLES_TOPIC
from aerobee.ports.clock import Now
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.json_text import Value, write_standard
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.replication.raft.table_change import (
    DELAYS,
    FORBIDDEN,
    GROUPS,
    MAPPINGS,
    MARKS,
    OFFSETS,
    POPPED,
    TOPICS,
    ChangeKind,
    Rows,
    TableChange,
)
from aerobee.service.broker.request_table import Row
from aerobee.service.broker.state.offset_table import SEPARATOR, TopicGroup, key_text
from aerobee.service.broker.state.tables import Tables
from aerobee.service.request import Answer, Request
from aerobee.storage.metadata.saved_value import Done
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


class TableJournal:
    """Of one life as leader."""

    def __init__(self, tables: Tables, store: Store, answers: SafeAnswers, now: Now) -> None:
        self._tables = tables
        self._store = store
        self._answers = answers
        self._now = now
        self._flushed_ms = now.monotonic_ms - FLUSH_MS
        self._names: dict[str, dict[str, None]] = {TOPICS: {}, MAPPINGS: {}, GROUPS: {}}
        self._pairs: set[TopicGroup] = set()
        tables.offsets.table.changed = self._pairs
        self._waiting: list[Done] = []
        self._end = store.end_offset
        self._safe_delays: Callable[[], Mapping[int, int]] = dict
        # Progress that is in the log, or was there when this leader began.
        self._written: dict[str, Rows] = {DELAYS: {}, MARKS: self._progress(MARKS)}
        self._copying: Iterator[TableChange] | None = self._copy()
        self._copy_bytes = 0
        self._change_bytes = 0
        self._copied_at = store.end_offset
        self._refusal = ""
        tables.topics.journal = lambda names, done: self._saved(TOPICS, names, done)
        tables.topics.mappings.journal = lambda names, done: self._saved(MAPPINGS, names, done)
        tables.groups.journal = lambda names, done: self._saved(GROUPS, names, done)

    def watch_delays(self, safe_offsets: Callable[[], Mapping[int, int]]) -> None:
        """Write the progress of delay levels, too."""
        self._safe_delays = safe_offsets
        self._written[DELAYS] = self._progress(DELAYS)

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
        self._flush()  # at once: messages of a new topic come behind it

    # Time.

    def on_round(self, now: Now) -> None:
        self._now = now
        if self._pairs and now.monotonic_ms - self._flushed_ms >= FLUSH_MS:
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
                tables = {table: self._rows_of(table, some)}
                if table == GROUPS:
                    tables[FORBIDDEN] = self._rows_of(FORBIDDEN, some)
                self._append_change(tables)
                for name in some:
                    del names[name]
        while self._pairs:
            pairs, size = [], 0
            rows: Rows = {}
            for pair in self._pairs:
                name = key_text(pair)
                rows[name] = self._row(OFFSETS, name)
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
        for table in (DELAYS, MARKS):
            rows = self._progress(table)
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
        yield TableChange(ChangeKind.BEGIN, {})
        for table in (TOPICS, MAPPINGS, GROUPS, FORBIDDEN, OFFSETS):
            rows: Rows = {}
            size = 0
            for name in self._names_of(table):
                row = self._row(table, name)
                if row is None:
                    continue
                rows[name] = row
                size += _size(name, row)
                if size >= PART_BYTES:
                    yield TableChange(ChangeKind.PART, {table: rows})
                    rows, size = {}, 0
            if rows:
                yield TableChange(ChangeKind.PART, {table: rows})
        yield TableChange(ChangeKind.END, {one: self._progress(one) for one in (DELAYS, MARKS)})

    # Rows.

    def _names_of(self, table: str) -> list[str]:
        tables = self._tables
        if table == TOPICS:
            return [one.name for one in tables.topics.all()]
        if table == MAPPINGS:
            return [one.topic for one in tables.topics.mappings.all()]
        if table == GROUPS:
            return [one.name for one in tables.groups.all()]
        if table == FORBIDDEN:
            return list(tables.groups.forbidden)
        return [key_text(pair) for pair in tables.offsets.pairs()]

    def _rows_of(self, table: str, names: Iterable[str]) -> Rows:
        return {name: self._row(table, name) for name in names}

    def _row(self, table: str, name: str) -> Value | None:
        """A row as it is now; None: there is none."""
        tables = self._tables
        if table == TOPICS:
            return tables.topics.row_json(name)
        if table == MAPPINGS:
            return tables.topics.mappings.row_json(name)
        if table == GROUPS:
            return tables.groups.row_json(name)
        if table == FORBIDDEN:
            return dict(tables.groups.forbidden.get(name, {})) or None
        topic, _, group = name.partition(SEPARATOR)
        return dict(tables.offsets.of(group, topic)) or None

    def _progress(self, table: str) -> Rows:
        """All rows of a table that is written whole."""
        if table == MARKS:
            return {POPPED: self._tables.offsets.popped_to}
        return {str(level): offset for level, offset in self._safe_delays().items()}


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
