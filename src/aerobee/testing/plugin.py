"""The fixture `aerobee_cluster`, for pytest: a cluster on a thread of its own.

    def test_an_order_is_billed(aerobee_cluster):
        aerobee_cluster.client.send("orders", b"{}")        # the waiting client

    async def test_an_order_is_billed(aerobee_cluster):     # with pytest-asyncio or anyio
        async with aerobee_cluster.connect() as client:
            await client.send("orders", b"{}")

One for each test. `aerobee_cluster.clock.advance(3600)` moves its time.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from aerobee.testing.thread_cluster import ThreadCluster


@pytest.fixture
def aerobee_cluster() -> "Iterator[ThreadCluster]":
    """A real name server and broker, with a clock that the test moves."""
    from aerobee.testing.thread_cluster import ThreadCluster

    with ThreadCluster() as cluster:
        yield cluster
