import asyncio
from pathlib import Path

import pytest

from aerobee.app.chaos.chaos import LEADER, Chaos, ChaosPlan, Event
from aerobee.app.chaos.cluster import ChaosRefused, Fault
from aerobee.app.chaos.own_cluster import own_cluster
from tests.net_kit import in_loop
from tests.score import show


def test_a_broker_alone_loses_nothing_by_a_kill_and_a_wrong_clock(tmp_path: Path) -> None:
    async def test() -> None:
        told: list[Event] = []
        stop = asyncio.Event()

        def tell(event: Event) -> None:
            told.append(event)
            if len(told) == 2:
                stop.set()

        faults = [Fault.KILL, Fault.CLOCK]
        plan = ChaosPlan(faults, seconds=1_000, calm_seconds=0.0, rate=100, senders=2, hold=0.1)
        async with own_cluster(tmp_path, 1, "no disk is needed") as cluster:
            outcome = await Chaos(plan, cluster, tell, stop).run()
        assert {one.fault for one in told} == set(faults)
        assert {one.role for one in told} == {LEADER}
        (kill,) = [one for one in told if one.fault is Fault.KILL]
        assert kill.gap > 0.1
        assert outcome.events == told
        assert outcome.verdict.counts.is_sound, outcome.verdict
        assert outcome.verdict.counts.acknowledged == len(outcome.acknowledged) > 0

    in_loop(test)


def test_where_no_wanted_fault_is_possible_nothing_is_begun(tmp_path: Path) -> None:
    async def test() -> None:
        async with own_cluster(tmp_path, 1, "no root") as cluster:
            chaos = Chaos(ChaosPlan([Fault.DISK]), cluster, lambda event: None, asyncio.Event())
            with pytest.raises(ChaosRefused, match="no root"):
                await chaos.run()

    in_loop(test)


@pytest.mark.night
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("nodes", [3, 5])
def test_a_group_loses_nothing_by_any_fault(tmp_path: Path, nodes: int) -> None:
    async def test() -> None:
        faults = [one for one in Fault if one is not Fault.DISK]
        plan = ChaosPlan(faults, seconds=120, seed=nodes)
        async with own_cluster(tmp_path, nodes, "see the test of the command") as cluster:
            outcome = await Chaos(
                plan, cluster, lambda event: show(str(event)), asyncio.Event()
            ).run()
        assert {one.fault for one in outcome.events} == set(faults)
        assert outcome.verdict.counts.is_sound, outcome.verdict

    in_loop(test)
