"""BrokerWatch shows a broker to monitoring: its metrics, whether it is well, whether it is ready.

Rooms with metrics of their own are called as providers.

Imports more than 15 modules because it puts the others together.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from aerobee.model.metric import Metric, single_gauge
from aerobee.model.names import is_system_group, is_system_topic
from aerobee.ports.clock import Now
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.metrics.client_metrics import ClientMetrics
from aerobee.service.broker.metrics.health import Health
from aerobee.service.broker.metrics.lag import Lags
from aerobee.service.broker.metrics.lag_metrics import lag_metrics
from aerobee.service.broker.metrics.store_metrics import store_metrics
from aerobee.service.broker.metrics.traffic_metrics import TrafficMetrics
from aerobee.service.broker.state.tables import Tables
from aerobee.service.broker.statistics.request_times import RequestTimes
from aerobee.service.broker.statistics.statistics import Statistics
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store

Provider = Callable[[Now], Iterable[Metric]]


class BrokerWatch:
    """A `ports.watch.Watch`."""

    def __init__(
        self,
        identity: BrokerIdentity,
        config: LiveConfig[BrokerConfig],
        tables: Tables,
        store: Store,
        statistics: Statistics,
        times: RequestTimes,
        health: Health,
        providers: Sequence[Provider] = (),
    ) -> None:
        self._identity = identity
        self._config = config
        self._tables = tables
        self._store = store
        self._health = health
        self._providers = providers
        self._traffic = TrafficMetrics(statistics, times, tables.topics.find, self._is_system)
        self._clients = ClientMetrics(tables.consumers, tables.producers)
        self._lags = Lags(tables.offsets, tables.topics, tables.consumers, QueueFacts(store))

    @property
    def labels(self) -> Mapping[str, str]:
        return {
            "cluster": self._identity.cluster,
            "node_type": "broker",
            "node_id": self._identity.name,
        }

    def metrics(self, now: Now) -> Iterator[Metric]:
        samples_max = self._config.current.samples_max
        yield from self._traffic.metrics(samples_max)
        yield from lag_metrics(self._lags.all(now), self._is_system, samples_max)
        yield from self._clients.metrics(samples_max)
        yield from self._of_the_broker()
        yield from store_metrics(self._store, now)
        for provider in self._providers:
            yield from provider(now)

    def ailments(self, now: Now) -> list[str]:
        return self._health.ailments(now)

    def obstacles(self, now: Now) -> list[str]:
        return self._health.obstacles(now)

    def _of_the_broker(self) -> Iterator[Metric]:
        yield single_gauge(
            "rocketmq_broker_permission", "4 read, 2 write, 6 both", self._config.current.permission
        )
        yield single_gauge("rocketmq_topic_number", "Topics", len(self._tables.topics.all()))
        yield single_gauge(
            "rocketmq_consumer_group_number", "Groups", len(self._tables.groups.all())
        )
        yield single_gauge(
            "aerobee_nameservers_registered",
            "Name servers that know the broker",
            self._health.known_to(),
        )

    def _is_system(self, topic: str, group: str) -> bool:
        cluster, broker = self._identity.cluster, self._identity.name
        return is_system_topic(topic, cluster=cluster, broker=broker) or is_system_group(group)
