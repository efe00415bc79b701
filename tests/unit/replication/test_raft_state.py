import pytest

from aerobee.errors import CorruptFile, StorageError
from aerobee.raft.membership import NOBODY
from aerobee.raft.node import LogBounds
from aerobee.raft.saved_state import first_state
from aerobee.replication.group_config import RaftGroupConfig, RaftPeer
from aerobee.replication.raft_state import RETRY_MS, RaftState, check_single
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker

PEERS = (RaftPeer(0, "a:1"), RaftPeer(1, "b:1"))
CONFIG = RaftGroupConfig(is_on=True, peers=PEERS, node=0)
EMPTY = LogBounds(0, 0, 0, 0)
WITH_RECORDS = LogBounds(0, 500, 500, 0)


def state_on(disk: SimDisk, worker: SimDiskWorker | None = None) -> RaftState:
    disk.make_directory("store")
    return RaftState(disk, worker or SimDiskWorker(), "store")


def test_a_new_member_knows_the_first_members() -> None:
    assert state_on(SimDisk()).load(CONFIG, EMPTY) == first_state(CONFIG.members())


def test_a_broker_that_joins_waits_to_be_added() -> None:
    joins = RaftGroupConfig(is_on=True, peers=PEERS, node=1, joins=True)
    assert state_on(SimDisk()).load(joins, EMPTY) == first_state(NOBODY)


def test_a_store_with_messages_begins_a_group_only_alone() -> None:
    with pytest.raises(StorageError, match="aerobee broker convert"):
        state_on(SimDisk()).load(CONFIG, WITH_RECORDS)
    alone = RaftGroupConfig(is_on=True, peers=PEERS[:1], node=0)
    assert state_on(SimDisk()).load(alone, WITH_RECORDS) == first_state(alone.members())


def test_what_was_saved_is_loaded_by_the_next_process() -> None:
    disk, worker = SimDisk(), SimDiskWorker()
    state = state_on(disk, worker)
    saved = first_state(CONFIG.members())._replace(term=7, vote=1)
    told: list[BaseException | None] = []
    state.save(saved, told.append)
    assert told == []
    worker.run_all()
    worker.collect()
    assert told == [None]
    assert state_on(disk.power_cut()).load(CONFIG, WITH_RECORDS) == saved


def test_a_damaged_file_stops_the_member() -> None:
    disk = SimDisk()
    state = state_on(disk)
    disk.replace(state.path, b"ARft damaged, but long enough to be one")
    with pytest.raises(CorruptFile):
        state.load(CONFIG, EMPTY)


def test_a_state_without_room_waits_for_it() -> None:
    disk, worker = SimDisk(), SimDiskWorker()
    state = state_on(disk, worker)
    saved = first_state(CONFIG.members())._replace(term=7, vote=1)
    told: list[BaseException | None] = []
    disk.capacity_bytes = disk.used_bytes()
    state.save(saved, told.append)
    for now_ms in (0, 10, RETRY_MS):
        worker.run_all()
        worker.collect()
        assert told == []
        disk.capacity_bytes = disk.used_bytes() + (4096 if now_ms == RETRY_MS else 0)
        state.try_again(now_ms)
    worker.run_all()
    worker.collect()
    assert told == [None]
    assert state_on(disk).load(CONFIG, WITH_RECORDS) == saved


def test_a_single_broker_leaves_the_store_of_a_member_alone() -> None:
    disk = SimDisk()
    state = state_on(disk)
    check_single(disk, "store")
    disk.replace(state.path, b"whatever")
    with pytest.raises(StorageError, match="that of a member of a Raft group"):
        check_single(disk, "store")
