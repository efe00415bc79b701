"""SnapshotApplying applies a copy of the master's metadata to this slave's tables and files.

    topics, groups       replaced as a whole, with their version, unless they are older; queue
                         mappings of static topics with the topics
    request modes        replaced
    deleted topics       their queues go, at the master's log offset
    consumer offsets     merged (`copied_offsets`); commits that the master lacks are handed to it
    state files          replaced, delay offsets and timer checkpoint unless they are older

A table or file is older if none of state version, counter and time is higher than in the one that
was copied before, and one is lower: a former master that does not know of its successor has such.
Versions of two masters are not ordered otherwise.

The caller has made sure that everything that the snapshot speaks of is on this slave's disk. One
snapshot is applied at a time: `is_busy` until all of it is saved.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from operator import gt
from typing import NamedTuple, TypeAlias

from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies.assignment import RequestMode
from aerobee.service.broker.replication.metadata.copied_files import CopiedFiles, FileCopy
from aerobee.service.broker.replication.metadata.copied_offsets import OwedCommit, merge_offsets
from aerobee.service.broker.replication.metadata.metadata_round import Known, MetadataSnapshot
from aerobee.service.broker.replication.metadata.slave_state import SlaveState
from aerobee.service.broker.replication.metadata.state_files import WRITE_ORDER
from aerobee.service.broker.state.consumer_offsets import NOTHING_POPPED
from aerobee.service.broker.state.offset_table import Picture
from aerobee.service.broker.state.tables import Tables
from aerobee.storage.metadata.saved_value import Done
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_checkpoint import copied_check, encode_check, version_of

_log = logging.getLogger(__name__)

TOPICS, GROUPS, DELAYS, TIMER = "topics", "groups", "delays", "timer"
"""What has a version, in `SlaveState`."""


TakeModes: TypeAlias = Callable[[Iterable[RequestMode], Done], None]
"""Replaces the request modes (`RequestModes.take_over`)."""


SetCleanup: TypeAlias = Callable[[TopicConfig], object]
"""Tells the store how to clean up a topic, by its attributes."""


class Hooks(NamedTuple):
    """Parts of a broker that are above this room."""

    take_modes: TakeModes
    set_cleanup: SetCleanup
    delete_before: Callable[[str, int], object]
    """Deletes what a topic has before a log offset."""


class _Master(NamedTuple):
    """The master in the last copy."""

    started_ms: int
    offsets: Picture
    log_end: int


class SnapshotApplying:
    def __init__(
        self,
        tables: Tables,
        store: Store,
        state: SlaveState,
        files: CopiedFiles,
        hooks: Hooks,
        owe: Callable[[str, Sequence[OwedCommit]], None],
    ) -> None:
        """`owe` is called with the master's address and the commits that it does not have."""
        self._tables = tables
        self._store = store
        self._state = state
        self._files = files
        self._hooks = hooks
        self._owe = owe
        # Saves of the snapshot that are under way.
        self._pending = 0
        self._master: _Master | None = None
        # Tables that were refused as older; warned of once.
        self._refused: set[str] = set()

    @property
    def is_busy(self) -> bool:
        return self._pending > 0

    def known(self) -> Known:
        """What need not be copied again."""
        state = self._state
        return Known(state.version(TOPICS), state.version(GROUPS), self._files.crcs)

    def apply(self, snapshot: MetadataSnapshot, address: str) -> None:
        """Apply a snapshot of the master at this address; only while not busy."""
        assert self._pending == 0
        last = self._master
        if last is not None and last.started_ms != snapshot.started_ms:
            last = None
        self._pending = 1  # given back at the end: no save is over before all have begun
        self._delete_topics(snapshot)
        self._take_topics(snapshot, 0 if last is None else last.log_end)
        self._take_groups(snapshot)
        if snapshot.modes is not None:
            self._hooks.take_modes(snapshot.modes, self._saving("request modes"))
        self._take_offsets(snapshot, last, address)
        self._take_files(snapshot)
        self._master = _Master(snapshot.started_ms, snapshot.offsets.committed, snapshot.log_end)
        self._pending -= 1

    def forget_master(self) -> None:
        """The next snapshot is of another master."""
        self._master = None

    def _saving(self, what: str, then: Callable[[], None] | None = None) -> Done:
        """The callback of a save that begins now; `then` is called if it succeeds."""
        self._pending += 1

        def done(error: BaseException | None) -> None:
            self._pending -= 1
            if error is not None:
                _log.error("the master's %s were not saved; they are copied again: %s", what, error)
            elif then is not None:
                then()

        return done

    def _may_take(self, what: str, version: DataVersion) -> bool:
        """Whether a table is not older than the one copied before."""
        known = self._state.version(what)
        if known in (None, version) or any(map(gt, version, known or ())):
            self._refused.discard(what)
            return True
        if what not in self._refused:
            self._refused.add(what)
            _log.warning(
                "the master's %s, version %s, are older than those copied before, version %s, and "
                "are not taken: is it still the master?",
                what,
                tuple(version),
                tuple(known or ()),
            )
        return False

    # Topics and groups.

    def _delete_topics(self, snapshot: MetadataSnapshot) -> None:
        for topic, log_offset in snapshot.deleted.items():
            if log_offset <= snapshot.log_end:
                self._delete(topic.decode(), log_offset)

    def _delete(self, topic: str, log_offset: int) -> None:
        """Delete what a topic has before a log offset, unless that was done or the log begins
        later."""
        if log_offset > max(self._store.min_offset, self._store.born_at(topic.encode())):
            self._state.forget_topic(topic)
            self._hooks.delete_before(topic, log_offset)
            config = self._tables.topics.find(topic)
            if config is not None:
                self._hooks.set_cleanup(config)  # which the deletion has made the store forget

    def _take_topics(self, snapshot: MetadataSnapshot, last_end: int) -> None:
        """`last_end`: the end of the master's log in the last copy. A topic that is gone since, and
        of which the master does not say when it was deleted, was deleted later than that."""
        if snapshot.topics is None:
            return
        copied, topics = snapshot.topics.table, self._tables.topics
        if not self._may_take(TOPICS, copied.version):
            return
        before = {config.name: config for config in topics.all()}

        def saved() -> None:
            self._state.took(TOPICS, copied.version)
            for name in before.keys() | copied.rows.keys():
                config = topics.find(name)
                if config is None:
                    self._delete(name, last_end)
                elif config != before.get(name):
                    self._hooks.set_cleanup(config)

        def mapped(error: BaseException | None) -> None:
            if error is None:
                topics.take_over(copied, done)
            else:
                done(error)

        # Mappings first: no logical queue is taken for a physical one in between.
        done = self._saving(TOPICS, saved)
        self._tables.topics.mappings.take_over(snapshot.topics.mappings, mapped)

    def _take_groups(self, snapshot: MetadataSnapshot) -> None:
        copied = snapshot.groups
        if copied is not None and self._may_take(GROUPS, copied.table.version):
            version = copied.table.version
            self._tables.groups.take_over(
                copied.table,
                copied.forbidden,
                self._saving(GROUPS, lambda: self._state.took(GROUPS, version)),
            )

    # Offsets.

    def _take_offsets(self, snapshot: MetadataSnapshot, last: _Master | None, address: str) -> None:
        offsets = self._tables.offsets
        said = snapshot.offsets
        merge = merge_offsets(
            said.committed,
            None if last is None else last.offsets,
            offsets.picture().committed,
            self._state.commits,
            self._max_offset,
        )
        popped_to = said.popped_to
        if popped_to == NOTHING_POPPED:
            # Whatever is popped from now on is counted from here.
            popped_to = 0 if last is None else last.log_end
        offsets.take_over(merge.changed, merge.gone, popped_to)
        for commit in merge.settled:
            self._state.settle(commit)
        self._owe(address, merge.owed)

    def _max_offset(self, topic: str, queue_id: int) -> int:
        queue = self._store.queue(topic.encode(), queue_id)
        return queue.max_offset if queue is not None else 0

    # Files.

    def _take_files(self, snapshot: MetadataSnapshot) -> None:
        copies = [
            FileCopy(name, snapshot.files[name]) for name in WRITE_ORDER if name in snapshot.files
        ]
        taken: dict[str, DataVersion] = {}
        if self._may_take(DELAYS, snapshot.delays.version):
            taken[DELAYS] = snapshot.delays.version
            copies.append(FileCopy("delayOffset.json", snapshot.delays.text()))
        if snapshot.timer_metrics is not None:
            copies.append(FileCopy("timermetrics", snapshot.timer_metrics))
        timer = snapshot.timer
        if timer is not None and self._may_take(TIMER, version_of(timer)):
            taken[TIMER] = version_of(timer)
            content = encode_check(copied_check(timer, timer.taken_in), None)
            copies.append(FileCopy("timercheck", content, is_json=False))

        def saved() -> None:
            for what, version in taken.items():
                self._state.took(what, version)
            if DELAYS in taken:
                self._tables.delay_offsets.took_over(snapshot.delays)

        self._files.begin(copies, self._saving("state files", saved))
