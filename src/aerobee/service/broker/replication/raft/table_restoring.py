"""Opens the tables of a group member: those of a new leader are what its log says of them
(`table_change`), whatever its files have.

    log ─▶ files of topics, groups, producers, … ─▶ tables ◀─ offsets, delays ◀─ log

A follower's files are copies of its leader's, some seconds old, and those of a leader that was
deposed may have changes that nobody else has. Neither counts for what the log says. What a group of
an earlier time has written does not count: its member was a single broker since. Files are
written only if they differ; of offsets and delays the file is written later, as always.

Imports more than 15 modules because it knows every table.
"""

import logging
from collections.abc import Callable, Mapping
from typing import cast

from aerobee.errors import CorruptFile, ProtocolError
from aerobee.model.names import TABLES_TOPIC, TIMER_TOPIC
from aerobee.protocol.text.json_text import Key, Parsed, Value, by_number
from aerobee.replication.raft_seat import RaftSeat
from aerobee.service.access.access_store import FILE, table_of_file
from aerobee.service.access.config import AccessConfig
from aerobee.service.access.table_text import table_json
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.metadata.own_progress import find_timer_check
from aerobee.service.broker.replication.raft.access_rows import log_key, read_rows
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
    LogTables,
    read_log_tables,
)
from aerobee.service.broker.replication.raft.table_rows import READ, TAKEN_IN
from aerobee.service.broker.state.delay_offsets import CopiedDelayOffsets
from aerobee.service.broker.state.offset_table import TopicGroup, parse_key
from aerobee.service.broker.state.tables import Ground, Tables
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_checkpoint import (
    TimerCheck,
    check_path,
    copied_check,
    encode_check,
)

_log = logging.getLogger(__name__)

_FILES = {
    "topics.json": {TOPICS: "topicConfigTable"},
    "topicQueueMapping.json": {MAPPINGS: "topicQueueMappingInfoMap"},
    "subscriptionGroup.json": {GROUPS: "subscriptionGroupTable", FORBIDDEN: "forbiddenTable"},
    "messageRequestMode.json": {MODES: "messageRequestModeMap"},
    "producerEpochs.json": {EPOCHS: "epochs", ROUNDS: "rounds", FINISHED: "finished"},
    "stagedRounds.json": {STAGED: "writes"},
}
"""By file: its tables, and the members that they are."""
_VERSION: Mapping[str, Value] = {"counter": 0, "stateVersion": 0, "timestamp": 0}
_VERSIONED = ("topics.json", "topicQueueMapping.json", "subscriptionGroup.json")


def open_own_tables(
    identity: BrokerIdentity, ground: Ground, open_files: Callable[[], Tables]
) -> Tables:
    """The tables of a broker, which `open_files` opens; of a leader, those of its log. Blocks on
    the disk. CorruptFile: a file or the log is damaged."""
    found: LogTables | None = None
    if identity.raft is not None and identity.is_master:
        try:
            found = read_log_tables(ground.store, group_start(identity.raft))
        except ProtocolError as error:
            raise CorruptFile(error.message, path=f"the topic {TABLES_TOPIC}") from None
    if found is None:
        return open_files()
    for name, members in _FILES.items():
        first = {"dataVersion": _VERSION} if name in _VERSIONED else {}
        _write_file(ground.config_file(name), members, found, first)
    _write_access(ground.config_file(FILE), identity.access, found)
    _write_timer(ground, found)
    _delete_topics(ground.store, found)
    tables = open_files()
    _take_offsets(tables, ground.store, found)
    _take_delays(tables, found)
    return tables


def group_start(seat: RaftSeat) -> int:
    """The log offset at which the group begins."""
    return 0 if seat.is_new else seat.node.log.epochs.first_term_start()


