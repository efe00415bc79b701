"""MessageType: the type of a message (normal, FIFO, delay, transaction), under RocketMQ's names.

The type of a message follows from its properties; the type that a topic takes is in its attribute
`message.type`.
"""

from collections.abc import Mapping
from enum import Enum

from aerobee.model.properties import (
    DELAY,
    SHARDING_KEY,
    TIMER_DELAY_MS,
    TIMER_DELAY_SECONDS,
    TIMER_DELIVER_MS,
    TRANSACTION_PREPARED,
)

_FOR_LATER = (DELAY, TIMER_DELIVER_MS, TIMER_DELAY_MS, TIMER_DELAY_SECONDS)


class MessageType(Enum):
    UNSPECIFIED = "UNSPECIFIED"  # of topics: any type
    NORMAL = "NORMAL"
    FIFO = "FIFO"
    DELAY = "DELAY"
    TRANSACTION = "TRANSACTION"
    MIXED = "MIXED"  # of topics: all types


def type_of(properties: Mapping[str, str]) -> MessageType:
    """The type of a message by its properties; transaction before delay before FIFO."""
    if properties.get(TRANSACTION_PREPARED) == "true":
        return MessageType.TRANSACTION
    if any(name in properties for name in _FOR_LATER):
        return MessageType.DELAY
    if SHARDING_KEY in properties:
        return MessageType.FIFO
    return MessageType.NORMAL


def takes(wanted: str | None, actual: MessageType) -> bool:
    """Whether a topic with this attribute, or without one, takes a message."""
    return wanted in (None, MessageType.UNSPECIFIED.value, MessageType.MIXED.value, actual.value)
