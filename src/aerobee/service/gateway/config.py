"""GatewayConfig: the settings of a proxy process that the service itself goes by, with the keys of
RocketMQ's proxy.
"""

from dataclasses import dataclass

from aerobee.model.setting import TEXT, TRUTH, Setting, Whole

BODY_BYTES_MAX = 4 << 20


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    cluster: str = "DefaultCluster"
    """The cluster of its brokers: they are asked about groups, and hear of its clients."""
    body_bytes_max: int = BODY_BYTES_MAX
    """Larger bodies are refused."""
    keeps_port: bool = False
    """Clients are told to come back to the port that they came to, though it may be that of a load
    balancer; else to the proxy's own."""


SETTINGS = (
    Setting("rocketMQClusterName", "cluster", TEXT),
    Setting("maxMessageSize", "body_bytes_max", Whole(1, 64 << 20)),
    Setting("useEndpointPortFromRequest", "keeps_port", TRUTH),
)
_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1
LIMIT_SETTINGS = (
    Setting("userRequestsPerSecond", "user_requests", Whole(0, _INT32_MAX)),
    Setting("userBytesPerSecond", "user_bytes", Whole(0, _INT64_MAX)),
    Setting("userConnectionsMax", "user_connections", Whole(0, _INT32_MAX)),
    Setting("addressRequestsPerSecond", "address_requests", Whole(0, _INT32_MAX)),
    Setting("addressBytesPerSecond", "address_bytes", Whole(0, _INT64_MAX)),
    Setting("addressConnectionsMax", "address_connections", Whole(0, _INT32_MAX)),
    Setting("groupRequestsPerSecond", "group_requests", Whole(0, _INT32_MAX)),
    Setting("groupBytesPerSecond", "group_bytes", Whole(0, _INT64_MAX)),
)
"""Of `service.access.request_limits.LimitConfig`, with the keys of a broker."""
