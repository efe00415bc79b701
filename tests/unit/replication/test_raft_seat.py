import pytest

from aerobee.errors import RaftBroken
from aerobee.raft.saved_state import first_state
from aerobee.replication.group_config import RaftGroupConfig, RaftPeer
from aerobee.replication.raft_log import RaftLog
from aerobee.replication.raft_seat import RaftSeat
from tests.member_kit import Turns
from tests.store_kit import SMALL_SYNC, StoreKit, draft

CONFIG = RaftGroupConfig(is_on=True, peers=(RaftPeer(0, "a:1"),), node=0)


def test_the_node_lives_on_over_the_lives_of_its_broker() -> None:
    seat = RaftSeat(CONFIG, "g", Turns(0))
    assert seat.is_new
    kit = StoreKit(config=SMALL_SYNC)
    seat.begin_life(RaftLog(kit.store, 0), first_state(CONFIG.members()), 0)
    node = seat.node
    kit = kit.reopen()
    seat.begin_life(RaftLog(kit.store, 0), None, 10)
    assert seat.node is node


def test_a_log_that_the_node_does_not_know_ends_the_member() -> None:
    seat = RaftSeat(CONFIG, "g", Turns(0))
    kit = StoreKit(config=SMALL_SYNC)
    seat.begin_life(RaftLog(kit.store, 0), first_state(CONFIG.members()), 0)
    kit.append(draft())
    kit = kit.reopen()
    with pytest.raises(RaftBroken, match="the node has it up to 0"):
        seat.begin_life(RaftLog(kit.store, 0), None, 10)