def _write_file(
    file: ConfigFile, members: Mapping[str, str], found: LogTables, first: Mapping[str, Value]
) -> None:
    """`first`: what a file begins with that does not exist yet."""
    loaded = file.load()
    value = {} if loaded is None else cast("dict[str, Value]", dict(loaded.value))
    is_changed = False
    for table, member in members.items():
        before = cast("Mapping[str, Value]", value.get(member) or {})
        after = found.onto(table, before)
        if after != before:
            value[member] = after
            is_changed = True
    if is_changed:
        _log.info("%s is brought to what the log of the group says", file.path)
        file.store({**first, **value})


def _write_access(file: ConfigFile, config: AccessConfig, found: LogTables) -> None:
    """The file of users and rules. Of users whose rows are sealed with another secret than that of
    the settings, what the file has stays."""
    if not config.authenticates or config.inner is None:
        return
    loaded = file.load()
    before = table_of_file(loaded, file.path, config.key)
    read = read_rows(found.rows[ACCESS].items(), log_key(config.inner))
    if read.unreadable:
        _log.warning("users in the log of the group are sealed with another secret of the brokers")
    after = read.onto(before, is_whole=ACCESS in found.whole)
    if after is not before:
        _log.info("%s is brought to what the log of the group says", file.path)
        file.store(table_json(after, config.key))


def _write_timer(ground: Ground, found: LogTables) -> None:
    """The checkpoint of the timer, as a slave has it: the whole queue is processed again."""
    read_ms, taken_in = (found.rows[TIMER].get(name) for name in (READ, TAKEN_IN))
    if not isinstance(read_ms, int) or not isinstance(taken_in, int):
        return
    store, disk = ground.store, ground.disk
    known = find_timer_check(store, disk)
    before = TimerCheck() if known is None else known[0]
    said = before._replace(read_ms=read_ms, queue_offset=0, master_queue_offset=taken_in)
    after = copied_check(said, _end_of(store, TIMER_TOPIC, 0))
    if after != before:
        disk.replace(check_path(store.root), encode_check(after, None))


def _delete_topics(store: Store, found: LogTables) -> None:
    """Messages of topics that were deleted are dead here, too; of one that was made again since,
    those of its first life."""
    for topic, log_offset in found.deleted.items():
        if log_offset > max(store.min_offset, store.born_at(topic.encode())):
            is_there = found.rows[TOPICS].get(topic) is not None
            store.delete_topic(topic.encode(), before=log_offset if is_there else None)


def _take_offsets(tables: Tables, store: Store, found: LogTables) -> None:
    offsets = tables.offsets
    own = offsets.picture().committed
    changed: dict[TopicGroup, Mapping[int, int]] = {}
    named: set[TopicGroup] = set()
    for name, row in found.onto(OFFSETS, {}).items():
        key = parse_key(name)
        if key is None:
            continue
        named.add(key)
        kept = {
            queue_id: max(0, min(offset, _end_of(store, key[0], queue_id)))
            for queue_id, offset in _numbers(row).items()
        }
        if kept != own.get(key):
            changed[key] = kept
    if OFFSETS in found.whole:
        gone = [key for key in own if key not in named]
    else:
        removed = [parse_key(name) for name, row in found.rows[OFFSETS].items() if row is None]
        gone = [key for key in removed if key in own and key is not None]
    popped_to = found.rows[MARKS].get(POPPED)
    is_told = isinstance(popped_to, int)
    offsets.take_over(changed, gone, cast("int", popped_to) if is_told else offsets.popped_to)


def _take_delays(tables: Tables, found: LogTables) -> None:
    delays = tables.delay_offsets
    said = _numbers(found.onto(DELAYS, {}))
    delays.took_over(CopiedDelayOffsets(delays.version, {**delays.saved, **said}))


def _numbers(row: Value) -> dict[int, int]:
    return cast("dict[int, int]", by_number(cast("dict[Key, Parsed]", row)))


def _end_of(store: Store, topic: str, queue_id: int) -> int:
    queue = store.queue(topic.encode(), queue_id)
    return queue.max_offset if queue is not None else 0
