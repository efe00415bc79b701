"""Puts the rooms of a proxy process together.

Imports more than 15 modules because it puts the others together.
"""

from collections.abc import Sequence
from typing import NamedTuple

from aerobee.ports.service import Effects, Peer
from aerobee.service.gateway.broker_requests import BrokerRequests
from aerobee.service.gateway.caller_users import CallerUsers
from aerobee.service.gateway.callers import Callers, GuardConfig
from aerobee.service.gateway.config import GatewayConfig
from aerobee.service.gateway.configurations import Configurations
from aerobee.service.gateway.known_brokers import KnownBrokers
from aerobee.service.gateway.queue_turns import QueueTurns
from aerobee.service.gateway.registrations import Registrations
from aerobee.service.gateway.remote_desk import RemoteDesk
from aerobee.service.proxy.entry_points import SharedEntryPoints
from aerobee.service.proxy.messaging_service import MessagingService
from aerobee.service.proxy.rpc_door import NoneInPlace, RpcDoor
from aerobee.service.topic_routes import TopicRoutes


class GatewayIdentity(NamedTuple):
    client_id: str
    """The name under which brokers know it, as a client."""
    address: Peer
    """Where clients reach it, if they do not say how they came."""


class GatewayParts:
    def __init__(
        self,
        identity: GatewayIdentity,
        config: GatewayConfig,
        nameservers: Sequence[str],
        guard: GuardConfig,
        outbox: Effects,
    ) -> None:
        self.brokers = KnownBrokers()
        self.requests = BrokerRequests(outbox)
        self.routes = TopicRoutes(nameservers, outbox)
        told = (self.routes, self.brokers, self.requests)
        self.configurations = Configurations(config.cluster, *told)
        self.registrations = Registrations(
            identity.client_id, self.brokers, self.requests, self.configurations.find_cluster
        )
        find_cluster = self.configurations.find_cluster
        self.users = CallerUsers(guard.access, self.requests, find_cluster, self.configurations)
        self.callers = Callers(guard, config.cluster, self.users)
        desk = RemoteDesk(
            config.body_bytes_max,
            self.callers,
            QueueTurns(self.routes),
            self.brokers,
            self.requests,
            self.configurations,
            self.registrations,
        )
        entry_points = SharedEntryPoints(identity.address, keeps_port=config.keeps_port)
        self.messaging = MessagingService(desk, entry_points, outbox)
        self.door = RpcDoor(self.messaging, self.callers.gate, self.callers.limits, NoneInPlace())
