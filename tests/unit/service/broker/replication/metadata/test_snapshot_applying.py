import logging
from collections.abc import Iterable, Sequence

import pytest

from aerobee.model.group import GroupConfig
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies.assignment import RequestMode
from aerobee.service.broker.config import SETTINGS, BrokerConfig, BrokerIdentity
from aerobee.service.broker.replication.metadata.copied_files import CopiedFiles
from aerobee.service.broker.replication.metadata.copied_offsets import OwedCommit
from aerobee.service.broker.replication.metadata.metadata_round import MetadataSnapshot
from aerobee.service.broker.replication.metadata.slave_state import SlaveState
from aerobee.service.broker.replication.metadata.snapshot_applying import Hooks, SnapshotApplying
from aerobee.service.broker.replication.metadata.table_copy import CopiedGroups, CopiedTopics
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsetsSnapshot
from aerobee.service.broker.state.delay_offsets import CopiedDelayOffsets
from aerobee.service.broker.state.tables import Ground, open_tables
from aerobee.service.broker.state.versioned_table import CopiedTable, VersionedRow
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.storage.metadata.saved_value import Done
from aerobee.storage.timer.timer_checkpoint import TimerCheck, decode_check
from tests.store_kit import ROOT, StoreKit

CONFIG = f"{ROOT}/config"
VERSION = DataVersion(0, 7, 1_000)
MASTER = "10.0.0.1:10911"
CHECK = TimerCheck(5_000, 520, 10, 10, 0, 2_000, 4)


def snapshot(
    *topics: TopicConfig,
    version: DataVersion = VERSION,
    offsets: dict[tuple[str, str], dict[int, int]] | None = None,
    popped_to: int = -1,
    deleted: dict[bytes, int] | None = None,
    files: dict[str, bytes] | None = None,
    delays: DataVersion = VERSION,
    timer: TimerCheck | None = CHECK,
    started_ms: int = 1,
    log_end: int = 0,
) -> MetadataSnapshot:
    rows = {topic.name: VersionedRow(topic) for topic in topics}
    groups = CopiedTable(version, {"g": VersionedRow(GroupConfig("g"))})
    return MetadataSnapshot(
        CopiedTopics(CopiedTable(version, rows), CopiedTable(version, {})),
        CopiedGroups(groups, {}),
        ConsumerOffsetsSnapshot(VERSION, offsets or {}, {}, popped_to),
        CopiedDelayOffsets(delays, {1: delays.counter}),
        [RequestMode("Orders", "g")],
        timer,
        b'{"timingCount":{}}',
        files or {},
        deleted or {},
        started_ms,
        log_end,
    )


class Rig:
    """A slave's tables over a store with ten messages of Orders."""

    def __init__(self) -> None:
        self.kit = StoreKit()
        self.kit.append_many(10)
        self.kit.settle()
        self.store, self.disk, self.worker = self.kit.store, self.kit.disk, self.kit.worker
        now = self.kit.clock.now()
        ground = Ground(self.store, self.disk, self.worker)
        changes = ChangesFile(self.disk, f"{CONFIG}/broker.properties", {})
        live = LiveConfig(BrokerConfig(), SETTINGS, changes, self.worker, {})
        self.tables = open_tables(BrokerIdentity(broker_id=1), live, ground, now)
        file = ground.config_file("slaveState.json")
        self.state = SlaveState(file, self.worker, {}, self.tables.offsets.find, now)
        self.modes: list[RequestMode] = []
        self.cleaned: list[str] = []
        self.deleted: list[tuple[str, int]] = []
        self.owed: list[tuple[str, list[OwedCommit]]] = []
        self.applying = SnapshotApplying(
            self.tables,
            self.store,
            self.state,
            CopiedFiles(self.disk, self.worker, ROOT),
            Hooks(
                self._take_modes,
                lambda topic: self.cleaned.append(topic.name),
                lambda *topic: self.deleted.append(topic),
            ),
            self._owe,
        )

    def _take_modes(self, modes: Iterable[RequestMode], done: Done) -> None:
        self.modes = list(modes)
        done(None)

    def _owe(self, address: str, commits: Sequence[OwedCommit]) -> None:
        self.owed.append((address, list(commits)))

    def apply(self, one: MetadataSnapshot) -> None:
        self.applying.apply(one, MASTER)
        self.finish()

    def finish(self) -> None:
        while self.worker.run_all() + self.worker.collect():
            pass
        assert not self.applying.is_busy

    def has(self, topic: str) -> bool:
        return self.tables.topics.find(topic) is not None


