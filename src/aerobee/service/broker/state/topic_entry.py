"""TopicEntry has the facts about a topic that the fast path of sends needs, without any lookup.

A topic may be for messages of one type only, by its attribute `message.type`: delayed and half
messages (kinds as in `send_diversion`) and messages with a priority (kind 7) are known here. Other
types, and messages that do not have
their topic's type, are left to the general handler.

Made anew whenever the topic's configuration changes.
"""

from typing import TYPE_CHECKING

from aerobee.model.flags import is_writable
from aerobee.model.message_type import MessageType
from aerobee.model.names import is_broker_written, is_retry_topic
from aerobee.model.topic import MESSAGE_TYPE, SINGLE_TAG, TopicConfig

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

_PLAIN_BYTES_MAX = 127  # longer names need the other record version
_ALL_KINDS = 0b11111101
_KINDS = {
    MessageType.UNSPECIFIED.value: _ALL_KINDS,
    MessageType.MIXED.value: _ALL_KINDS,
    MessageType.DELAY.value: 0b1110100,
    MessageType.TRANSACTION.value: 0b0001000,
    MessageType.PRIORITY.value: 0b10000000,
}


def is_compiled() -> bool:
    return cython.compiled


class TopicEntry:
    """E1. A send whose kind has its bit in `kinds` needs no check but those of the entry itself."""

    __slots__ = ("_turn", "kinds", "name", "queues_end", "takes_normal", "write_queues")

    def __init__(self, config: TopicConfig) -> None:
        self.name = config.name.encode()
        self.write_queues = config.write_queues
        # Queues that are only read any more may still be written by a send that names one.
        self.queues_end = max(config.read_queues, config.write_queues)
        is_plain = (
            is_writable(config.permission)
            and config.write_queues > 0
            and config.filter_type == SINGLE_TAG
            and not config.is_order
            and not is_retry_topic(config.name)
            and not is_broker_written(config.name)
            and len(self.name) <= _PLAIN_BYTES_MAX
        )
        self.kinds = _kinds_of(config) if is_plain else 0
        # Whether it takes a message that is known to be normal, whatever type it is for.
        self.takes_normal = is_plain and set(config.attributes) <= {MESSAGE_TYPE}
        self._turn = 0

    def next_queue(self) -> int:
        """The queue of a send that names none: round robin."""
        self._turn += 1
        if self._turn >= self.write_queues:
            self._turn = 0
        return self._turn


def _kinds_of(config: TopicConfig) -> int:
    """The kinds that a topic takes, by its attributes."""
    if not config.attributes:
        return _ALL_KINDS
    if set(config.attributes) != {MESSAGE_TYPE}:
        return 0
    return _KINDS.get(config.attributes[MESSAGE_TYPE], 0)
