"""The server of the command tests, as mqadmin sees it."""

import asyncio

import pytest

from aerobee.client.admin.admin import admin
from tests.mqadmin_kit import Place
from tests.server_kit import Server


@pytest.fixture(scope="session")
def place(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Place:
    async def address() -> str:
        async with admin(server.name_server) as asking:
            return (await asking.cluster()).brokers[0].addresses[0]

    folder = tmp_path_factory.mktemp("mqadmin")
    return Place(server.name_server, asyncio.run(address()), folder)
