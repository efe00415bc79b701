"""Puts the metrics room together: the counters, and the watch that shows them.

The rooms are given `statistics` and `times` when they are made; the watch is made last, when all
rooms exist.
"""

import logging
from collections.abc import Callable, Sequence

from aerobee.model.names import is_system_topic
from aerobee.model.replica_status import ReplicaStatus
from aerobee.ports.clock import Now
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.metrics.broker_watch import BrokerWatch, Provider
from aerobee.service.broker.metrics.health import Health
from aerobee.service.broker.metrics.pending_metrics import PendingMetrics
from aerobee.service.broker.metrics.replica_metrics import ReplicaMetrics
from aerobee.service.broker.state.tables import Tables
from aerobee.service.broker.statistics.request_times import RequestTimes
from aerobee.service.broker.statistics.statistics import Statistics
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

__all__ = ["MetricsAssembly", "PendingMetrics"]

NameServers = tuple[Sequence[str], Callable[[], Sequence[str]]]
"""The configured name servers, and a function for those that do not know the broker now."""


class MetricsAssembly:
    def __init__(
        self,
        identity: BrokerIdentity,
        config: LiveConfig[BrokerConfig],
        tables: Tables,
        store: Store,
        now: Now,
    ) -> None:
        self._identity = identity
        self._config = config
        self._tables = tables
        self._store = store
        self._health: Health | None = None
        self._problem = ""
        self.statistics = Statistics(store.queues(), self._is_system, now)
        self.times = RequestTimes()
        self.took_send = self.times.of_successes(RequestCode.SEND_MESSAGE_V2).add
        self.took_pull = self.times.of_successes(RequestCode.PULL_MESSAGE).add

    def of_replicas(self, status: Callable[[Now], ReplicaStatus]) -> Provider:
        """The provider of metrics of the broker's side of replication."""
        return ReplicaMetrics(status).metrics

    def watch(
        self, nameservers: NameServers, providers: Sequence[Provider], now: Now
    ) -> BrokerWatch:
        """The watch; to be called once, when all rooms exist. `providers` return further
        metrics."""
        health = self._health = Health(self._store, *nameservers, now)
        return BrokerWatch(
            self._identity,
            self._config,
            self._tables,
            self._store,
            self.statistics,
            self.times,
            health,
            providers,
        )

    def messages_out(self) -> int:
        """The number of messages handed out since the start, by pulls and pops."""
        return self.statistics.handed_out().messages

    def on_tick(self, now: Now) -> None:
        if self._health is not None:
            self._health.on_tick(now)
        self._note_problem()
        self.statistics.on_tick(now)
        topics, groups = self._tables.topics, self._tables.groups
        self.statistics.forget(
            lambda name: topics.find(name) is not None, lambda name: groups.find(name) is not None
        )

    def _note_problem(self) -> None:
        """Log once why the log is not cleaned: it fills the disk."""
        problem = self._store.compaction.problem
        if problem and problem != self._problem:
            _log.error("the log cannot be cleaned: %s", problem)
        self._problem = problem

    def _is_system(self, topic: str) -> bool:
        return is_system_topic(topic, cluster=self._identity.cluster, broker=self._identity.name)
