"""One console for all tests of its pages, with a topic and a group that has read some of it."""

import asyncio
from collections.abc import Iterator

import pytest

import aerobee
from aerobee.console.settings import CLUSTER, ConsoleConfig
from aerobee.model.access import User
from aerobee.testing.thread_cluster import ThreadCluster
from tests.console_kit import ConsoleClient, running_console, served_console

MESSAGES = 6
GUARDED = {
    "authenticationEnabled": "true",
    "authorizationEnabled": "true",
    "initAuthenticationUser": '{"username":"root","password":"root-secret"}',
    "innerClientAuthenticationCredentials": '{"accessKey":"inner","secretKey":"inner-secret"}',
}


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
    folder = tmp_path_factory.mktemp("guarded")
    with ThreadCluster(settings=GUARDED) as cluster:
        target = f"rmq://root:root-secret@{cluster.address}"
        asyncio.run(_put_users(target))
        config = ConsoleConfig(
            port=0,
            name_servers=target,
            folder=str(folder),
            is_login_required=True,
            login_users=CLUSTER,
            cluster_roles="dave:operator,*:viewer",
            is_mcp_changing=True,
        )
        with served_console(config) as console:
            assert console.log_in("root", "root-secret").status == 200
            yield console


async def _put_users(target: str) -> None:
    async with aerobee.admin(target) as admin:
        for name in ("carol", "dave"):
            await admin.access.create_user(User(name, f"{name}-secret"))


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
