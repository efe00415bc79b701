"""GatewayWatch shows a proxy process to monitoring: its metrics, whether it is well and ready.

well     it is called regularly
ready    it is well, and a name server answers it
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from aerobee.model.metric import Metric, Sample, counter, single_gauge
from aerobee.ports.clock import Now
from aerobee.service.gateway.broker_requests import BrokerRequests
from aerobee.service.topic_routes import TopicRoutes

QUIET_MS_MAX = 5_000
"""If it is not called for this long, it hangs."""


class GatewayWatch:
    """A `ports.watch.Watch`."""

    def __init__(
        self,
        requests: BrokerRequests,
        routes: TopicRoutes,
        clients: Callable[[], int],
        calls: Callable[[], int],
        started: Now,
        providers: Sequence[Callable[[Now], Iterator[Metric]]] = (),
    ) -> None:
        """`clients` and `calls` count those of gRPC. `providers` have further metrics."""
        self._providers = providers
        self._requests = requests
        self._routes = routes
        self._clients = clients
        self._calls = calls
        self._called_ms = started.monotonic_ms

    def on_tick(self, now: Now) -> None:
        self._called_ms = now.monotonic_ms

    @property
    def labels(self) -> Mapping[str, str]:
        return {"node_type": "proxy"}

    def metrics(self, now: Now) -> Iterator[Metric]:
        yield single_gauge("aerobee_proxy_clients", "Clients of gRPC", self._clients())
        yield single_gauge("aerobee_proxy_calls", "Calls that are not answered", self._calls())
        yield single_gauge(
            "aerobee_proxy_open_requests",
            "Requests that brokers have not answered",
            self._requests.open,
        )
        yield counter(
            "aerobee_proxy_requests_total",
            "Requests to brokers, by their answer",
            [
                Sample({"answer": name}, count)
                for name, count in sorted(self._requests.outcomes.items())
            ],
        )

        for provide in self._providers:
            yield from provide(now)

    def ailments(self, now: Now) -> list[str]:
        quiet_ms = now.monotonic_ms - self._called_ms
        return [f"the proxy was not called for {quiet_ms} ms"] if quiet_ms > QUIET_MS_MAX else []

    def obstacles(self, now: Now) -> list[str]:
        found = self.ailments(now)
        if self._routes.is_silent:
            found.append("no name server answers")
        return found
