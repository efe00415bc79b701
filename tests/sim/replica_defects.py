"""Mistakes of replication on purpose, one at a time: the test of its tests.

A mistake replaces one function of the product while it is planted. The modules that are replaced
here are plain Python; the product itself has no switch that plants anything. The test that must
notice each of them is in `test_replica_defects.py`.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple

from aerobee.errors import RawRecordRefused
from aerobee.net.dialer import Dialer
from aerobee.replication.in_sync import InSync
from aerobee.replication.incoming_records import IncomingRecords
from aerobee.replication.primary import Primary
from aerobee.replication.replica import CutAt, Follow, Replica
from aerobee.service.broker.replication import role_handlers
from aerobee.service.broker.replication.log_comparison import LogComparison
from aerobee.service.broker.replication.metadata import copied_offsets
from aerobee.service.broker.replication.metadata.metadata_assembly import MetadataAssembly
from aerobee.service.broker.replication.metadata.metadata_copy import MetadataCopy
from aerobee.service.broker.replication.metadata.offset_hand_back import OffsetHandBack
from aerobee.service.broker.replication.metadata.snapshot_applying import SnapshotApplying
from aerobee.service.broker.replication.promotion import Promotion
from aerobee.service.broker.replication.slave_side import SlaveSide
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.versioned_table import VersionedTable
from aerobee.service.nameserver import route_table
from aerobee.storage.commit.confirmation import Confirmation
from aerobee.storage.raw_appender import RawAppender
from aerobee.storage.recover.log_cut import LogCut
from aerobee.storage.store import Store


class Mistake(NamedTuple):
    owner: Any
    name: str
    wrong: Callable[[Any], Any]
    """The wrong function, made from the right one."""


def _always(value: object) -> Callable[[Any], Any]:
    return lambda right: lambda *given, **named: value


# The master.


def _begun_without_doubt(right: Any) -> Any:
    def begin(self: InSync, copy: Any, ack_offset: int, sent_offset: int, *_: object) -> None:
        copy.ack_offset, copy.sent_offset = ack_offset, sent_offset

    return begin


def _deaf_to_silence(right: Any) -> Any:
    def do_due(self: Primary, end: int, monotonic_ms: int, effects: Any) -> None:
        for follower in self._followers.values():
            follower.last_read_ms = monotonic_ms
        right(self, end, monotonic_ms, effects)

    return do_due


def _unsent_taken(right: Any) -> Any:
    def acknowledge(self: InSync, copy: Any, ack_offset: int, now: Any) -> Any:
        copy.sent_offset = max(copy.sent_offset, ack_offset)
        return right(self, copy, ack_offset, now)

    return acknowledge


def _lower_taken(right: Any) -> Any:
    def acknowledge(self: InSync, copy: Any, ack_offset: int, now: Any) -> Any:
        copy.ack_offset = min(copy.ack_offset, ack_offset)
        return right(self, copy, ack_offset, now)

    return acknowledge


def _forgotten(right: Any) -> Any:
    def copied_offset(self: InSync, end: int) -> Any:
        self._copied = 0
        return right(self, end)

    return copied_offset


# The slave.


def _reported_as_read(right: Any) -> Any:
    def report_progress(self: Replica, now: Any, effects: Any) -> None:
        incoming = self._incoming
        if incoming is not None and incoming.next_offset > self._acknowledged:
            self._report(incoming.next_offset, now, effects)

    return report_progress


def _unsynced(right: Any) -> Any:
    """As if this broker flushed asynchronously."""

    def told(self: Replica, now: Any, effects: Any) -> None:
        self._acks_flushed, before = False, self._acks_flushed
        right(self, now, effects)
        self._acks_flushed = before

    return told


def _at_any_offset(right: Any) -> Any:
    def take(self: IncomingRecords, log_offset: int, data: memoryview) -> None:
        right(self, self.next_offset, data)

    return take


def _unchecked(right: Any) -> Any:
    def append(self: RawAppender, log_offset: int, data: memoryview) -> int:
        try:
            return int(right(self, log_offset, data))
        except RawRecordRefused:
            done = self._log.end_offset() - log_offset
            self._log.append_raw(data, done, len(data) - done, 0)
            return len(data)

    return append


def _uncompared(right: Any) -> Any:
    def placed(self: LogComparison, begin: int, end: int) -> Any:
        yield from ()
        return Follow(self._log.end_offset)

    return placed


def _dropped(right: Any) -> Any:
    def go_on(self: IncomingRecords) -> None:
        self.end_offset, self.busy = self.next_offset, None
        self._head = bytearray()

    return go_on


def _impatient(right: Any) -> Any:
    def append(self: IncomingRecords, data: memoryview) -> int:
        taken = self._log.append_raw(self.end_offset, data)
        self.end_offset += taken
        return taken

    return append


def _before_comparison(right: Any) -> Any:
    def init(self: SlaveSide, store: Store, *given: Any) -> None:
        right(self, store, *given)
        store.confirmation.note_copied(store.end_offset)

    return init


# Tables.


def _commits_overruled(right: Any) -> Any:
    def with_commits(key: Any, said: Any, last: Any, here: Any, merge: Any) -> Any:
        right(key, said, last, here, merge)
        merge.settled.extend(merge.owed)
        merge.owed.clear()
        return said

    return with_commits


def _at_once(right: Any) -> Any:
    def apply_held(self: MetadataCopy, now: Any) -> None:
        held = self._held
        if held is not None and not self._applying.is_busy:
            self._held = None
            self._applying.apply(held.snapshot, held.address)

    return apply_held


def _any_term(right: Any) -> Any:
    def register(self: Any, registration: Any, *given: Any) -> Any:
        version = registration.upload.version._replace(state_version=1 << 40)
        upload = replace(registration.upload, version=version)
        return right(self, registration._replace(upload=upload), *given)

    return register


class ReplicaDefect(Enum):
    ACKNOWLEDGED_BEFORE_COPIED = Mistake(
        InSync, "copied_offset", lambda right: lambda self, end: end
    )
    SLAVE_COUNTED_TWICE = Mistake(InSync, "begin", _begun_without_doubt)
    SLAVE_FAR_BEHIND_COUNTED = Mistake(
        InSync, "count", lambda right: lambda self, end: 1 + self.connected()
    )
    SILENT_SLAVE_COUNTED_FOR_EVER = Mistake(Primary, "_do_due", _deaf_to_silence)
    UNSENT_BYTES_ACKNOWLEDGED = Mistake(InSync, "acknowledge", _unsent_taken)
    ACKNOWLEDGEMENT_GOES_BACK = Mistake(InSync, "acknowledge", _lower_taken)
    COPIED_OFFSET_FALLS = Mistake(InSync, "copied_offset", _forgotten)
    REFUSED_AFTER_APPEND = Mistake(InSync, "shortage", _always(""))
    EMPTY_SLAVE_GETS_LAST_FILE = Mistake(
        Primary, "_first_offset", lambda right: lambda self, end: end - end % self._file_bytes
    )
    UNCONFIRMED_SHOWN = Mistake(Store, "_visible_to", lambda right: lambda self: self.end_offset)
    LASTING_AHEAD_OF_COPIES = Mistake(
        Confirmation, "lasting_offset", lambda right: property(lambda self: self._flush.flushed)
    )
    ACKNOWLEDGED_BEFORE_APPEND = Mistake(Replica, "_report_progress", _reported_as_read)
    ACKNOWLEDGED_BEFORE_FLUSH = Mistake(Replica, "_report_progress", _unsynced)
    FIRST_REPORT_BEFORE_FLUSH = Mistake(Replica, "_report_first", _unsynced)
    APPENDED_AT_WRONG_OFFSET = Mistake(IncomingRecords, "take", _at_any_offset)
    RECORD_NOT_CHECKED = Mistake(RawAppender, "append", _unchecked)
    BUSY_STORE_LOSES_BYTES = Mistake(IncomingRecords, "go_on", _dropped)
    BUSY_STORE_ENDS_LINK = Mistake(IncomingRecords, "_append", _impatient)
    DIVERGED_TAIL_NOT_CUT = Mistake(LogComparison, "_placed", _uncompared)
    CUT_INSIDE_RECORD = Mistake(
        LogComparison, "_cut", lambda right: lambda self, at: CutAt(at + 1, "other records")
    )
    CUT_ANYWHERE = Mistake(LogCut, "_require_boundary", _always(0))
    TAIL_THROWN_AWAY = Mistake(LogCut, "_save_tail", _always(None))
    DIVERGED_TAIL_SHOWN = Mistake(SlaveSide, "__init__", _before_comparison)
    OLDER_TABLE_TAKEN = Mistake(SnapshotApplying, "_may_take", _always(True))
    COMMIT_AT_SLAVE_FORGOTTEN = Mistake(copied_offsets, "_with_commits", _commits_overruled)
    MASTER_SET_BACK_BY_HAND_BACK = Mistake(OffsetHandBack, "_is_lower", _always(True))
    TABLES_AHEAD_OF_LOG = Mistake(MetadataCopy, "_apply_held", _at_once)
    TABLES_COPIED_LATE = Mistake(MetadataAssembly, "copy_soon", _always(None))
    TABLES_COPIED_BEHIND_PROMOTION = Mistake(MetadataAssembly, "hold", _always(None))
    OFFSETS_NOT_CUT_WITH_LOG = Mistake(ConsumerOffsets, "cut_log", _always(None))
    DEAD_CONNECTION_KEPT = Mistake(Dialer, "_note_silence", _always(None))
    PROMOTED_SLAVE_KEEPS_FOLLOWING = Mistake(
        role_handlers, "Rebuild", lambda right: lambda reason, role: right(reason)
    )
    TERM_NOT_RAISED = Mistake(
        VersionedTable, "in_next_term", lambda right: lambda self, wall_ms: self
    )
    OLD_MASTER_ACCEPTED = Mistake(route_table.RouteTable, "register", _any_term)
    TOPIC_WITHOUT_CONFIG_LOST = Mistake(Promotion, "_missing", _always([]))


@contextmanager
def planted(defect: ReplicaDefect) -> Iterator[None]:
    """Have the product make this mistake."""
    owner, name, wrong = defect.value
    right = inspect.getattr_static(owner, name)
    setattr(owner, name, wrong(right))
    try:
        yield
    finally:
        setattr(owner, name, right)
