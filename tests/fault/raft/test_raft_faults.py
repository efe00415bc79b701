"""A Raft group of real brokers: the leader or a follower killed, stopped, cut off under load.

Every send and every read is checked: nothing acknowledged is lost, nothing that was read is taken
back, nothing is stored twice or out of order, and all logs are the same, byte by byte.

FAULT_ROUNDS=5           that many rounds of all faults, instead of one, in each group, at night
FAULT_NETWORK=loopback   no network namespaces, also where they are possible
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from aerobee.app.chaos.log_check import SentOutcome
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from tests.fault.raft.caller import Caller
from tests.fault.raft.raft_group import GuardedRaftWorld, RaftWorld
from tests.fault.replication.group import NAME, TOPIC, Mode
from tests.hostile.server import pull_fields
from tests.score import show

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))


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
    """A leader that is stopped and goes on believes for a moment that it leads: it acknowledges
    nothing, and shows nobody what was there before."""
    leader = world.raft.leader()
    world.raft.ask(world.others(leader)[0])
    with leader.client() as client:
        client.ask(RequestCode.GET_BROKER_HA_STATUS)  # the connection is one of its time as leader
        leader.freeze()
        try:
            world.raft.leader(leader)
            world.progress()
            pull = pull_fields(TOPIC, "late", 0, queueId=0)
            client.tell(RequestCode.GET_MAX_OFFSET, {**pull, "committed": "true"})
            client.tell(RequestCode.PULL_MESSAGE, pull)
            world.raft.ask(leader)
        finally:
            leader.thaw()
        with contextlib.suppress(ConnectionError):
            while (answer := client.read()) is not None:
                assert answer.code != ResponseCode.SUCCESS, "a read past the lease"
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


def restart_one_after_another(world: RaftWorld) -> None:
    """A leader that stops hands over first: no send is refused for lack of one."""
    world.raft.ask(world.others(world.raft.leader())[0])
    for broker in list(world.group.brokers):
        if world.master is broker:
            world.raft.ask(world.others(broker)[0])
            world.progress(5)
        broker.stop()
        world.progress()
        broker.start(is_master=False)
        world.until_caught_up()


def roll(world: RaftWorld) -> None:
    """Every member is restarted, the one that leads among them, and a client that tries each send
    four times sees no error."""
    said = world.group.run("topic", "create", "rolled", "--queues", "4")
    assert said.status == 0 or "exists" in said.error, said.error
    caller = Caller(world.group.target, "rolled")
    caller.start()
    try:
        for broker in list(world.group.brokers):
            world.raft.ask(world.others(broker)[0])
            world.progress()
            was_leader = world.raft.leader() is broker
            begun = time.monotonic()
            broker.stop()
            stopped = time.monotonic() - begun
            broker.start(is_master=False)
            world.until_caught_up()
            world.progress()
            gap_ms = caller.gap_ms(begun)
            role = "leader" if was_leader else "follower"
            show(f"a {role} that is restarted: {gap_ms:.0f} ms, stopped in {stopped:.1f} s")
    finally:
        caller.end()
    assert not caller.errors, caller.errors
    assert not caller.missing()


def forward_while_stopping(world: RaftWorld) -> None:
    """Clients that do not ask for routes go on with a leader that is stopped, as long as they ask
    it; it ends when they do not."""
    leader = world.raft.leader()
    world.raft.ask(leader)
    world.progress()
    leader.begin_stop()
    successor = world.raft.leader(leader)
    world.progress()
    world.raft.ask(successor)
    leader.until_stopped()
    world.progress()
    leader.start(is_master=False)
    world.until_caught_up()


def transfer(world: RaftWorld) -> None:
    """Clients ask a follower, and see no error."""
    leader = world.raft.leader()
    world.raft.ask(world.others(leader)[0])
    world.progress()
    refused = world.load.count(SentOutcome.REFUSED)
    said = world.group.run("broker", "transfer", NAME)
    assert said.status == 0, said.error
    assert world.raft.leader(leader) is not leader
    world.progress()
    assert world.load.count(SentOutcome.REFUSED) == refused


def kill_minority(world: RaftWorld) -> None:
    """The leader and as many others as a majority can spare, at once."""
    leader = world.raft.leader()
    others = world.others(leader)
    killed = [leader, *world.dice.sample(others, len(others) // 2 - 1)]
    world.raft.ask(next(one for one in others if one not in killed))
    for broker in killed:
        broker.kill()
    world.raft.leader(*killed)
    world.progress()
    for broker in killed:
        broker.start(is_master=False)
    world.until_caught_up()


def freeze_minority(world: RaftWorld) -> None:
    """The same, stopped: all of them wake up in an older term."""
    leader = world.raft.leader()
    others = world.others(leader)
    frozen = [leader, *world.dice.sample(others, len(others) // 2 - 1)]
    world.raft.ask(next(one for one in others if one not in frozen))
    for broker in frozen:
        broker.freeze()
    try:
        world.raft.leader(*frozen)
        world.progress()
    finally:
        for broker in frozen:
            broker.thaw()
    world.progress()
    world.until_caught_up()


def change_members(world: RaftWorld) -> None:
    """A fourth broker joins while clients send, and the leader is removed: it hands over first."""
    raft = world.raft
    joining = raft.start_spare()
    leader = raft.leader()
    raft.ask(world.others(leader, joining)[0])
    said = raft.run("broker", "members", "add", NAME, raft.peer(joining.number))
    assert said.status == 0, said.error
    world.progress()
    world.until_caught_up()
    said = raft.run("broker", "members", "remove", NAME, f"n{leader.number}", "--yes")
    assert said.status == 0, said.error
    assert raft.leader(leader) is not leader
    raft.end(leader)
    world.progress()


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
        transfer,
        forward_while_stopping,
        roll,
        change_members,
        restart_one_after_another,
        kill_minority,
        freeze_minority,
        kill_all,
    )
}


QUICK = (
    "kill_leader",
    "kill_follower",
    "freeze_leader",
    "cut_off_leader",
    "transfer",
    "forward_while_stopping",
    "roll",
    "change_members",
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RaftWorld]:
    """One for all faults: what one leaves behind is the next one's world."""
    one = RaftWorld(tmp_path_factory.mktemp("raft"), Mode(slaves=2, copies=2, spares=1), "raft")
    try:
        yield one
    finally:
        show(one.summary())
        one.close()


