"""Facts of a message and of groups that causes are judged by: values, gathered beforehand.

A copy is a message with the same id: a retry, a dead letter, or one that waits for its time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import MessageQueue
from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC, TRANSACTION_HALF_TOPIC
from aerobee.model.properties import REAL_TOPIC
from aerobee.model.subscription import MessageModel, Subscription
from aerobee.protocol.bodies.open_transactions import OpenTransaction

WAITING_ROOMS = (SCHEDULE_TOPIC, TIMER_TOPIC, TRANSACTION_HALF_TOPIC)
"""Topics in which messages wait for another."""


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """One queue of a topic, with a group's progress in it."""

    start: int
    end: int
    at: int
    """Where the group is; -1: it has not begun."""
    pulled: int = 0
    """What its members have been given ends here."""
    owner: str = ""
    """The member that has it; empty: nobody says that it has."""
    last_pull_ms: int = 0
    is_paused: bool = False
    is_readable: bool = True
    consumed_ms: int = 0
    """When the last message was stored that was consumed; 0: none was."""

    @property
    def lag(self) -> int:
        return max(0, self.end - max(self.at, self.start))


@dataclass(frozen=True, slots=True)
class GroupFacts:
    group: str
    now_ms: int
    is_known: bool = True
    """A broker has it set up, or it has consumed something."""
    is_enabled: bool = True
    forbidden: tuple[str, ...] = ()
    """Topics that it may not read."""
    model: MessageModel | None = None
    """None: nobody is online."""
    is_popping: bool = False
    """Nobody owns a queue: members pop from all of them."""
    members: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    """Members that did not say which queues they have."""
    subscriptions: Mapping[str, Subscription] = field(default_factory=dict)
    mismatches: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    queues: Mapping[MessageQueue, QueueFacts] = field(default_factory=dict)
    dead_letters: int = 0

    @property
    def is_broadcasting(self) -> bool:
        return self.model is MessageModel.BROADCASTING


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """All copies that have the id of a message."""

    message_id: str
    topic: str = ""
    """That it was sent to; empty: not known."""
    has_route: bool = True
    copies: tuple[tuple[str, StoredMessage], ...] = ()
    """By broker: in its topic, in waiting rooms, in retries and among dead letters."""
    open: OpenTransaction | None = None
    """A transaction that is not decided."""
    oldest_ms: int = 0
    """When the oldest message was stored that is still there; 0: not known."""
    born_ms: int = 0
    """When its id was made; 0: its id does not say."""
    is_gone: bool = False
    """Its id names a place in a log that is no longer there."""
    delay_levels_ms: tuple[int, ...] = ()

    def in_topic(self, topic: str) -> list[tuple[str, StoredMessage]]:
        """Return the copies in a topic, in the order in which they were stored."""
        found = [one for one in self.copies if one[1].topic == topic]
        return sorted(found, key=lambda one: one[1].store_timestamp)

    def waiting_for(self, topic: str) -> list[StoredMessage]:
        """Return the copies that wait, or waited, to be delivered to a topic, in the order of
        storing."""
        found = [
            message
            for _, message in self.copies
            if message.topic in (SCHEDULE_TOPIC, TIMER_TOPIC)
            and message.properties.get(REAL_TOPIC) == topic
        ]
        return sorted(found, key=lambda message: message.store_timestamp)
