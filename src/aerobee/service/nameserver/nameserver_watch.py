"""NameServerWatch shows a name server to monitoring: its metrics, whether it is well and ready.

well     it is called regularly
ready    it is well, and it does not hold routes back until brokers had time to register
"""

from collections.abc import Callable, Iterator, Mapping

from aerobee.model.metric import Metric, single_gauge
from aerobee.ports.clock import Now
from aerobee.service.live_config import LiveConfig
from aerobee.service.nameserver.config import NameServerConfig
from aerobee.service.nameserver.route_table import RouteTable

QUIET_MS_MAX = 5_000
"""If it is not called for this long beyond the scan interval, it hangs."""


class NameServerWatch:
    """A `ports.watch.Watch`."""

    def __init__(
        self,
        routes: RouteTable,
        config: LiveConfig[NameServerConfig],
        started: Now,
        of_limits: Callable[[Now], Iterator[Metric]],
    ) -> None:
        self._of_limits = of_limits
        self._routes = routes
        self._config = config
        self._started = started
        self._called_ms = started.monotonic_ms

    def on_tick(self, now: Now) -> None:
        self._called_ms = now.monotonic_ms

    @property
    def labels(self) -> Mapping[str, str]:
        return {"node_type": "nameserver"}

    def metrics(self, now: Now) -> Iterator[Metric]:
        brokers = self._routes.cluster_info().brokers
        yield single_gauge(
            "aerobee_nameserver_brokers",
            "Brokers that are registered, masters and slaves",
            sum(len(broker.addresses) for broker in brokers),
        )
        yield single_gauge(
            "aerobee_nameserver_topics", "Topics in routes", len(self._routes.topics())
        )
        yield from self._of_limits(now)

    def ailments(self, now: Now) -> list[str]:
        quiet_ms = now.monotonic_ms - self._called_ms
        if quiet_ms > self._config.current.scan_interval_ms + QUIET_MS_MAX:
            return [f"the name server was not called for {quiet_ms} ms"]
        return []

    def obstacles(self, now: Now) -> list[str]:
        found = self.ailments(now)
        config = self._config.current
        left_ms = config.wait_ms - (now.monotonic_ms - self._started.monotonic_ms)
        if config.waits_for_brokers and left_ms > 0:
            found.append(f"brokers have another {left_ms} ms to register before routes are told")
        return found