@pytest.mark.parametrize("cell", QUICK)
def test_nothing_acknowledged_is_lost_by(world: RaftWorld, cell: str) -> None:
    CELLS[cell](world)
    world.judge()


@pytest.mark.night
@pytest.mark.timeout(14_400)
@pytest.mark.parametrize("slaves", [2, 4])
def test_nothing_acknowledged_is_lost_in_a_night_of_faults(tmp_path: Path, slaves: int) -> None:
    world = RaftWorld(tmp_path, Mode(slaves=slaves, copies=2, spares=1), f"raft {slaves}")
    try:
        for _ in range(ROUNDS):
            for cell in world.dice.sample(sorted(CELLS), len(CELLS)):
                CELLS[cell](world)
                world.judge()
    finally:
        show(world.summary())
        world.close()


GUARDED = ("kill_leader", "freeze_leader", "transfer", "change_members", "kill_all")


@pytest.mark.night
@pytest.mark.timeout(3_600)
def test_nothing_acknowledged_is_lost_by_members_that_ask_for_users_and_speak_tls(
    tmp_path: Path,
) -> None:
    world = GuardedRaftWorld(tmp_path, Mode(slaves=2, copies=2, spares=1), "guarded raft")
    try:
        world.until_nobody_else_gets_in()
        for cell in GUARDED:
            CELLS[cell](world)
            world.judge()
            world.until_nobody_else_gets_in()
    finally:
        show(world.summary())
        world.close()
