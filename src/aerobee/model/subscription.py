"""Subscription and the modes of a consumer: how it consumes, from where, and which messages.

The names are Java's, and the order of each enumeration is Java's too: C++ clients send positions
where the others send names.
"""

from dataclasses import dataclass
from enum import Enum

BY_TAG = "TAG"
BY_SQL = "SQL92"
ALL = "*"


class ConsumeType(Enum):
    ACTIVELY = "CONSUME_ACTIVELY"  # a pull consumer
    PASSIVELY = "CONSUME_PASSIVELY"  # a push consumer: its client pulls all the time
    POP = "CONSUME_POP"


class MessageModel(Enum):
    BROADCASTING = "BROADCASTING"  # every member gets every message and keeps its own offsets
    CLUSTERING = "CLUSTERING"  # each message goes to one member; the broker keeps the offsets


class ConsumeFrom(Enum):
    """The start of a group that has no offset yet. Decided by clients, only shown by brokers."""

    LAST_OFFSET = "CONSUME_FROM_LAST_OFFSET"
    LAST_OFFSET_AND_MIN_AT_FIRST = "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST"
    MIN_OFFSET = "CONSUME_FROM_MIN_OFFSET"
    MAX_OFFSET = "CONSUME_FROM_MAX_OFFSET"
    FIRST_OFFSET = "CONSUME_FROM_FIRST_OFFSET"
    TIMESTAMP = "CONSUME_FROM_TIMESTAMP"


@dataclass(frozen=True, slots=True)
class Subscription:
    """A group's subscription to one topic."""

    topic: str
    expression: str = ALL
    tag_codes: frozenset[int] | None = None
    """Hashes of the subscribed tags; None: all, or another filter decides."""
    version: int = 0
    """The time at which the client made it, in ms: of two, the later counts."""
    expression_type: str = BY_TAG
    tags: tuple[str, ...] = ()

    @property
    def is_by_tag(self) -> bool:
        return self.expression_type == BY_TAG
