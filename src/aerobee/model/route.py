"""Routes: the queues of a topic on each broker, and the addresses of brokers.

Values that a name server hands out and that clients and brokers read. Agrees with Java's QueueData,
BrokerData, TopicRouteData and ClusterInfo.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

MASTER_ID = 0
"""The broker id that takes writes; any other is a slave."""


class QueueData(NamedTuple):
    """The queues of one topic on the brokers of one name."""

    broker_name: str
    read_queues: int
    write_queues: int
    permission: int
    sys_flag: int


@dataclass(frozen=True, slots=True)
class BrokerData:
    """The brokers of one name: a master and its slaves."""

    cluster: str
    name: str
    addresses: Mapping[int, str]
    """By broker id. At least one is alive."""
    is_acting_enabled: bool = False
    """Whether the slave of the smallest id acts as master if the master is gone."""
    zone: str = ""


@dataclass(frozen=True, slots=True)
class TopicRoute:
    queues: tuple[QueueData, ...]
    brokers: tuple[BrokerData, ...]
    order_conf: str = ""
    """`broker:queues;broker:queues`, for producers that keep order; empty: by `queues`."""
    mappings: Mapping[str, object] = field(default_factory=dict)
    """The mappings of a static topic's queues by broker name: JSON, passed on unchanged."""


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """All brokers that are alive. A cluster is the set of brokers that name it."""

    brokers: tuple[BrokerData, ...]

    def names_by_cluster(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for broker in self.brokers:
            found.setdefault(broker.cluster, []).append(broker.name)
        return found
