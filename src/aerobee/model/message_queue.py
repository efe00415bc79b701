"""MessageQueue, and types for positions of messages that do not mix.

A `LogOffset` is a byte position in the whole commit log, a `QueueOffset` an ordinal in one message
queue, a `QueueId` the number of a queue in its topic.
"""

from dataclasses import dataclass
from typing import NewType

LogOffset = NewType("LogOffset", int)
QueueOffset = NewType("QueueOffset", int)
QueueId = NewType("QueueId", int)


@dataclass(frozen=True, slots=True, order=True)
class MessageQueue:
    """One queue of a topic on one broker. Ordered as Java orders it: topic, broker, id."""

    topic: str
    broker_name: str
    queue_id: QueueId

    def __str__(self) -> str:
        return f"{self.topic}@{self.broker_name}:{self.queue_id}"

    @property
    def java_text(self) -> str:
        """A queue as Java writes it: its clients hash this text, RocketMQ's tool shows it."""
        return (
            f"MessageQueue [topic={self.topic}, brokerName={self.broker_name}, "
            f"queueId={self.queue_id}]"
        )
