import json

from aerobee.app.demo.story import (
    LOGINS,
    ORDERS,
    PAYMENTS,
    REMINDERS,
    SETTINGS,
    StoryOutcome,
    body,
    payment,
    was_paid,
)
from aerobee.app.demo.traffic import DUE_MAX, Traffic
from aerobee.client.admin.admin import Admin
from aerobee.testing.cluster import Cluster
from tests.demo_kit import ask
from tests.net_kit import in_loop

HOUR = 3600
# However slow the machine is, nobody is asked about a payment before the clock is moved.
UNASKED = {**SETTINGS, "transactionTimeOut": str(HOUR * 1000)}


async def numbers(admin: Admin, topic: str) -> list[int]:
    """Of what consumers can see."""
    stats = await admin.topics.stats(topic)
    if not any(one.max_offset for one in stats.queues.values()):
        return []
    found = [message async for message in admin.messages.between(topic)]
    return sorted(int(json.loads(message.body)["number"]) for message in found)


def test_what_is_due_is_sent_and_an_open_payment_is_decided_by_its_check() -> None:
    async def test() -> None:
        async with Cluster(settings=UNASKED) as cluster:
            traffic = Traffic(cluster.client)
            await traffic.open()
            admin = cluster.client.admin
            assert [await numbers(admin, topic) for topic in (ORDERS, LOGINS)] == [[], []]
            await traffic.turn(0.0, 2.0)
            assert await numbers(admin, ORDERS) == list(range(80))
            assert await numbers(admin, LOGINS) == list(range(DUE_MAX))
            assert await numbers(admin, REMINDERS) == []
            assert payment(7) is StoryOutcome.OPEN
            seen = [number for number in range(8) if payment(number) is StoryOutcome.COMMIT]
            assert await numbers(admin, PAYMENTS) == seen
            assert (await ask(cluster)).open_transactions == 1
            cluster.clock.advance(HOUR + 6)
            while (await ask(cluster)).open_transactions:
                pass
            assert was_paid(7)
            assert await numbers(admin, PAYMENTS) == [*seen, 7]
            cluster.clock.advance(30)
            while len(await numbers(admin, REMINDERS)) < 4:
                pass

    in_loop(test)


def test_parts_of_a_message_are_due_later_and_a_second_run_goes_on() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            traffic = Traffic(cluster.client)
            await traffic.open()
            for _ in range(4):
                await traffic.turn(0.0, 1 / 160)  # a quarter of an order
            assert await numbers(cluster.client.admin, ORDERS) == [0]
            again = Traffic(cluster.client)
            await again.open()
            await again.turn(0.0, 1 / 40)
            assert await numbers(cluster.client.admin, ORDERS) == [0, 1]

    in_loop(test)


def test_a_message_can_be_found_by_what_it_has() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            traffic = Traffic(cluster.client)
            await traffic.open()
            await traffic.turn(0.0, 0.1)
            (found,) = await cluster.client.admin.messages.by_key(ORDERS, "o-2")
            assert found.properties["TAGS"] == body(ORDERS, 2)["step"]

    in_loop(test)


def test_a_payment_that_an_earlier_run_left_open_is_answered_for() -> None:
    async def test() -> None:
        async with Cluster(settings=UNASKED) as cluster:
            async with cluster.connect() as earlier:
                traffic = Traffic(earlier)
                await traffic.open()
                await traffic.turn(0.0, 2.0)
            admin = cluster.client.admin
            assert (await ask(cluster)).open_transactions == 1
            await Traffic(cluster.client).open()
            cluster.clock.advance(HOUR + 6)
            while (await ask(cluster)).open_transactions:
                pass
            assert 7 in await numbers(admin, PAYMENTS)

    in_loop(test)
