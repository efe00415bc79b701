"""More of it is tested where it is broken: `test_chaos.py`."""

import asyncio
from pathlib import Path

from aerobee.app.chaos.cluster import Fault
from aerobee.app.chaos.own_cluster import free_port, own_cluster
from aerobee.client.client import connect
from tests.net_kit import in_loop
from tests.process_kit import SECONDS_MAX


def test_its_brokers_say_that_they_may_be_broken_and_end_with_it(tmp_path: Path) -> None:
    async def test() -> None:
        before = asyncio.all_tasks()
        async with own_cluster(tmp_path, 1, "no root") as cluster:
            (victim,) = cluster.victims
            assert victim.label == "n0"
            assert victim.address.startswith("127.0.1.1:")
            assert cluster.why_not(Fault.DISK) == "no root"
            assert not cluster.why_not(Fault.CUT)
            async with connect(cluster.target, timeout=SECONDS_MAX) as client:
                member = await client.admin.replicas.member(victim.address)
                assert member.settings["testCluster"] == "true"
        assert not victim.is_running
        assert asyncio.all_tasks() == before

    in_loop(test)


def test_ports_are_free_for_every_member() -> None:
    assert 20_000 <= free_port(5) < 50_000
