"""The fields of a SEND_MESSAGE request for a message that was sent by gRPC.

A message of a group goes to the group's queue; any other has no queue, and the broker chooses the
next in turn.
"""

from aerobee.errors import LocalProtocolError
from aerobee.model.names import AUTO_CREATE_TEMPLATE_TOPIC
from aerobee.model.properties import encode_properties
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import GrpcMessage, SystemProperties
from aerobee.service.proxy.group_queues import queue_of_group
from aerobee.service.proxy.outcomes import CallRefused


def sent_fields(
    message: GrpcMessage, topic: TopicConfig, properties: dict[str, str], now: Now
) -> dict[str, str]:
    """The fields by their short names. CallRefused: the properties do not fit into a record."""
    system = message.system_properties or SystemProperties()
    try:
        text = encode_properties(properties).decode()
    except LocalProtocolError as error:
        raise CallRefused(GrpcCode.MESSAGE_PROPERTIES_TOO_LARGE, error.message) from None
    group = system.message_group
    born = system.born_timestamp
    return {
        "a": topic.name,
        "b": topic.name,
        "c": AUTO_CREATE_TEMPLATE_TOPIC,
        "d": "4",
        "e": str(queue_of_group(group, topic.write_queues) if group else -1),
        "f": "0",
        "g": str(now.wall_ms if born is None else born.ms),
        "h": "0",
        "i": text,
        "j": "0",
    }
