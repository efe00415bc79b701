"""One console for all tests of its pages, with a topic and a group that has read some of it."""

import asyncio
from collections.abc import Iterator

import pytest

import aerobee
from tests.console_kit import ConsoleClient, guarded_console, running_console

MESSAGES = 6


@pytest.fixture(scope="package")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleClient]:
    """It holds `orders` (2 queues, 6 messages) and `billing`, which has consumed two of them."""
    with running_console(tmp_path_factory.mktemp("console")) as running:
        asyncio.run(_fill(running.name_server))
        running.until("group.billing.lag", 4)
        running.until("topic.orders.messages", 6)
        yield running


@pytest.fixture(scope="package")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleClient]:
    """Of a cluster with users; they log in to it, too: root, who is super, and carol, who is not.
    Here root has logged in."""
    with guarded_console(tmp_path_factory.mktemp("guarded")) as console:
        yield console


async def _fill(name_server: str) -> None:
    async with aerobee.connect(name_server) as client:
        await client.admin.topics.create("orders", queues=2)
        for number in range(MESSAGES):
            body = f'{{"order": {number}, "total": {number * 10}}}'
            await client.send(
                "orders", body, tag="new", keys=[f"o-{number}"], headers={"n": str(number)}
            )
        for _ in range(2):
            message = await client.receive("orders", group="billing")
            await message.ack()
