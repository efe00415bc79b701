"""MessageType: the type of a message (normal, FIFO, delay, transaction, priority), under RocketMQ's
names.

The type of a message follows from its properties; the type that a topic takes is in its attribute
`message.type`. Whether the two go together is decided here, for every protocol.
"""

import re
from collections.abc import Mapping
from enum import Enum

from aerobee.model.names import is_dead_letter_topic, is_retry_topic
from aerobee.model.properties import (
    DELAY,
    PRIORITY,
    SHARDING_KEY,
    TIMER_DELAY_MS,
    TIMER_DELAY_SECONDS,
    TIMER_DELIVER_MS,
    TRANSACTION_PREPARED,
)
from aerobee.model.topic import MESSAGE_TYPE, TopicConfig

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


def find_type_fault(topic: TopicConfig, actual: MessageType, *, is_strict: bool) -> str | None:
    """The fault of sending a message of a type to a topic, in the words of RocketMQ's proxy; None:
    the topic takes it. Retries and dead letters have every type.

    `is_strict`: a topic that is of no type takes normal messages alone, and one that is UNSPECIFIED
    none, as with that proxy; else both take any.
    """
    untyped = MessageType.NORMAL if is_strict else MessageType.UNSPECIFIED
    wanted = topic.attributes.get(MESSAGE_TYPE, untyped.value)
    takes_any = wanted == MessageType.UNSPECIFIED.value and not is_strict
    is_derived = is_retry_topic(topic.name) or is_dead_letter_topic(topic.name)
    if takes_any or is_derived or wanted in (MessageType.MIXED.value, actual.value):
        return None
    return (
        f"TopicMessageType validate failed, the expected type is {wanted}, "
        f"but actual type is {actual.value}"
    )
