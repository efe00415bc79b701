from aerobee.app.demo.figures import (
    WAITING_SECONDS,
    Asker,
    Figures,
    GroupFigures,
    waiting_by_level,
)
from aerobee.app.demo.story import BILLING, GROUPS, ORDERS, REMINDERS, TOPICS
from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.testing.cluster import Cluster
from tests.demo_kit import ask
from tests.net_kit import in_loop


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
