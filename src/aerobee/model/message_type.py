"""MessageType: the type of a message (normal, FIFO, delay, transaction, priority), under RocketMQ's
names.

The type of a message follows from its properties; the type that a topic takes is in its attribute
`message.type`.
"""

import re
from collections.abc import Mapping
from enum import Enum

from aerobee.model.properties import (
    DELAY,
    PRIORITY,
    SHARDING_KEY,
    TIMER_DELAY_MS,
    TIMER_DELAY_SECONDS,
    TIMER_DELIVER_MS,
    TRANSACTION_PREPARED,
)

NO_PRIORITY = -1

_WHOLE = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)
_INT32_MAX = 2**31 - 1
_FOR_LATER = (DELAY, TIMER_DELIVER_MS, TIMER_DELAY_MS, TIMER_DELAY_SECONDS)


class MessageType(Enum):
    UNSPECIFIED = "UNSPECIFIED"  # of topics: any type
    NORMAL = "NORMAL"
    FIFO = "FIFO"
    DELAY = "DELAY"
    TRANSACTION = "TRANSACTION"
    PRIORITY = "PRIORITY"
    MIXED = "MIXED"  # of topics: all types


def type_of(properties: Mapping[str, str]) -> MessageType:
    """The type of a message by its properties; transaction before delay before FIFO before
    priority."""
    if properties.get(TRANSACTION_PREPARED) == "true":
        return MessageType.TRANSACTION
    if any(name in properties for name in _FOR_LATER):
        return MessageType.DELAY
    if SHARDING_KEY in properties:
        return MessageType.FIFO
    if PRIORITY in properties:
        return MessageType.PRIORITY
    return MessageType.NORMAL


def priority_of(properties: Mapping[str, str]) -> int:
    """The priority of a message, from 0 on; NO_PRIORITY if it has none, or no number for it."""
    text = properties.get(PRIORITY, "")
    number = int(text) if _WHOLE.fullmatch(text) else NO_PRIORITY
    return number if 0 <= number <= _INT32_MAX else NO_PRIORITY


def takes(wanted: str | None, actual: MessageType) -> bool:
    """Whether a topic with this attribute, or without one, takes a message."""
    return wanted in (None, MessageType.UNSPECIFIED.value, MessageType.MIXED.value, actual.value)
