"""gRPC messages ⇄ stored messages: which system property is which property of a record.

What a client may not set and a broker adds is left out of the user properties of a delivered
message. Bodies are handed out uncompressed with their MD5, which every client reads.
"""

import hashlib
import zlib
from collections.abc import Mapping

from aerobee.errors import RemoteProtocolError
from aerobee.model.message import KEY_SEPARATOR, StoredMessage
from aerobee.model.message_type import MessageType, type_of
from aerobee.model.properties import (
    BORN_HOST,
    BORN_TIMESTAMP,
    CHECK_IMMUNITY_SECONDS,
    DEAD_LETTER_ORIGIN_MESSAGE_ID,
    DEAD_LETTER_ORIGIN_TOPIC,
    FORWARD_QUEUE_ID,
    INNER_BASE,
    INNER_COUNT,
    INNER_MULTI_DISPATCH,
    KEYS,
    ORIGIN_GROUP,
    PRIORITY,
    PRODUCER_GROUP,
    REDIRECT,
    RESERVED_NAMES,
    SHARDING_KEY,
    TAGS,
    TIMER_DELIVER_MS,
    TRACE_CONTEXT,
    TRANSACTION_CHECK_TIMES,
    TRANSACTION_ID,
    TRANSACTION_PREPARED,
    UNIQUE_KEY,
)
from aerobee.protocol.grpc.codes import IDENTITY, MD5, GrpcMessageType
from aerobee.protocol.grpc.resources import (
    DeadLetterQueue,
    Digest,
    GrpcMessage,
    Resource,
    SystemProperties,
    timestamp_of,
)

_HIDDEN = RESERVED_NAMES | {
    CHECK_IMMUNITY_SECONDS,
    FORWARD_QUEUE_ID,
    INNER_BASE,
    INNER_COUNT,
    INNER_MULTI_DISPATCH,
    ORIGIN_GROUP,
    REDIRECT,
    SHARDING_KEY,
    TRACE_CONTEXT,
    TRANSACTION_CHECK_TIMES,
    TRANSACTION_ID,
}
"""Properties that are no user properties of a delivered message."""
_GZIP_WINDOW = 31

GRPC_TYPES = {
    MessageType.NORMAL: GrpcMessageType.NORMAL,
    MessageType.FIFO: GrpcMessageType.FIFO,
    MessageType.DELAY: GrpcMessageType.DELAY,
    MessageType.TRANSACTION: GrpcMessageType.TRANSACTION,
    MessageType.PRIORITY: GrpcMessageType.PRIORITY,
}


def stored_properties(message: GrpcMessage, topic: str, peer: str) -> dict[str, str]:
    """The properties of a record for a message that was sent. The producer group is the topic:
    clients of gRPC have none."""
    system = message.system_properties or SystemProperties()
    properties = {name: value for name, value in message.user_properties.items() if value}
    properties[UNIQUE_KEY] = system.message_id
    properties[PRODUCER_GROUP] = topic
    properties[BORN_HOST] = system.born_host or peer
    if system.born_timestamp is not None:
        properties[BORN_TIMESTAMP] = str(system.born_timestamp.ms)
    if system.tag:
        properties[TAGS] = system.tag
    keys = KEY_SEPARATOR.join(system.keys)
    if keys:
        properties[KEYS] = keys
    if system.message_type == GrpcMessageType.TRANSACTION:
        properties[TRANSACTION_PREPARED] = "true"
        recovery = system.orphaned_transaction_recovery_duration
        if recovery is not None:
            properties[CHECK_IMMUNITY_SECONDS] = str(recovery.seconds)
    if system.delivery_timestamp is not None:
        properties[TIMER_DELIVER_MS] = str(system.delivery_timestamp.ms)
    if system.message_group:
        properties[SHARDING_KEY] = system.message_group
    if system.trace_context:
        properties[TRACE_CONTEXT] = system.trace_context
    if system.priority is not None:
        properties[PRIORITY] = str(system.priority)
    return properties


def plain_body(body: bytes, bytes_max: int) -> bytes:
    """The body behind a gzip encoding. RemoteProtocolError: it is none, or too large."""
    unpacking = zlib.decompressobj(_GZIP_WINDOW)
    try:
        plain = unpacking.decompress(body, bytes_max + 1)
    except zlib.error as error:
        raise RemoteProtocolError(f"the body is no gzip: {error}") from None
    if not unpacking.eof and len(plain) <= bytes_max:
        raise RemoteProtocolError("the body is a gzip without its end")
    return plain


def delivered_message(message: StoredMessage, topic: str, attempt: int, handle: str) -> GrpcMessage:
    """The message that is handed out, its body uncompressed; `topic` is the one it was sent to. An
    empty handle: it is not to be acknowledged."""
    properties = message.properties
    system = SystemProperties(
        tag=properties.get(TAGS),
        keys=list(message.keys),
        message_id=message.message_id,
        body_digest=Digest(
            MD5, hashlib.md5(message.body, usedforsecurity=False).hexdigest().upper()
        ),
        body_encoding=IDENTITY,
        message_type=GRPC_TYPES[type_of(properties)],
        born_timestamp=timestamp_of(message.born_timestamp),
        born_host=properties.get(BORN_HOST) or _host_text(message.born_host),
        store_timestamp=timestamp_of(message.store_timestamp),
        store_host=_host_text(message.store_host),
        receipt_handle=handle or None,
        queue_id=message.queue_id,
        queue_offset=message.queue_offset,
        delivery_attempt=attempt,
        message_group=properties.get(SHARDING_KEY),
        trace_context=properties.get(TRACE_CONTEXT),
        dead_letter_queue=_dead_letter(properties),
        priority=_whole(properties.get(PRIORITY)),
    )
    deliver_ms = _whole(properties.get(TIMER_DELIVER_MS))
    if deliver_ms is not None:
        system.delivery_timestamp = timestamp_of(deliver_ms)
    shown = {name: value for name, value in properties.items() if name not in _HIDDEN}
    return GrpcMessage(topic_resource(topic), shown, system, message.body)


def topic_resource(topic: str) -> Resource:
    """A stored topic, its namespace apart."""
    namespace, _, name = topic.rpartition("%") if not topic.startswith("%") else ("", "", topic)
    return Resource(namespace, name)


def _dead_letter(properties: Mapping[str, str]) -> DeadLetterQueue | None:
    topic = properties.get(DEAD_LETTER_ORIGIN_TOPIC)
    message_id = properties.get(DEAD_LETTER_ORIGIN_MESSAGE_ID)
    return DeadLetterQueue(topic, message_id) if topic and message_id else None


def _host_text(host: tuple[str, int]) -> str:
    address, port = host
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
