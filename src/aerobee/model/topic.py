"""TopicConfig, a topic on a broker, and DataVersion, the version of a broker's table of topics.

Agrees with Java's TopicConfig, TopicSysFlag and DataVersion.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from aerobee.model.flags import Permission

UNIT = 0x1
UNIT_SUBSCRIPTION = 0x2
"""Bits of a topic's system flag: made in a unit of its own, subscribed to from other units."""

DEFAULT_QUEUES = 16
QUEUES_MAX = 4096
"""Limit of one topic: each queue is a folder in the store."""
SINGLE_TAG = "SINGLE_TAG"
CLEANUP_POLICY = "cleanup.policy"
COMPACTION = "COMPACTION"
"""An attribute, and its value for topics of which the newest message of each key stays."""
RESERVE_TIME = "reserve.time"
"""An attribute: the hours for which messages are visible, if not as long as the log has them."""
QUEUE_TYPE = "queue.type"
BATCH_QUEUES = "BatchCQ"
"""An attribute, and its value for topics whose queues RocketMQ keeps as batch consume queues."""
MESSAGE_TYPE = "message.type"
PRIORITY = "PRIORITY"
"""An attribute, and its value for topics of which POP hands out high priorities first."""
MADE_BY = "made.by"
"""An attribute of our own: the user who made the topic, if it was not a super user."""


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """The configuration of one topic on one broker. The defaults are those of admin tools."""

    name: str
    read_queues: int = DEFAULT_QUEUES
    write_queues: int = DEFAULT_QUEUES
    permission: int = int(Permission.READ | Permission.WRITE)
    sys_flag: int = 0
    is_order: bool = False
    filter_type: str = SINGLE_TAG
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_compacted(self) -> bool:
        return self.attributes.get(CLEANUP_POLICY) == COMPACTION

    @property
    def has_batch_queues(self) -> bool:
        return self.attributes.get(QUEUE_TYPE) == BATCH_QUEUES

    @property
    def has_priorities(self) -> bool:
        return self.attributes.get(MESSAGE_TYPE) == PRIORITY

    @property
    def reserved_hours(self) -> int:
        """The hours for which its messages are visible; 0: as long as the log has them."""
        text = self.attributes.get(RESERVE_TIME, "")
        return int(text) if text.isascii() and text.isdigit() else 0


class DataVersion(NamedTuple):
    """The version of a table. Two are the same state if all three fields are equal.

    Versions of one life of a broker are ordered, by the fields in this order; those of different
    lives are not, because a broker that lost its files counts from 0 again.
    """

    state_version: int = 0
    """The term of the master that made it, if masters are elected."""
    counter: int = 0
    """Changes since the table was made."""
    timestamp: int = 0
    """Wall time of the last change, in ms."""

    def next(self, wall_ms: int) -> "DataVersion":
        """The version after one more change."""
        return DataVersion(self.state_version, self.counter + 1, wall_ms)
