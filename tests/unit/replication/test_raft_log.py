"""RaftLog: groups of real commit logs, which the core of Raft keeps the same, byte by byte."""

import pytest

from aerobee.errors import Misuse, RaftBroken
from aerobee.model.names import RAFT_TOPIC
from aerobee.protocol.message.durable_mark_slots import NO_BOUND, newest_slot
from aerobee.raft.epoch_bytes import decode_epoch
from aerobee.raft.epochs import Epoch
from aerobee.raft.membership import AddLearner, Promote, voters
from aerobee.raft.messages import Records
from aerobee.raft.ready import Control
from aerobee.replication.raft_log import RaftLog
from tests.raft_kit import RaftGroup
from tests.replica_kit import log_bytes
from tests.store_kit import ROOT, SMALL, SMALL_SYNC, StoreKit, bodies_of, draft

BODIES = [b"%d" % number * 600 for number in range(9)]


def test_followers_have_the_leaders_log_byte_by_byte_over_several_files() -> None:
    group = RaftGroup(3)
    group.elect(1)
    for body in BODIES:
        group[1].send(body)
        group.settle()
    logs = [log_bytes(group[number].kit.store) for number in (1, 2, 3)]
    assert len(logs[0]) > SMALL.log_file_bytes
    assert logs[0] == logs[1] == logs[2]
    for number in (1, 2, 3):
        assert group[number].bodies() == BODIES


def test_nobody_reads_what_is_not_committed() -> None:
    group = RaftGroup(3)
    group.elect(1)
    group[1].send(b"first")
    group.settle()
    group[1].send(b"second")
    group.settle(2, 3)
    assert group[1].log.synced == group[1].kit.store.end_offset
    assert group[1].bodies() == [b"first"]
    group.beat(1)
    group.beat(1)
    assert group[1].bodies() == group[2].bodies() == [b"first", b"second"]


def test_the_tail_of_a_deposed_leader_is_cut_and_saved() -> None:
    group = RaftGroup(3)
    group.elect(1)
    group[1].send(b"kept")
    group.settle()
    end = group[1].kit.store.end_offset
    group[1].send(b"on one disk only")
    group.post.clear()
    group[1].kill()
    group.elect(2, 1)
    group[2].send(b"after the election")
    group.settle(1)
    group[1].restart()
    group.beat(2)
    group.beat(2)
    assert group[1].cuts == [end]
    assert log_bytes(group[1].kit.store) == log_bytes(group[2].kit.store)
    assert group[1].bodies() == [b"kept", b"after the election"]
    assert group[1].kit.disk.list_directory(f"{ROOT}/diverged")


def test_a_group_goes_on_after_a_power_cut_of_all() -> None:
    group = RaftGroup(3)
    group.elect(1)
    group[1].send(b"acknowledged")
    group.settle()
    for number in (1, 2, 3):
        group[number].restart(group[number].kit.disk.power_cut())
    group.post.clear()
    group.elect(3)
    group[3].send(b"and on")
    group.settle()
    for number in (1, 2, 3):
        assert group[number].bodies() == [b"acknowledged", b"and on"]


def test_a_single_broker_becomes_a_group_and_its_log_stays_as_it_is() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    for body in BODIES:
        kit.append(draft(body=body))
    kit.settle()
    before = log_bytes(kit.store)
    group = RaftGroup(1, kits={1: kit})
    group.elect(1)
    for number in (2, 3):
        group.join(number)
        assert group[1].node.change_members(AddLearner(number, "")) == ""
        group[1].work(b"")
        group.beat(1)
        group.beat(1)
        assert group[1].node.change_members(Promote(number)) == ""
        group[1].work(b"")
        group.beat(1)
    logs = [log_bytes(group[number].kit.store) for number in (1, 2, 3)]
    assert logs[0].startswith(before)
    assert logs[0] == logs[1] == logs[2]
    group[1].kill()
    group.elect(2, 1)
    assert group[2].bodies() == BODIES


