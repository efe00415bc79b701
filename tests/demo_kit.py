"""A cluster with a demonstration on it."""

from aerobee.app.demo.figures import Asker, Figures
from aerobee.testing.cluster import Cluster


async def ask(cluster: Cluster, seconds: float = 0.0) -> Figures:
    """What its brokers say, at the time of their clock."""
    return await Asker(cluster.client.admin).ask(seconds, cluster.clock.now().wall_ms)
