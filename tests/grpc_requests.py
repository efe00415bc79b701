"""Requests of gRPC as bytes, in the form that official clients write them."""

from aerobee.protocol.grpc.calls import SendMessageRequest
from aerobee.protocol.grpc.resources import (
    GrpcMessage,
    Resource,
    SystemProperties,
    timestamp_of,
)
from aerobee.protocol.grpc.wire import encode

BORN_MS = 1_700_000_000_123


def plain_message(
    topic: str = "orders",
    body: bytes = b"body",
    properties: dict[str, str] | None = None,
    **system: object,
) -> GrpcMessage:
    """A message as a client sends it, with everything that it always says."""
    said = {
        "message_id": "01ABCDEF0123456789ABCDEF0123456789",
        "body_encoding": 1,
        "message_type": 1,
        "born_timestamp": timestamp_of(BORN_MS),
        "born_host": "host.example",
        **system,
    }
    return GrpcMessage(
        Resource("", topic),
        properties or {},
        SystemProperties(**said),  # type: ignore[arg-type]
        body,
    )


PLAIN = encode(plain_message())
"""One message, without the request around it."""


def send_request(message: bytes = PLAIN) -> bytes:
    """A request with this one message."""
    size = len(message)
    prefix = b"\x0a" + (bytes([size]) if size < 0x80 else bytes([size & 0x7F | 0x80, size >> 7]))
    assert size < 1 << 14
    return prefix + message


assert send_request() == encode(SendMessageRequest([plain_message()]))
