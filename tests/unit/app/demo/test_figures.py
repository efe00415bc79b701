from pathlib import Path

from aerobee.app.demo.figures import (
    WAITING_SECONDS,
    Asker,
    Figures,
    GroupFigures,
    ReplicaFigures,
    waiting_by_level,
)
from aerobee.app.demo.story import BILLING, GROUPS, ORDERS, REMINDERS, TOPICS
from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.client.client import connect
from aerobee.testing.cluster import Cluster
from tests.demo_kit import ask
from tests.net_kit import in_loop
from tests.process_kit import SECONDS_MAX
from tests.up_kit import running

WALL_MS = 1_700_000_000_000
NOWHERE = "127.0.0.1:1"


def test_of_what_is_not_there_nothing_is_said() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            figures = await ask(cluster, 7.0)
        nothing = dict.fromkeys(GROUPS, GroupFigures())
        assert figures == Figures(7.0, dict.fromkeys(TOPICS, 0), nothing, 0, 0)

    in_loop(test)


def test_figures_are_of_all_brokers_together() -> None:
    async def test() -> None:
        async with Cluster(brokers=2) as cluster:
            client = cluster.client
            await client.admin.topics.create(ORDERS, queues=2)
            for number in range(8):
                await client.send(ORDERS, {"number": number})
            async with client.consumer(ORDERS, group=BILLING, start="earliest") as consumer:
                for _ in range(8):
                    await (await consumer.receive()).ack()
                await consumer.commit()
                await client.send(ORDERS, b"{}")
                figures = await ask(cluster)
        assert figures.stored[ORDERS] == 9
        assert figures.groups[BILLING].consumed == 8
        assert figures.groups[BILLING].lag == 1

    in_loop(test)


def test_what_waits_for_its_time_is_counted_until_then_and_only_what_is_of_the_story() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            for topic, delay in ((REMINDERS, 5), (REMINDERS, 21), ("of-others", 21)):
                await cluster.client.send(topic, b"{}", delay=delay)
            assert (await ask(cluster)).delayed == 2
            cluster.clock.advance(10)
            while True:
                figures = await ask(cluster)
                if figures.stored[REMINDERS]:
                    break
            assert figures.delayed == 1

    in_loop(test)


def test_what_waits_is_looked_through_now_and_then_only() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            asker = Asker(cluster.client.admin)
            now_ms = cluster.clock.now().wall_ms
            assert (await asker.ask(7.0, now_ms)).delayed == 0
            await cluster.client.send(REMINDERS, b"{}", delay=21)
            assert (await asker.ask(7.0 + WAITING_SECONDS / 2, now_ms)).delayed == 0
            assert (await asker.ask(7.0 + WAITING_SECONDS, now_ms)).delayed == 1

    in_loop(test)


def test_levels_are_read_from_what_a_broker_says_of_itself() -> None:
    figures = {
        "scheduleMessageOffset_1": "7,9",
        "scheduleMessageOffset_3": "4,4",
        "scheduleMessageOffset_4": "5,4",  # it was read in between
        "putTps": "1.0 2.0 3.0",
    }
    assert waiting_by_level(RuntimeInfo(figures)) == 2


def test_slaves_are_compared_with_their_masters(tmp_path: Path) -> None:
    async def test() -> None:
        async with (
            running(tmp_path, brokers=2, slaves=1, replication="sync") as (server, _),
            connect(server.address, timeout=SECONDS_MAX) as client,
        ):
            await client.send(ORDERS, b"{}")
            asker = Asker(client.admin)
            while any(one.lag_bytes for one in (await asker.ask(0.0, WALL_MS)).replicas):
                pass
            assert (await asker.ask(0.0, WALL_MS)).replicas == (
                ReplicaFigures("broker-a", 1, 0, True),
                ReplicaFigures("broker-b", 1, 0, True),
            )

    in_loop(test)


def test_a_slave_that_does_not_reach_its_master_is_not_in_sync_and_says_why(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        async with (
            running(tmp_path, slaves=1, AEROBEE_BROKER_HA_MASTER_ADDRESS=NOWHERE) as (server, _),
            connect(server.address, timeout=SECONDS_MAX) as client,
        ):
            (replica,) = (await Asker(client.admin).ask(0.0, WALL_MS)).replicas
            assert not replica.is_in_sync
            assert replica.why

    in_loop(test)
