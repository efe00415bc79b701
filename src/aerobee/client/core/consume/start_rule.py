"""Where a group begins in a queue that it has no offset in.

    start          a topic            the group's retry topic
    earliest       0                  0
    latest         the queue's end    0
    a moment       the first message that was stored then or later
                                      the queue's end

As RocketMQ's three rules, with its two surprises: a retry topic is read from its beginning, for
what lies there was already tried by this group; and a broker may say 0 for a group that is new to a
young queue, which counts as an offset. Brokers of RocketMQ 5 do not say it where a moment is named.
0 where the queue begins later is corrected by the first pull.
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
        """What a heartbeat says of it."""
        return _CONSUME_FROM[self.start]


class Ask(Enum):
    """What is to be asked of the broker."""

    NOTHING = "begin at the beginning"
    END = "where the queue ends"
    MOMENT = "where a moment lies in the queue"


_CONSUME_FROM = {
    Start.EARLIEST: ConsumeFrom.FIRST_OFFSET,
    Start.LATEST: ConsumeFrom.LAST_OFFSET,
    Start.MOMENT: ConsumeFrom.TIMESTAMP,
}


def question(rule: StartRule, topic: str) -> Ask:
    """How to find the first offset of a group that has none in a queue of this topic."""
    if is_retry_topic(topic):
        return Ask.END if rule.start is Start.MOMENT else Ask.NOTHING
    if rule.start is Start.EARLIEST:
        return Ask.NOTHING
    return Ask.END if rule.start is Start.LATEST else Ask.MOMENT