def test_a_control_record_is_a_message_that_tells_its_epoch() -> None:
    group = RaftGroup(3)
    group.elect(1)
    group[1].send(b"a body")
    group.settle()
    store = group[2].kit.store
    store.dispatch()
    (body,) = bodies_of(store, RAFT_TOPIC.encode())
    assert decode_epoch(body, 0) == (Epoch(0, 1, voters(1, 2, 3)), len(body))


def test_an_epoch_that_begins_elsewhere_is_not_written() -> None:
    log = RaftLog(StoreKit(config=SMALL_SYNC).store, 0)
    with pytest.raises(RaftBroken, match="an epoch at 7"):
        log.append_control(Control(7, 1, voters(1)), 0)


def test_a_store_that_has_copied_is_opened_anew_before_it_leads() -> None:
    leader = StoreKit(config=SMALL_SYNC)
    leader.append(draft())
    data = log_bytes(leader.store)
    log = RaftLog(StoreKit(config=SMALL_SYNC).store, 0)
    assert not log.has_copied
    log.append_records(Records(1, 0, len(data), 0, 1, None, 0, 0), memoryview(data))
    assert log.has_copied
    with pytest.raises(Misuse, match="open it anew"):
        log.append_control(Control(len(data), 2, voters(1)), 0)


def test_records_that_end_inside_one_stop_the_node() -> None:
    leader = StoreKit(config=SMALL_SYNC)
    leader.append(draft())
    data = log_bytes(leader.store)[:-1]
    log = RaftLog(StoreKit(config=SMALL_SYNC).store, 0)
    with pytest.raises(RaftBroken, match="end inside one"):
        log.append_records(Records(1, 0, len(data), 0, 1, None, 0, 0), memoryview(data))


def test_a_range_that_the_log_does_not_have_is_not_sent() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    kit.append(draft())
    log = RaftLog(kit.store, 0)
    with pytest.raises(RaftBroken, match="no bytes at"):
        log.slices(0, kit.store.end_offset + 1)


def test_what_an_earlier_life_knew_to_be_committed_can_be_read_at_once() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    kit.append(draft(body=b"first"))
    first_end = kit.store.end_offset
    kit.append(draft(body=b"second"))
    again = kit.reopen()
    log = RaftLog(again.store, first_end)
    assert log.bounds().commit == first_end
    again.store.dispatch()
    assert again.store.confirmation.confirmed_offset == first_end
    log.note_commit(again.store.end_offset)
    assert again.store.confirmation.confirmed_offset == again.store.end_offset


def confirmed_in_files(kit: StoreKit) -> int:
    """As whoever reads the files of a running broker finds it."""
    found = newest_slot(memoryview(kit.disk.read(f"{ROOT}/durable_mark")))
    assert found is not None
    return found[0].confirmed


def test_the_durable_mark_says_how_far_the_log_is_committed() -> None:
    group = RaftGroup(3)
    group.elect(1)
    group[1].send(b"first")
    group.settle()
    group.beat(1)
    committed = group[1].log.committed
    for number in (1, 2, 3):
        group[number].kit.step()
        assert confirmed_in_files(group[number].kit) == committed
    group[1].send(b"on one disk only")
    group.settle(2, 3)
    group[1].kit.step()
    assert group[1].log.synced > committed
    assert confirmed_in_files(group[1].kit) == committed


def test_a_single_broker_says_that_all_of_its_log_counts_until_it_is_a_member() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    kit.append(draft(body=b"alone"))
    kit.step()
    assert confirmed_in_files(kit) == NO_BOUND
    kit = kit.reopen()
    RaftLog(kit.store, kit.store.confirmed_at_start)
    assert confirmed_in_files(kit) == kit.store.end_offset
    again = kit.reopen()  # as that of a broker without a group
    again.append(draft(body=b"alone again"))
    again.step()
    assert confirmed_in_files(again) == NO_BOUND
