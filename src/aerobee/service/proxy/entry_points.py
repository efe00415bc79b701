"""EntryPoints: the endpoints that clients are told to use for a broker of a route.

OwnEntryPoints     the service is in a broker: each broker serves its own clients
SharedEntryPoints  the service is in front of all brokers: clients keep to the service
"""

import ipaddress
from typing import Protocol

from aerobee.model.route import MASTER_ID, BrokerData
from aerobee.ports.service import Peer
from aerobee.protocol.grpc.codes import AddressScheme
from aerobee.protocol.grpc.resources import Address, Endpoints


class EntryPoints(Protocol):
    def of(self, broker: BrokerData, number: int, asked: Endpoints | None) -> Endpoints:
        """The endpoints for the broker of this id. `asked`: those that the client was told to use,
        as it says."""


class OwnEntryPoints:
    """Other brokers are reached at the host that they registered, with the port of this one."""

    def __init__(self, broker_name: str, address: Peer) -> None:
        """`address` is where clients of gRPC reach this broker."""
        self._broker_name = broker_name
        self._address = address

    def of(self, broker: BrokerData, number: int, asked: Endpoints | None) -> Endpoints:
        host = broker.addresses[number].rpartition(":")[0].strip("[]")
        if broker.name == self._broker_name and number == MASTER_ID:
            host = self._address.host
        return _endpoints(Peer(host, self._address.port))


class SharedEntryPoints:
    """Clients come back the way that they came: by the addresses that they were told, which may be
    those of a load balancer."""

    def __init__(self, address: Peer, *, keeps_port: bool = False) -> None:
        """`address` is for clients that do not say how they came. `keeps_port`: they come back to
        the port that they name, not to that of `address`."""
        self._address = address
        self._keeps_port = keeps_port

    def of(self, broker: BrokerData, number: int, asked: Endpoints | None) -> Endpoints:
        if asked is None or not asked.addresses or not asked.scheme:
            return _endpoints(self._address)
        if self._keeps_port:
            return asked
        port = self._address.port
        return Endpoints(asked.scheme, [Address(one.host, port) for one in asked.addresses])


def _endpoints(peer: Peer) -> Endpoints:
    return Endpoints(_scheme(peer.host), [Address(peer.host, peer.port)])


def _scheme(host: str) -> AddressScheme:
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        return AddressScheme.DOMAIN_NAME
    return AddressScheme.IPV4 if version == 4 else AddressScheme.IPV6
