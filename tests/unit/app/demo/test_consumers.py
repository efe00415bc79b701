import asyncio

from aerobee.app.demo.consumers import Consumers
from aerobee.app.demo.figures import Figures
from aerobee.app.demo.story import (
    BILLING,
    GROUPS,
    GUARD,
    LOGINS,
    ORDERS,
    SHIPPING,
    StoryVerdict,
    is_slow,
    login,
    pace,
)
from aerobee.app.demo.traffic import Traffic
from aerobee.testing.cluster import Cluster
from tests.demo_kit import ask
from tests.net_kit import in_loop

SECONDS_FAST = 20.0
SECONDS_SLOW = 1.0


async def settled(cluster: Cluster, group: str, count: int) -> Figures:
    """Waits until a group has consumed so many."""
    while True:
        figures = await ask(cluster)
        if figures.groups[group].consumed >= count:
            return figures


def test_everything_is_consumed_but_by_the_slow_one_while_it_is_slow() -> None:
    async def test() -> None:
        now = [SECONDS_SLOW]
        async with Cluster() as cluster:
            traffic = Traffic(cluster.client)
            await traffic.open()
            await traffic.turn(0.0, 1.0)
            time = asyncio.get_running_loop().time
            began = time()
            consumers = Consumers(cluster.client, lambda: now[0])
            tasks = [asyncio.ensure_future(one) for one in await consumers.open()]
            assert len(tasks) == len(GROUPS)
            figures = await settled(cluster, BILLING, 40)
            assert figures.groups[BILLING].lag == 0
            figures = await settled(cluster, SHIPPING, 1)
            shipped = figures.groups[SHIPPING]
            assert shipped.consumed <= (time() - began) / pace(SECONDS_SLOW)
            assert shipped.lag == 40 - shipped.consumed
            now[0] = SECONDS_FAST
            await settled(cluster, SHIPPING, 40)
            await consumers.close()
            await asyncio.gather(*tasks)  # they end when they are closed

    assert is_slow(SECONDS_SLOW)
    assert not is_slow(SECONDS_FAST)
    in_loop(test)


def test_a_login_comes_again_or_is_a_dead_letter() -> None:
    later = next(number for number in range(9000) if login(number, 1) is StoryVerdict.LATER)
    never = next(number for number in range(9000) if login(number, 1) is StoryVerdict.NEVER)

    async def test() -> None:
        async with Cluster() as cluster:
            await Traffic(cluster.client).open()
            consumers = Consumers(cluster.client, lambda: SECONDS_FAST)
            tasks = [asyncio.ensure_future(one) for one in await consumers.open()]
            await cluster.client.send_batch(
                LOGINS, [{"number": number} for number in (later, never, later + 1)]
            )
            figures = await settled(cluster, GUARD, 3)
            while not (figures.delayed and figures.groups[GUARD].dead):
                figures = await ask(cluster)
            assert figures.groups[GUARD].dead == 1
            assert figures.groups[GUARD].retried == 0
            cluster.clock.advance(2)
            figures = await settled(cluster, GUARD, 4)
            assert figures.groups[GUARD].retried == 1
            assert figures.delayed == 0
            assert figures.groups[GUARD].dead == 1
            await consumers.close()
            await asyncio.gather(*tasks)

    in_loop(test)


def test_whoever_was_left_goes_on_where_it_was() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            traffic = Traffic(cluster.client)
            await traffic.open()
            for count in (40, 80):
                await traffic.turn(0.0, 1.0)
                consumers = Consumers(cluster.client, lambda: SECONDS_FAST)
                tasks = [asyncio.ensure_future(one) for one in await consumers.open()]
                figures = await settled(cluster, BILLING, count)
                assert figures.groups[BILLING].consumed == count == figures.stored[ORDERS]
                await consumers.close()
                await asyncio.gather(*tasks)

    in_loop(test)
