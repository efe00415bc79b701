"""Faults of brokers, processes and links: each with its measured effect, and progress around it.

A cell begins and ends with a group in which every slave follows. What is promised meanwhile depends
on the mode: with enough slaves left, or without copies, sends go on; else they are refused before
anything is stored.
"""

import statistics
import time
from collections.abc import Callable, Mapping

from aerobee.app.chaos.log_check import SentOutcome
from tests.fault.replication.group import SILENCE_SECONDS, SLAVE_TIMEOUT_SECONDS, Broker
from tests.fault.replication.rogue_peer import rogue_peers
from tests.fault.replication.world import World

SLOW_BYTES_A_SECOND = 1 << 20
FLAPS = 3
MEMORY_BYTES_MAX = 64 << 20
_SLOW_SECONDS = 3.0


def kill_slave(world: World) -> None:
    slave = world.a_slave()
    slave.kill()
    world.goes_on_or_refuses()
    slave.start(is_master=False)
    world.until_caught_up()


def freeze_slave(world: World) -> None:
    slave = world.a_slave()
    slave.freeze()
    try:
        world.until_fewer_count()
        world.goes_on_or_refuses()
        assert slave.is_frozen()
    finally:
        slave.thaw()
    world.until_caught_up()


def freeze_master(world: World) -> None:
    world.master.freeze()
    try:
        world.wait(0.5)
        before = world.load.count()
        world.wait(SILENCE_SECONDS + 0.5)
        assert world.load.count() == before, "a stopped master acknowledges nothing"
    finally:
        world.master.thaw()
    world.progress()
    world.until_caught_up()


def cut_link(world: World) -> None:
    """Half-open: nobody is told, and both sides find out by silence."""
    slave = world.a_slave()
    world.network.cut(slave.number)
    try:
        world.wait(0.3)  # for what was on the way
        before = slave.log_end()
        world.until_fewer_count()
        world.goes_on_or_refuses()
        assert slave.log_end() == before, "a cut link carries nothing"
    finally:
        world.network.join(slave.number)
    world.until_caught_up()


def flap_link(world: World) -> None:
    """A second without, a second with."""
    slave = world.a_slave()
    for _ in range(FLAPS):
        world.network.cut(slave.number)
        try:
            world.wait(0.3)
            before = slave.log_end()
            world.wait(0.7)
            is_stopped = slave.log_end() == before
        finally:
            world.network.join(slave.number)
        assert is_stopped, "a cut link carries nothing"
        world.wait(1)
    world.progress()
    world.until_caught_up()


def slow_link(world: World) -> None:
    """A link of 1 MiB/s under a load of several: the others do not notice."""
    slave = world.a_slave()
    world.network.limit(slave.number, SLOW_BYTES_A_SECOND)
    memory = world.master.own_bytes()
    try:
        with world.load.heavier(body_bytes=20_000, pause_seconds=0.01):
            answers = len(world.load.answer_seconds)
            if world.mode.spare > 0:
                world.until_behind(slave, 1 << 20)
            world.wait(_SLOW_SECONDS)
            taken = world.load.answer_seconds[answers:]
            if world.mode.spare > 0:
                assert statistics.quantiles(taken, n=100)[98] < SLAVE_TIMEOUT_SECONDS
            else:
                assert max(taken) < SLAVE_TIMEOUT_SECONDS + 2
                assert statistics.median(taken) > 0.02, "a slow slave is waited for"
        assert world.master.own_bytes() - memory < MEMORY_BYTES_MAX
    finally:
        world.network.limit(slave.number, 0)
    world.until_caught_up()
    world.progress()


def kill_all(world: World) -> None:
    """Master and slaves at once: what was acknowledged is in the page cache of this machine."""
    for broker in world.group.brokers:
        broker.kill()
    for broker in world.group.brokers:
        broker.start(is_master=broker is world.master)
    world.until_caught_up()
    world.progress()


def kill_master(world: World) -> None:
    """The longest slave takes over, and the old master follows it."""
    world.master.kill()
    lost_s = time.monotonic()
    follow_new_master(world, world.group.promote(), lost_s)


def kill_master_with_one_behind(world: World) -> None:
    """A slave that lacks what the others have is not the one that takes over. What the old master
    has alone is cut off when it returns."""
    slave = world.a_slave()
    world.network.cut(slave.number)
    try:
        if world.mode.spare > 0:
            world.until_behind(slave, 20_000)
        else:
            world.wait(0.5)
        world.master.kill()
        lost_s = time.monotonic()
        old = world.group.promote()
    finally:
        world.network.join(slave.number)
    follow_new_master(world, old, lost_s)
    if world.mode.slaves == 1:
        assert (old.store / "diverged").is_dir(), (
            "the old master had something that nobody else had"
        )


def follow_new_master(world: World, old: Broker, lost_s: float) -> None:
    """Judge the change, and have the old master follow."""
    if world.mode.spare > 0:
        world.progress()
    world.judge_change(lost_s)
    world.group.bring_back(old)
    world.until_caught_up()
    world.progress()


CELLS: Mapping[str, Callable[[World], None]] = {
    cell.__name__: cell
    for cell in (
        kill_slave,
        freeze_slave,
        freeze_master,
        cut_link,
        flap_link,
        slow_link,
        kill_all,
        kill_master,
        kill_master_with_one_behind,
        rogue_peers,
    )
}


def run_cell(world: World, name: str) -> None:
    """Progress, the fault, progress, judgement."""
    world.progress()
    CELLS[name](world)
    world.progress()
    world.judge()
    refused = world.load.count(SentOutcome.REFUSED)
    assert world.load.count() > refused // 100, "hardly anything was acknowledged"
