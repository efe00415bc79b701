"""Puts the cluster room together: this broker's registration with name servers, and the routes that
it asks them for.
"""

from collections.abc import Sequence

from aerobee.model.broker_role import Stage
from aerobee.ports.service import Effects
from aerobee.service.broker.cluster.registration import Mappings, Registration, TopicTable
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.live_config import LiveConfig
from aerobee.service.topic_routes import TopicRoutes


class ClusterAssembly:
    def __init__(
        self,
        identity: BrokerIdentity,
        config: LiveConfig[BrokerConfig],
        topics: TopicTable,
        addresses: Sequence[str],
        outbox: Effects,
        mappings: Mappings,
    ) -> None:
        """`addresses` are those of the name servers."""
        self.addresses = addresses
        told = () if identity.stage is Stage.RETURNING else addresses
        self.registration = Registration(identity, config, topics, told, outbox, mappings)
        self.routes = TopicRoutes(addresses, outbox)
