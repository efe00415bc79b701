"""Replication over the simulated network, as the product runs it over a real one.

Drivers, HA channels, primary and replica are the product's; time is virtual.
"""

import pytest

from tests.sim.log_copies import SILENCE_MS, Story

LINK_FAULTS = ["cut", "slow", "reset"]
SETTLE_MS = 40_000


def run(story: Story, faults: "list[str]", ms: int = 60_000) -> Story:
    story.run(2_000)
    story.disturb(faults, ms)
    story.heal()
    story.run(SETTLE_MS)
    story.is_loaded = False
    story.run(SETTLE_MS)
    story.judge()
    return story


def test_slaves_follow_a_busy_master() -> None:
    story = Story(1)
    story.run(3_000)
    story.is_loaded = False
    story.run(3_000)
    story.judge()
    assert story.master.log.end_offset > 30_000


@pytest.mark.parametrize("seed", range(10))
def test_a_slave_is_a_prefix_and_follows_again_over_links_that_fail(seed: int) -> None:
    run(Story(seed, acks_flushed=seed % 2 == 0), LINK_FAULTS)


@pytest.mark.parametrize("seed", range(10))
def test_a_slave_is_a_prefix_and_follows_again_after_kills_on_both_sides(seed: int) -> None:
    run(Story(seed), [*LINK_FAULTS, "kill", "kill_master"])


@pytest.mark.parametrize("seed", range(10))
def test_what_is_copied_is_flushed_on_enough_brokers_whatever_fails(seed: int) -> None:
    faults = [*LINK_FAULTS, "kill", "cut_power"]
    run(Story(seed, slaves=2, k=2 + seed % 2), faults)


@pytest.mark.parametrize("seed", range(10))
def test_two_slaves_on_one_host_are_never_counted_as_more_than_they_are(seed: int) -> None:
    run(Story(seed, k=3, is_one_host=True), [*LINK_FAULTS, "kill"])


@pytest.mark.parametrize("seed", range(10))
def test_after_a_power_cut_of_the_master_the_slaves_are_cut_and_follow(seed: int) -> None:
    run(Story(seed), [*LINK_FAULTS, "kill", "cut_power", "cut_power_of_master"])


def test_a_slave_over_a_slow_link_gets_there_and_does_not_hold_up_another() -> None:
    story = Story(5)
    slow = story.slaves[0]
    story.network.link("10.0.0.1", slow.host.name).bytes_per_second = 30_000
    for _ in range(200):
        story.master.log.append(bytes(9_000))
    story.is_loaded = False
    story.run(5_000)
    end = story.master.log.end_offset
    assert story.slaves[1].log.end_offset == end
    assert 0 < slow.log.end_offset < end / 5
    story.run(70_000)
    story.judge()


def test_a_connection_that_is_dead_on_one_side_only_is_found_by_silence() -> None:
    story = Story(3, slaves=1, k=2)
    story.run(2_000)
    slave, primary = story.slaves[0], story.master.primary
    assert primary is not None
    slave.cut_power()
    story.run(SILENCE_MS - 1_500)
    assert primary.in_sync.count(story.master.log.end_offset) == 2
    story.run(3_000)
    assert primary.in_sync.count(story.master.log.end_offset) == 1
    assert primary.in_sync.shortage(story.master.log.end_offset)
    slave.start()
    story.is_loaded = False
    story.run(10_000)
    story.judge()


def test_a_slave_that_comes_back_beside_its_dead_connection_is_one_copy() -> None:
    story = Story(4, k=3, is_one_host=True)
    story.run(2_000)
    back, gone = story.slaves
    gone.kill()
    story.run(1_000)
    story.is_loaded = False  # the master writes nothing that a dead connection would answer
    story.run(500)
    assert back.log.flushed_offset > gone.log.end_offset
    back.cut_power()
    back.start()
    story.run(100)
    primary, end = story.master.primary, story.master.log.end_offset
    assert primary is not None
    assert len(primary.statuses(story.master.host.clock.now())) == 2
    assert primary.in_sync.count(end) == 2
    copied = primary.in_sync.copied_offset(end)
    assert copied is not None
    assert copied <= gone.log.end_offset
    gone.start()
    story.run(10_000)
    story.judge()


def test_a_slave_whose_log_the_master_has_deleted_says_so_and_does_not_spin() -> None:
    story = Story(7, slaves=1)
    story.run(1_000)
    slave = story.slaves[0]
    slave.kill()
    for _ in range(100):
        story.master.log.append(bytes(9_000))
    end = story.master.log.end_offset
    story.master.log.delete_to(end - end % 20_000)
    slave.start()
    story.run(30_000)
    assert slave.replica is not None
    status = slave.replica.status(slave.host.clock.now())
    assert status.why_not == "away for too long"
    assert status.state.name in ("WAITING", "CONNECTING")


def test_a_story_is_told_the_same_way_twice() -> None:
    ends = []
    for _ in range(2):
        story = run(Story(11, k=2), [*LINK_FAULTS, "kill", "cut_power"], 20_000)
        ends.append((story.master.log.end_offset, story.held_max, story.timeline.pending))
    assert ends[0] == ends[1]
