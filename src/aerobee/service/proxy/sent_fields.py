"""The fields of a SEND_MESSAGE request for a message that was sent by gRPC.

The queue -1 leaves the choice to the broker: the next in turn.
"""

from aerobee.errors import LocalProtocolError
from aerobee.model.names import AUTO_CREATE_TEMPLATE_TOPIC
from aerobee.model.properties import encode_properties
from aerobee.ports.clock import Now
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import GrpcMessage, SystemProperties
from aerobee.service.proxy.outcomes import CallRefused


def sent_fields(
    message: GrpcMessage, topic: str, queue_id: int, properties: dict[str, str], now: Now
) -> dict[str, str]:
    """The fields by their short names. CallRefused: the properties do not fit into a record."""
    system = message.system_properties or SystemProperties()
    try:
        text = encode_properties(properties).decode()
    except LocalProtocolError as error:
        raise CallRefused(GrpcCode.MESSAGE_PROPERTIES_TOO_LARGE, error.message) from None
    born = system.born_timestamp
    return {
        "a": topic,
        "b": topic,
        "c": AUTO_CREATE_TEMPLATE_TOPIC,
        "d": "4",
        "e": str(queue_id),
        "f": "0",
        "g": str(now.wall_ms if born is None else born.ms),
        "h": "0",
        "i": text,
        "j": "0",
    }
