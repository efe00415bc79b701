"""Header fields of requests to RocketMQ's controller: GET_REPLICA_INFO (1004) and GET_METADATA_INFO
(1005). ELECT_MASTER is in `protocol.headers.replication`.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64


@dataclass(frozen=True, slots=True)
class ControllerMetadataHeader:
    """Header of the answer to GET_METADATA_INFO."""

    group: str
    controller_leader_id: str
    """Empty: none is known."""
    controller_leader_address: str
    is_leader: bool
    """Whether the one that answers leads."""
    peers: str
    """n0:host:port;n1:host:port;"""


@dataclass(frozen=True, slots=True)
class ReplicaInfoHeader:
    broker_name: str


@dataclass(frozen=True, slots=True)
class ReplicaInfoAnswerHeader:
    """Header of the answer to GET_REPLICA_INFO."""

    master_broker_id: Int64
    master_address: str
    master_epoch: Int32
