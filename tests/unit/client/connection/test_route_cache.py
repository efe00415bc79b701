import asyncio
import gc
from collections.abc import Sequence
from pathlib import Path

import pytest

from aerobee.client.connection.connections import Connections
from aerobee.client.connection.name_servers import NameServers
from aerobee.client.connection.request_dispatch import RequestDispatch
from aerobee.client.connection.route_cache import RouteCache
from aerobee.errors import TopicNotFound
from tests.client_kit import LocalCluster, complaints_of_the_loop, turn, with_cluster
from tests.consume_kit import Wire

SELF_TEST = "SELF_TEST_TOPIC"


class _Kept:
    """A route keeper of a cluster, and what it told."""

    def __init__(self, cluster: LocalCluster, new_waits: Sequence[float] = ()) -> None:
        self.lines = Connections(RequestDispatch().serve)
        self.servers = NameServers(self.lines, (cluster.address,), 30)
        self.routes = RouteCache(self.servers, new_waits)
        self.changed: list[str] = []
        self.routes.watch(self.changed.append)

    async def close(self) -> None:
        await self.routes.close()
        await self.lines.close()


def test_a_route_is_asked_for_once_by_all_who_want_it(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        kept = _Kept(cluster)
        first, second = await asyncio.gather(*(kept.routes.of(SELF_TEST) for _ in range(2)))
        assert first is second
        assert kept.routes.find(SELF_TEST) is first
        assert first.advertised_by == cluster.address
        assert kept.changed == [SELF_TEST]
        (address,) = kept.routes.broker_addresses()
        assert kept.routes.advertiser_of(address) == cluster.address
        assert kept.routes.advertiser_of("elsewhere:1") == ""
        await kept.close()

    with_cluster(tmp_path, test)


def test_a_topic_that_is_not_there_may_be_sent_to_but_not_read(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        kept = _Kept(cluster)
        assert len((await kept.routes.of("new", may_be_new=True)).writable) == 4
        with pytest.raises(TopicNotFound):
            await kept.routes.of("new")
        assert len((await kept.routes.of("new", may_be_new=True)).writable) == 4
        await kept.close()

    with_cluster(tmp_path, test)


def test_a_topic_that_was_just_sent_to_is_waited_for(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        kept = _Kept(cluster, new_waits=(0.0, *[0.01] * 6_000))
        await kept.routes.of("new", may_be_new=True)
        reading = asyncio.ensure_future(kept.routes.of("new"))
        settled = asyncio.ensure_future(kept.routes.settled("new"))
        # Who may send it is not held up by those who wait, nor told that it is not there.
        assert len((await kept.routes.refresh("new", may_be_new=True)).writable) == 4
        assert not reading.done()
        async with cluster.client() as client:
            await Wire(client).make_topic("new", 3)
        assert len((await reading).readable) == 3
        await settled
        await kept.routes.settled("nowhere")  # which nobody has sent to
        await kept.close()

    with_cluster(tmp_path, test)


def test_where_nothing_is_created_a_send_is_told_of_its_own_topic(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        kept = _Kept(cluster)
        with pytest.raises(TopicNotFound, match="new"):
            await kept.routes.of("new", may_be_new=True)
        await kept.close()

    with_cluster(tmp_path, test, autoCreateTopicEnable="false")


def test_routes_follow_their_brokers_and_outlive_their_name_server(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        kept = _Kept(cluster)
        before = await kept.routes.of("TBW102")
        assert set(before.brokers) == {"broker-a", "broker-b"}
        await cluster.stop_broker("broker-b")
        await kept.routes.refresh_all()
        after = await kept.routes.of("TBW102")
        assert set(after.brokers) == {"broker-a"}
        assert kept.changed == ["TBW102", "TBW102"]
        await cluster.stop_nameserver()
        await kept.routes.refresh_all()
        assert kept.routes.find("TBW102") is after
        kept.routes.forget("TBW102")
        assert kept.routes.find("TBW102") is None
        await kept.close()

    with_cluster(tmp_path, test, brokers=2)


def test_a_failure_that_nobody_waits_for_any_more_is_nobody_s(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        kept, complaints = _Kept(cluster), complaints_of_the_loop()
        waiting = asyncio.ensure_future(kept.routes.of("nowhere"))
        await turn()
        (asking,) = kept.routes._lookups.values()
        waiting.cancel()
        await asyncio.wait([waiting, asking])
        del waiting, asking
        gc.collect()
        assert complaints == []
        await kept.close()

    with_cluster(tmp_path, test)