def test_everything_is_taken_over_and_saved() -> None:
    rig = Rig()
    files = {"producerEpochs.json": b'{"epochs":{}}', "stagedRounds.json": b""}
    one = snapshot(TopicConfig("Orders"), offsets={("Orders", "g"): {0: 4}}, files=files)
    rig.applying.apply(one, MASTER)
    assert rig.applying.is_busy
    rig.finish()
    assert rig.has("Orders")
    assert rig.tables.groups.find("g") is not None
    assert rig.modes == [RequestMode("Orders", "g")]
    assert rig.tables.offsets.find("g", "Orders", 0) == 4
    disk = rig.disk.power_cut()
    assert disk.read(f"{CONFIG}/producerEpochs.json") == b'{"epochs":{}}'
    assert b"1:7" in disk.read(f"{CONFIG}/delayOffset.json")
    assert disk.read(f"{CONFIG}/timermetrics") == b'{"timingCount":{}}'
    slaves = CHECK._replace(log_end=0, queue_offset=0)
    assert decode_check(disk.read(f"{CONFIG}/timercheck")) == (slaves, None)
    known = rig.applying.known()
    assert (known.topics, known.groups) == (VERSION, VERSION)
    assert "producerEpochs.json" in known.crcs


def test_delay_offsets_are_told_as_they_were_copied() -> None:
    rig = Rig()
    rig.applying.apply(snapshot(), MASTER)
    assert b"1:7" not in rig.tables.delay_offsets.body(), "they are not saved yet"
    rig.finish()
    assert b"1:7" in rig.tables.delay_offsets.body()
    rig.apply(snapshot(delays=DataVersion(0, 6, 999)))
    assert b"1:7" in rig.tables.delay_offsets.body(), "older ones were refused"


def test_tables_and_files_that_are_older_are_refused_and_told_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()
    rig.apply(snapshot(TopicConfig("New")))
    older = snapshot(
        TopicConfig("Old"),
        version=DataVersion(0, 6, 1_000),
        delays=DataVersion(0, 7, 999),
        timer=CHECK._replace(counter=3, read_ms=1),
    )
    with caplog.at_level(logging.WARNING):
        rig.apply(older)
        rig.apply(older)
    assert (rig.has("New"), rig.has("Old")) == (True, False)
    assert b'"timestamp":1000' in rig.disk.read(f"{CONFIG}/delayOffset.json")
    found = decode_check(rig.disk.read(f"{CONFIG}/timercheck"))
    assert found is not None
    assert found[0].read_ms == CHECK.read_ms
    assert len(caplog.records) == 4
    assert rig.applying.known().topics == VERSION


@pytest.mark.parametrize(
    "version", [DataVersion(1, 0, 0), DataVersion(0, 8, 5), DataVersion(0, 2, 1_001), VERSION]
)
def test_tables_that_are_newer_in_anything_are_taken(version: DataVersion) -> None:
    rig = Rig()
    rig.apply(snapshot(TopicConfig("Old")))
    rig.apply(snapshot(TopicConfig("New"), version=version, delays=version))
    assert (rig.has("New"), rig.has("Old")) == (True, False)
    assert rig.applying.known().topics == version
    assert b"1:%d" % version.counter in rig.disk.read(f"{CONFIG}/delayOffset.json")


def test_the_store_is_told_how_to_clean_up_topics_that_changed() -> None:
    rig = Rig()
    rig.apply(snapshot(TopicConfig("A"), TopicConfig("B")))
    assert {"A", "B"} <= set(rig.cleaned)
    rig.cleaned.clear()
    changed = TopicConfig("B", attributes={"cleanup.policy": "COMPACTION"})
    rig.apply(snapshot(TopicConfig("A"), changed, version=VERSION.next(2_000)))
    assert rig.cleaned == ["B"]


# Deleted topics.


