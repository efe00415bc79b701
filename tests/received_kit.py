"""Received messages, made by hand."""

from dataclasses import replace

from aerobee.client.api.message import Message
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, MessageQueue, QueueId, QueueOffset
from aerobee.protocol.message.received_message import MessageReader
from aerobee.protocol.message.stored_message import encode_record

QUEUE = MessageQueue("T", "b", QueueId(0))


def stored(
    offset: int = 0,
    body: bytes = b"body",
    *,
    topic: str = "T",
    sys_flag: int = 0,
    tried: int = 0,
    **properties: str,
) -> StoredMessage:
    return StoredMessage(
        topic,
        QueueId(0),
        QueueOffset(offset),
        LogOffset(1000 + offset),
        body,
        properties,
        1_700_000_000_123,
        Host("10.0.0.1", 99),
        1_700_000_000_456,
        Host("10.0.0.2", 10911),
        flag=5,
        sys_flag=sys_flag,
        reconsume_times=tried,
    )


def received(*offsets: int, holder: object = None, **properties: str) -> list[Message]:
    """Messages at these offsets."""
    records = b"".join(
        encode_record(replace(stored(offset), properties=properties)) for offset in offsets
    )
    found = MessageReader(Message).read(records, QUEUE, holder)
    return [message for message in found if isinstance(message, Message)]
