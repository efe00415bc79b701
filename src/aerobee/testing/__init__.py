"""A real name server and broker in the process of a test, with a clock that the test moves.

async def test_a_reminder_comes_an_hour_later():
    async with Cluster() as cluster:
        await cluster.client.send("reminders", b"tea", delay=3600)
        cluster.clock.advance(3600)
        message = await cluster.client.receive("reminders", group="kitchen", timeout=5)

With plain pytest, the fixture `aerobee_cluster` is one that runs on a thread of its own.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aerobee.testing.cluster import Cluster as Cluster
    from aerobee.testing.movable_clock import MovableClock as MovableClock
    from aerobee.testing.thread_cluster import ThreadCluster as ThreadCluster

# Imported at their first use: pytest loads the plugin in every run, whether it is used or not.
_PUBLIC = {
    "Cluster": "aerobee.testing.cluster",
    "MovableClock": "aerobee.testing.movable_clock",
    "ThreadCluster": "aerobee.testing.thread_cluster",
}

if not TYPE_CHECKING:  # a type checker is to see a name that is not there

    def __getattr__(name):
        place = _PUBLIC.get(name)
        if place is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import importlib

        return getattr(importlib.import_module(place), name)
