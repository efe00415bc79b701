"""A Raft group of three real brokers: the leader or a follower killed, stopped, cut off under load.

Every send and every read is checked: nothing acknowledged is lost, nothing that was read is taken
back, nothing is stored twice or out of order, and all logs are the same, byte by byte.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.fault.raft.raft_group import RaftWorld
from tests.fault.replication.group import Mode
from tests.score import show

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "5"))


def kill_leader(world: RaftWorld) -> None:
    leader = world.raft.leader()
    world.raft.ask(world.others(leader)[0])
    killed = time.monotonic()
    leader.kill()
    world.raft.leader(leader)
    show(f"a new leader after {time.monotonic() - killed:.2f} s")
    world.progress()
    leader.start(is_master=False)
    world.progress()
    world.until_caught_up()


def kill_leader_that_clients_ask(world: RaftWorld) -> None:
    """Clients lose their connections and ask another one."""
    leader = world.raft.leader()
    world.raft.ask(leader)
    world.progress()
    leader.kill()
    world.raft.ask(world.others(leader)[0])
    world.progress()
    leader.start(is_master=False)
    world.until_caught_up()


def kill_follower(world: RaftWorld) -> None:
    leader = world.raft.leader()
    follower = world.others(leader)[0]
    world.raft.ask(leader)
    follower.kill()
    world.progress()
    follower.start(is_master=False)
    world.until_caught_up()


def freeze_leader(world: RaftWorld) -> None:
    """A leader that is stopped and goes on believes for a moment that it leads."""
    leader = world.raft.leader()
    world.raft.ask(world.others(leader)[0])
    leader.freeze()
    try:
        world.raft.leader(leader)
        world.progress()
        world.raft.ask(leader)
    finally:
        leader.thaw()
    world.progress()
    world.until_caught_up()


def cut_off_leader(world: RaftWorld) -> None:
    """Clients reach a leader that reaches nobody: it acknowledges nothing and steps down, and what
    it has appended meanwhile is cut when it returns."""
    if world.why_loopback:
        pytest.skip(f"a cut needs network namespaces: {world.why_loopback}")
    leader = world.raft.leader()
    others = world.others(leader)
    world.raft.ask(leader)
    world.progress()
    world.network.lead(leader.number)
    for broker in others:
        world.network.cut(broker.number)
    try:
        world.raft.leader(leader)
        world.raft.ask(others[0])
        world.progress()
    finally:
        for broker in others:
            world.network.join(broker.number)
    world.until_caught_up()


def kill_all(world: RaftWorld) -> None:
    for broker in world.group.brokers:
        broker.kill()
    for broker in world.group.brokers:
        broker.start(is_master=False)
    world.progress()
    world.until_caught_up()


CELLS: Mapping[str, Callable[[RaftWorld], None]] = {
    cell.__name__: cell
    for cell in (
        kill_leader,
        kill_follower,
        freeze_leader,
        cut_off_leader,
        kill_leader_that_clients_ask,
        kill_all,
    )
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RaftWorld]:
    """One for all faults: what one leaves behind is the next one's world."""
    one = RaftWorld(tmp_path_factory.mktemp("raft"), Mode(slaves=2, copies=2), "raft")
    try:
        yield one
    finally:
        show(one.summary())
        one.close()


@pytest.mark.parametrize("cell", CELLS)
def test_nothing_acknowledged_is_lost_by(world: RaftWorld, cell: str) -> None:
    CELLS[cell](world)
    world.judge()