def test_a_deleted_topic_is_deleted_at_the_masters_log_offset_once() -> None:
    rig = Rig()
    end = rig.store.end_offset
    rig.state.note_commit("Orders", "g", 0, 5)
    deleted = {b"Orders": 100, b"Later": end + 1}
    rig.apply(snapshot(deleted=deleted, log_end=end))
    assert rig.deleted == [("Orders", 100)]
    assert rig.state.commits == {}
    rig.store._deletions.delete_before(b"Orders", 100)
    rig.apply(snapshot(deleted=deleted, log_end=end))
    assert rig.deleted == [("Orders", 100)]


def test_a_topic_that_was_made_again_is_cleaned_up_as_before() -> None:
    rig = Rig()
    rig.apply(snapshot(TopicConfig("Orders")))
    rig.cleaned.clear()
    rig.apply(snapshot(TopicConfig("Orders"), deleted={b"Orders": 100}, log_end=300))
    assert (rig.deleted, rig.cleaned) == ([("Orders", 100)], ["Orders"])


def test_a_deletion_before_the_log_begins_says_nothing() -> None:
    rig = Rig()
    rig.apply(snapshot(deleted={b"Orders": 0}, log_end=rig.store.end_offset))
    assert rig.deleted == []


def test_a_topic_that_is_gone_was_deleted_after_the_last_copy() -> None:
    rig = Rig()
    rig.apply(snapshot(TopicConfig("Orders"), log_end=300))
    rig.apply(snapshot(version=VERSION.next(2_000), log_end=500))
    assert rig.deleted == [("Orders", 300)]
    assert not rig.has("Orders")


@pytest.mark.parametrize("is_known", [True, False])
def test_of_a_topic_that_is_gone_nothing_is_deleted_after_a_start_of_the_master(
    is_known: bool,
) -> None:
    rig = Rig()
    rig.apply(snapshot(TopicConfig("Orders"), log_end=300))
    if is_known:
        rig.applying.forget_master()
    later = snapshot(version=VERSION.next(2_000), log_end=500, started_ms=1 if is_known else 2)
    rig.apply(later)
    assert rig.deleted == []
    assert not rig.has("Orders")


# Offsets.


def test_commits_that_the_master_lacks_are_owed_and_others_are_settled() -> None:
    rig = Rig()
    for queue_id, offset in ((0, 8), (1, 2)):
        rig.state.note_commit("Orders", "g", queue_id, offset)
    rig.apply(snapshot(offsets={("Orders", "g"): {0: 4, 1: 3}}))
    assert rig.owed == [(MASTER, [OwedCommit("Orders", "g", 0, 8)])]
    assert rig.state.commits == {("Orders", "g"): {0: 8}}
    assert rig.tables.offsets.find("g", "Orders", 0) == 8


def test_a_reset_counts_if_the_master_was_not_started_meanwhile() -> None:
    for started_ms, result in ((1, 2), (9, 8)):
        rig = Rig()
        rig.apply(snapshot(offsets={("Orders", "g"): {0: 4}}))
        rig.state.note_commit("Orders", "g", 0, 8)
        rig.apply(snapshot(offsets={("Orders", "g"): {0: 2}}, started_ms=started_ms))
        assert rig.tables.offsets.find("g", "Orders", 0) == result


def test_checkpoints_of_pops_are_counted_as_at_the_master() -> None:
    rig = Rig()
    rig.apply(snapshot(popped_to=-1, log_end=300))
    assert rig.tables.offsets.popped_to == 0, "those of the whole log may not be counted"
    rig.apply(snapshot(popped_to=-1, log_end=400))
    assert rig.tables.offsets.popped_to == 300
    rig.apply(snapshot(popped_to=350, log_end=500))
    assert rig.tables.offsets.popped_to == 350


# Failures.


def test_what_could_not_be_saved_is_copied_again(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    for name in ("topics.json", "subscriptionGroup.json", "delayOffset.json"):
        rig.disk.faults.fail_sync(f"{CONFIG}/{name}*")
    with caplog.at_level(logging.ERROR):
        rig.apply(snapshot(TopicConfig("New")))
    assert len(caplog.records) == 3
    assert rig.applying.known() == (None, None, {})
    assert not rig.has("New")
    rig.apply(snapshot(TopicConfig("New")))
    assert rig.has("New")
    assert rig.applying.known()[:2] == (VERSION, VERSION)


def test_a_master_without_a_timer_leaves_the_checkpoint_as_it_is() -> None:
    rig = Rig()
    rig.apply(snapshot(timer=None))
    assert not rig.disk.exists(f"{CONFIG}/timercheck")
