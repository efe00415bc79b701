"""Header fields of requests from brokers to name servers: REGISTER_BROKER (103), UNREGISTER_BROKER
(104) and QUERY_DATA_VERSION (322); the last two only name the broker.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64


@dataclass(frozen=True, slots=True)
class BrokerPlaceHeader:
    """Name, id, address and cluster of the broker."""

    broker_name: str
    broker_addr: str
    """Where clients reach it."""
    cluster_name: str
    broker_id: Int64


@dataclass(frozen=True, slots=True)
class RegisterBrokerHeader:
    broker_name: str
    broker_addr: str
    cluster_name: str
    broker_id: Int64
    ha_server_addr: str
    """Where its slaves get the log."""
    compressed: bool = False
    body_crc32: Int32 = 0
    """Of the body as it is sent; 0: not told."""
    enable_acting_master: bool | None = None
    """None: a broker before 5.0, which knows nothing of it."""
    heartbeat_timeout_millis: Int64 | None = None
    """Silence after which the broker is gone; None: two minutes."""
