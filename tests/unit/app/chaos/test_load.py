import asyncio
from pathlib import Path

from aerobee.app.chaos.load import ChaosLoad
from aerobee.testing.cluster import Cluster
from tests.net_kit import in_loop


def test_everything_that_was_sent_is_found_and_read_meanwhile(tmp_path: Path) -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            load = ChaosLoad(cluster.client, "chaos", "broker-a", senders=2, rate=200)
            await load.open()
            while len(load.history.reads) < 20:
                load.check()
                await cluster.client.admin.cluster()
            await load.close()
            verdict = load.history.judge(await load.found())
            assert verdict.counts.is_sound
            assert verdict.counts.acknowledged >= 20
            assert verdict.counts.twice == 0
            assert verdict.counts.found >= verdict.counts.acknowledged
            assert {queue for queue, _ in load.history.reads} == {(b"chaos", 0), (b"chaos", 1)}
            assert load.history.acknowledged == sorted(load.history.acknowledged)
        assert len(asyncio.all_tasks()) == 1

    in_loop(test)
