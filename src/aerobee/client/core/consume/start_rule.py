"""`StartRule`: the first offset of a group in a queue where it has committed none.

    start          a topic            the group's retry topic
    earliest       0                  0
    latest         the queue's end    0
    a moment       the first message that was stored then or later
                                      the queue's end

These are RocketMQ's three rules, with two surprises: a retry topic is read from its beginning,
because its messages were already tried by this group; and a broker may answer 0 for a group that is
new to a young queue, which counts as an offset. RocketMQ 5's brokers do not where a moment is
named. An offset 0 below the queue's first offset is corrected by the first pull.
"""

from dataclasses import dataclass
from enum import Enum

from aerobee.model.names import is_retry_topic
from aerobee.model.subscription import ConsumeFrom


class Start(Enum):
    EARLIEST = "earliest"
    LATEST = "latest"
    MOMENT = "moment"


@dataclass(frozen=True, slots=True)
class StartRule:
    start: Start = Start.LATEST
    moment_ms: int = 0

    @property
    def is_earliest(self) -> bool:
        return self.start is Start.EARLIEST

    @property
    def consume_from(self) -> ConsumeFrom:
        """The name of the rule in heartbeats."""
        return _CONSUME_FROM[self.start]


class Ask(Enum):
    """The request to the broker that finds the offset."""

    NOTHING = "begin at the beginning"
    END = "where the queue ends"
    MOMENT = "where a moment lies in the queue"


_CONSUME_FROM = {
    Start.EARLIEST: ConsumeFrom.FIRST_OFFSET,
    Start.LATEST: ConsumeFrom.LAST_OFFSET,
    Start.MOMENT: ConsumeFrom.TIMESTAMP,
}


def question(rule: StartRule, topic: str) -> Ask:
    """The request that finds the first offset of a group in a queue of this topic."""
    if is_retry_topic(topic):
        return Ask.END if rule.start is Start.MOMENT else Ask.NOTHING
    if rule.start is Start.EARLIEST:
        return Ask.NOTHING
    return Ask.END if rule.start is Start.LATEST else Ask.MOMENT
