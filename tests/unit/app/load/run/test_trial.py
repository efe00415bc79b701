import asyncio
from pathlib import Path

import pytest

import aerobee
from aerobee.app.load.result.result import Point, Result
from aerobee.app.load.run.trial import Told, Trial, facts_of
from aerobee.app.load.workload.workload import Workload
from aerobee.errors import TopicNotFound
from tests.client_kit import LocalCluster
from tests.load_kit import side, usage
from tests.net_kit import in_loop


class Heard:
    def __init__(self) -> None:
        self.begun: list[Workload] = []
        self.progress: list[str] = []
        self.points: list[Point] = []

    def told(self) -> Told:
        return Told(
            lambda workload, _: self.begun.append(workload),
            self.progress.append,
            self.points.append,
        )


async def run(
    cluster: LocalCluster, workload: Workload, heard: Heard, *, keep: bool = False
) -> Result:
    return await Trial(workload, cluster.address, heard.told(), asyncio.Event(), keep=keep).run()


async def leftovers(cluster: LocalCluster) -> list[str]:
    async with aerobee.connect(cluster.address) as client:
        names = await client.admin.topics.names()
        return [name for name in names if "aerobee-bench" in name]


def test_what_is_sent_is_counted_shown_and_taken_away_again(tmp_path: Path) -> None:
    async def test() -> None:
        heard = Heard()
        workload = Workload(
            duration=0.3, warm_up=0.1, rate=200.0, processes=2, topics=2, queues=2, size_min=10
        )
        async with LocalCluster(tmp_path) as cluster:
            result = await run(cluster, workload, heard)
            assert await leftovers(cluster) == []
        assert result.sent is not None
        assert result.sent.messages + result.sent.unsent == 60
        assert result.sent.latency.count == 60
        assert sum(point.sent for point in heard.points) == result.sent.messages
        assert result.usage.client.is_known
        assert result.received is None
        assert not result.is_interrupted
        assert len(result.topics) == 2

    in_loop(test)


def test_a_roundtrip_receives_what_it_sent_for_each_group(tmp_path: Path) -> None:
    async def test() -> None:
        heard = Heard()
        workload = Workload(
            kind="roundtrip", duration=0.3, warm_up=0.0, rate=100.0, groups=2, queues=2
        )
        async with LocalCluster(tmp_path) as cluster:
            result = await run(cluster, workload, heard)
            assert await leftovers(cluster) == []
        assert result.sent is not None
        assert result.received is not None
        assert result.received.messages == 2 * result.sent.messages
        assert result.received.latency.count == result.received.messages
        assert result.received.latency.smallest > 0  # whoever stamped it had the same clock

    in_loop(test)


def test_a_backlog_is_filled_and_then_received_whole(tmp_path: Path) -> None:
    async def test() -> None:
        heard = Heard()
        workload = Workload(kind="consume", count=500, queues=2, warm_up=0.0, size_min=10)
        async with LocalCluster(tmp_path) as cluster:
            result = await run(cluster, workload, heard, keep=True)
            kept = await leftovers(cluster)
        assert result.received is not None
        assert result.received.messages >= 500
        assert heard.begun[0].backlog == 500
        assert any(text.startswith("filling: ") for text in heard.progress)
        assert heard.points[-1].lag is not None
        assert kept  # as was said

    in_loop(test)


def test_a_topic_of_somebody_is_read_and_left_alone(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalCluster(tmp_path) as cluster:
            async with aerobee.connect(cluster.address) as client:
                await client.admin.topics.create("theirs", queues=1)
                await client.send_batch("theirs", [b"x"] * 7)
            workload = Workload(kind="consume", topic="theirs", warm_up=0.0)
            result = await run(cluster, workload, Heard())
            assert result.main.messages == 7
            async with aerobee.connect(cluster.address) as client:
                assert await client.admin.topics.exists("theirs")
            with pytest.raises(TopicNotFound):
                await run(cluster, Workload(topic="nowhere"), Heard())

    in_loop(test)


def test_one_who_stops_it_is_told_what_was_measured(tmp_path: Path) -> None:
    async def test() -> None:
        stop = asyncio.Event()
        told = Told(lambda *_: None, lambda _: None, lambda _: stop.set())
        async with LocalCluster(tmp_path) as cluster:
            workload = Workload(duration=600.0, warm_up=0.0, rate=50.0, queues=1)
            result = await Trial(workload, cluster.address, told, stop, keep=False).run()
            assert await leftovers(cluster) == []
        assert result.is_interrupted
        assert 0 < result.main.messages < 600
        assert result.usage.client.is_known

    in_loop(test)


def test_a_count_says_how_long_it_was_overdue() -> None:
    counted = Workload(rate=500.0, count=1000)
    assert facts_of(counted, 2, side(1000, 2.0), None, usage()).overdue == 0.0
    late = facts_of(counted, 2, side(1000, 5.0), None, usage())
    assert (late.overdue, late.window) == (3.0, 512)
    timed = Workload(rate=500.0)
    assert facts_of(timed, 1, side(1000, 5.0, unsent=7), None, usage()).overdue == 0.0


def test_every_group_is_to_receive_all() -> None:
    workload = Workload(kind="roundtrip", groups=2)
    kept_up = facts_of(workload, 1, side(1000, 1.0), side(2000, 1.1), usage())
    assert kept_up.behind == ""
    one_missing = facts_of(workload, 1, side(1000, 1.0), side(1000, 1.1), usage())
    assert "1,000 of 2,000" in one_missing.behind


def test_receiving_alone_wants_no_rate() -> None:
    found = facts_of(Workload(kind="consume", rate=5.0), 0, None, side(), usage())
    assert (found.wanted, found.window, found.unit) == (None, 0, "received")
