"""Puts the cluster room together: this broker's registration with name servers, and the routes that
it asks them for.
"""

from collections.abc import Sequence

from aerobee.ports.service import Effects
from aerobee.service.broker.cluster.registration import Registration, TopicTable
from aerobee.service.broker.cluster.topic_routes import TopicRoutes
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.live_config import LiveConfig


class ClusterAssembly:
    def __init__(
        self,
        identity: BrokerIdentity,
        config: LiveConfig[BrokerConfig],
        topics: TopicTable,
        addresses: Sequence[str],
        outbox: Effects,
    ) -> None:
        """`addresses` are those of the name servers."""
        self.registration = Registration(identity, config, topics, addresses, outbox)
        self.routes = TopicRoutes(addresses, outbox)
