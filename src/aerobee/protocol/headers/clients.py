"""Header fields of requests about clients and groups: UNREGISTER_CLIENT, member lists, and the
notification that members changed.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import on_wire


@dataclass(frozen=True, slots=True)
class UnregisterHeader:
    client_id: str = on_wire("clientID")
    producer_group: str = ""
    consumer_group: str = ""


@dataclass(frozen=True, slots=True)
class ConsumerGroupHeader:
    """Header of requests about one consumer group, and of the notification that its members
    changed.
    """

    consumer_group: str


@dataclass(frozen=True, slots=True)
class ProducerGroupHeader:
    producer_group: str


@dataclass(frozen=True, slots=True)
class HeartbeatAnswerHeader:
    supports_fingerprints: bool = on_wire("IS_SUPPORT_HEART_BEAT_V2")
    is_changed: bool = on_wire("IS_SUB_CHANGE")
    """Subscriptions that were left out are wanted in the next heartbeat."""
