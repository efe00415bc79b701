"""The fields of a SEND_MESSAGE request for a message that was sent by gRPC.

The queue -1 leaves the choice to the broker: the next in turn.
"""

from aerobee.model.names import AUTO_CREATE_TEMPLATE_TOPIC
from aerobee.model.properties import encode_properties
from aerobee.protocol.grpc.resources import GrpcMessage, SystemProperties


def sent_fields(
    message: GrpcMessage, topic: str, queue_id: int, properties: dict[str, str], wall_ms: int
) -> dict[str, str]:
    """The fields by their short names. LocalProtocolError: the properties do not fit into a
    record. `wall_ms` is the birth of a message that does not say its own."""
    system = message.system_properties or SystemProperties()
    born = system.born_timestamp
    return {
        "a": topic,
        "b": topic,
        "c": AUTO_CREATE_TEMPLATE_TOPIC,
        "d": "4",
        "e": str(queue_id),
        "f": "0",
        "g": str(wall_ms if born is None else born.ms),
        "h": "0",
        "i": encode_properties(properties).decode(),
        "j": "0",
    }
