"""A real name server and broker in the process of a test, with a clock that the test moves.

async def test_a_reminder_comes_an_hour_later():
    async with Cluster() as cluster:
        await cluster.client.send("reminders", b"tea", delay=3600)
        cluster.clock.advance(3600)
        message = await cluster.client.receive("reminders", group="kitchen", timeout=1)

With plain pytest, the fixture `aerobee_cluster` is one that runs on a thread of its own.
"""

from aerobee.testing.cluster import Cluster as Cluster
from aerobee.testing.movable_clock import MovableClock as MovableClock
