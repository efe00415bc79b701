"""AccessFollowing: a follower's users and rules are those of its group's log.

    record of the leader ─▶ committed ─▶ read here ─▶ saved, in force

A1. Only what is committed is taken, and nothing before all is that this life's log had at its
    start: an older state of the table is never in force again.
A2. The first look begins at the last whole copy. Later records are taken as they come; a copy that
    comes whole replaces the table, so that a change of a deposed leader, which only its own file
    has, is gone.

Called from the core's thread only; a look reads some records and leaves the others to the next.
"""

import logging
from collections.abc import Iterator

from aerobee.errors import ProtocolError, RemoteProtocolError
from aerobee.model.access import Credentials
from aerobee.model.names import TABLES_TOPIC
from aerobee.service.access.access_store import AccessStore
from aerobee.service.broker.replication.raft.access_rows import log_key, read_rows
from aerobee.service.broker.replication.raft.table_change import (
    ACCESS,
    ChangeKind,
    Rows,
    TableChange,
    change_at,
    first_from,
)
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

RECORDS_A_LOOK = 100
REST_MS_MAX = 1_000
_TOPIC = TABLES_TOPIC.encode()


class AccessFollowing:
    def __init__(self, store: Store, access: AccessStore, inner: Credentials, since: int) -> None:
        """The secret of `inner` seals rows. Those before the log offset `since` do not count."""
        self._store = store
        self._access = access
        self._key = log_key(inner)
        self._since = since
        self._end_at_start = store.end_offset
        self._rows: Rows = {}
        self._is_whole = False
        # Rows since the begin of a copy that has not ended.
        self._copy: Rows | None = None
        self._is_busy = False
        self._reading = self._read()

    def on_tick(self) -> None:
        """Take what was committed."""
        for _ in range(RECORDS_A_LOOK):
            self._is_busy = next(self._reading)
            if not self._is_busy:
                break

    def rest_ms(self) -> int:
        return 0 if self._is_busy else REST_MS_MAX

    def _read(self) -> Iterator[bool]:
        """Reads one record a step, without an end; yields whether there may be more."""
        queue = self._queue()
        while queue is None or self._confirmed < self._end_at_start:
            yield False
            queue = self._queue()
        while True:
            try:
                yield from self._follow(queue)
            except ProtocolError as error:
                _log.info("the users of the group are read from a newer copy: %s", error)
                yield False

    def _follow(self, queue: ConsumeQueue) -> Iterator[bool]:
        """ProtocolError: records were deleted before they were read."""
        self._rows, self._is_whole, self._copy = {}, False, None
        oldest = next_offset = first_from(queue, self._since)
        has_end = False
        for offset in reversed(range(oldest, queue.max_offset)):
            kind = self._find(queue, offset).kind
            if has_end and kind is ChangeKind.BEGIN:
                next_offset = offset
                break
            has_end = has_end or kind is ChangeKind.END
            yield True
        while True:
            while next_offset < queue.max_offset and self._is_committed(queue, next_offset):
                self._take(self._find(queue, next_offset))
                next_offset += 1
                yield True
            self._hand_over()
            yield False

    def _queue(self) -> ConsumeQueue | None:
        return self._store.queue(_TOPIC, 0)

    @property
    def _confirmed(self) -> int:
        return self._store.confirmation.confirmed_offset

    def _is_committed(self, queue: ConsumeQueue, offset: int) -> bool:
        unit = queue.unit(offset)
        return unit is None or unit[0] + unit[1] <= self._confirmed

    def _find(self, queue: ConsumeQueue, offset: int) -> TableChange:
        try:
            return change_at(self._store, queue, offset)[0]
        except RemoteProtocolError as error:
            _log.error("the record %d of %s is left out: %s", offset, TABLES_TOPIC, error)
            return TableChange(ChangeKind.CHANGE, {})

    def _take(self, change: TableChange) -> None:
        rows = change.tables.get(ACCESS, {})
        self._rows.update(rows)
        if change.kind is ChangeKind.BEGIN:
            self._copy = {} if ACCESS in change.tables else None
        if self._copy is not None:
            self._copy.update(rows)
            if change.kind is ChangeKind.END:
                self._rows, self._is_whole, self._copy = self._copy, True, None

    def _hand_over(self) -> None:
        """Bring the table to what was read."""
        if not self._rows and not self._is_whole:
            return
        read, is_whole = read_rows(self._rows.items(), self._key), self._is_whole
        self._rows, self._is_whole = {}, False
        if read.unreadable:
            _log.warning("users of the leader are sealed with another secret of the brokers")

        def saved(error: BaseException | None) -> None:
            if error is not None:
                _log.error("the leader's users were not saved; they are read again: %s", error)
                self._reading = self._read()

        self._access.change(lambda known: read.onto(known, is_whole=is_whole), saved)
