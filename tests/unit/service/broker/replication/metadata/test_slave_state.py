import logging

import pytest

from aerobee.model.topic import DataVersion
from aerobee.service.broker.replication.metadata.copied_offsets import OwedCommit
from aerobee.service.broker.replication.metadata.slave_state import COMMITS_MAX, SAVE_MS, SlaveState
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile

PATH = "store/config/slaveState.json"
VERSION = DataVersion(0, 7, 100)
PRESENT = {"topics": VERSION, "groups": VERSION}


class Rig:
    def __init__(
        self,
        disk: SimDisk | None = None,
        offsets: dict[tuple[str, str, int], int] | None = None,
        present: dict[str, DataVersion] | None = None,
        commits_max: int = COMMITS_MAX,
    ) -> None:
        self.disk = disk or SimDisk()
        self.clock = SimClock()
        self.worker = SimDiskWorker()
        table = offsets or {}
        self.state = SlaveState(
            ConfigFile(self.disk, PATH),
            self.worker,
            PRESENT if present is None else present,
            lambda group, topic, queue_id: table.get((group, topic, queue_id), -1),
            self.clock.now(),
            commits_max=commits_max,
        )

    def save(self) -> None:
        self.state.saving.on_tick(self.clock.advance(SAVE_MS))
        self.worker.run_all()
        self.worker.collect()


def test_versions_and_commits_are_known_after_a_restart() -> None:
    rig = Rig()
    assert rig.state.version("topics") is None
    rig.state.took("topics", VERSION)
    rig.state.note_commit("Orders", "g", 3, 12)
    rig.save()
    again = Rig(rig.disk.power_cut(), {("g", "Orders", 3): 12}).state
    assert (again.version("topics"), again.version("groups")) == (VERSION, None)
    assert again.commits == {("Orders", "g"): {3: 12}}


def test_a_broker_that_was_a_master_meanwhile_has_copied_nothing() -> None:
    rig = Rig()
    rig.state.took("topics", VERSION)
    rig.state.note_commit("Orders", "g", 3, 12)
    rig.save()
    again = Rig(rig.disk, {("g", "Orders", 3): 14}, {"topics": VERSION.next(5)}).state
    assert again.version("topics") is None
    assert again.commits == {}


def test_the_file_is_written_when_something_changed() -> None:
    rig = Rig()
    rig.save()
    assert not rig.disk.exists(PATH)
    rig.state.took("topics", VERSION)
    rig.save()
    calls = len(rig.disk.faults.calls)
    rig.state.took("topics", VERSION)
    rig.save()
    assert len(rig.disk.faults.calls) == calls


def test_a_save_that_failed_is_tried_again() -> None:
    rig = Rig()
    rig.disk.faults.fail_sync(f"{PATH}*")
    rig.state.took("topics", VERSION)
    rig.save()
    assert not rig.disk.exists(PATH)
    rig.save()
    assert Rig(rig.disk).state.version("topics") == VERSION


def test_the_end_saves_what_is_new() -> None:
    rig = Rig()
    rig.state.took("groups", VERSION)
    rig.state.saving.close(rig.clock.now())
    assert Rig(rig.disk).state.version("groups") == VERSION


def test_a_settled_commit_is_forgotten_but_not_a_later_one() -> None:
    state = Rig().state
    for queue_id in (0, 1):
        state.note_commit("Orders", "g", queue_id, 5)
    state.note_commit("Orders", "g", 1, 6)
    for queue_id in (0, 1, 2):
        state.settle(OwedCommit("Orders", "g", queue_id, 5))
    assert state.commits == {("Orders", "g"): {1: 6}}
    state.settle(OwedCommit("Orders", "g", 1, 6))
    assert state.commits == {}


def test_commits_in_a_deleted_topic_are_forgotten() -> None:
    state = Rig().state
    state.note_commit("Orders", "g", 0, 5)
    state.note_commit("Bills", "g", 0, 5)
    state.forget_topic("Orders")
    assert state.commits == {("Bills", "g"): {0: 5}}


def test_offsets_of_the_brokers_own_groups_are_the_masters() -> None:
    state = Rig().state
    state.note_commit("rmq_sys_REVIVE_LOG_C", "CID_RMQ_SYS_REVIVE_GROUP", 0, 5)
    state.note_commit("RMQ_SYS_TRANS_HALF_TOPIC", "CID_RMQ_SYS_TRANS", 0, 5)
    assert state.commits == {}


def test_there_is_a_limit_of_commits(caplog: pytest.LogCaptureFixture) -> None:
    state = Rig(commits_max=2).state
    with caplog.at_level(logging.WARNING):
        for queue_id in range(4):
            state.note_commit("Orders", "g", queue_id, 5)
    assert state.commits == {("Orders", "g"): {0: 5, 1: 5}}
    assert len(caplog.records) == 1
    state.note_commit("Orders", "g", 1, 6)
    state.settle(OwedCommit("Orders", "g", 0, 5))
    state.note_commit("Orders", "g", 3, 7)
    assert state.commits == {("Orders", "g"): {1: 6, 3: 7}}


@pytest.mark.parametrize(
    "content", [b"{", b'{"versions":{"topics":7}}', b'{"commits":{"Orders@g":{"0":"x"}}}']
)
def test_a_damaged_file_is_treated_as_missing(
    content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    disk = SimDisk()
    disk.replace(PATH, content)
    with caplog.at_level(logging.WARNING):
        state = Rig(disk).state
    assert (state.version("topics"), state.commits) == (None, {})
    assert len(caplog.records) == 1
