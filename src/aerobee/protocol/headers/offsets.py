"""The fields of requests about offsets: how far groups are, where queues end, where a time lies,
and of their answers.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64


@dataclass(frozen=True, slots=True)
class QueryOffsetHeader:
    consumer_group: str
    topic: str
    queue_id: Int32
    set_zero_if_not_found: bool = True


@dataclass(frozen=True, slots=True)
class CommitOffsetHeader:
    """Fields may be absent: Apache answers that with a code of its own."""

    consumer_group: str | None = None
    topic: str | None = None
    queue_id: Int32 | None = None
    commit_offset: Int64 | None = None


@dataclass(frozen=True, slots=True)
class SearchOffsetHeader:
    topic: str
    queue_id: Int32
    timestamp: Int64
    boundary_type: str = "LOWER"


@dataclass(frozen=True, slots=True)
class MaxOffsetHeader:
    topic: str
    queue_id: Int32
    committed: bool = True
    """Whether only what can be read counts."""


@dataclass(frozen=True, slots=True)
class QueueHeader:
    """Header of requests about one queue."""

    topic: str
    queue_id: Int32


@dataclass(frozen=True, slots=True)
class OffsetAnswerHeader:
    offset: Int64


@dataclass(frozen=True, slots=True)
class StoreTimeAnswerHeader:
    timestamp: Int64
