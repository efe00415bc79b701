"""MessageWriter appends messages to the log for the general path: sends with special properties,
retries, dead letters, messages of the broker itself.

A delayed message (property DELAY above 0) goes into the schedule topic under its level, with its
own topic and queue in REAL_TOPIC and REAL_QID; it is delivered by `redelivery`. One with a delivery
time (TIMER_DELIVER_MS and the like) goes to the timer's topic in the same form; a level takes
precedence over a time.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from aerobee.model.flags import TransactionType
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import QueueId
from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC
from aerobee.model.properties import (
    DELAY,
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TIMER_DELAY_MS,
    TIMER_DELAY_SECONDS,
    TIMER_DELIVER_MS,
    TIMER_OUT_MS,
)
from aerobee.ports.clock import Now
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.stored_message import fill_draft
from aerobee.service.broker.log_access.put_place import LocalLog, PutPlace
from aerobee.service.broker.log_access.put_place import Safe as Safe
from aerobee.service.broker.log_access.redelivery import Redelivery
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.storage.store import Store

_TIMER_TOPIC = TIMER_TOPIC.encode()
_NO_OFFSETS: tuple[int, ...] = ()
_TIMES = (TIMER_DELAY_SECONDS, TIMER_DELAY_MS, TIMER_DELIVER_MS)


class Diversion(Protocol):
    """The timer, as the writer needs it: assigns ticks to delivery times."""

    def out_ms(self, message: StoredMessage, now: Now) -> int:
        """The tick that a message has to wait for; 0: none. StorageError: the message is
        refused."""

    def tick_of(self, deliver_ms: int, now: Now) -> int:
        """The same, for a delivery time."""


class StoredAt(NamedTuple):
    """The queue and offsets of a stored message."""

    log_offset: int
    topic: str
    queue_id: int
    queue_offset: int
    end_offset: int
    record_offsets: Sequence[int]
    """The log offset of each record: several for a batch, none for a quiet send."""
    out_ms: int = 0
    """TIMER_OUT_MS of a message that waits for a time; 0: it does not."""
    is_repeated: bool = False
    """Whether it was stored before, and nothing was stored now."""


class HalfKeeper(Protocol):
    """Stores half messages and keeps them until their transactions end."""

    def open(self, message: StoredMessage, group: str, now: Now) -> StoredAt:
        """Store a message as a half, invisible to consumers. StorageError: it is refused."""


class MessageWriter:
    """Appends messages, and calls back when they are safe, so that they may be acknowledged."""

    def __init__(self, store: Store, answers: SafeAnswers, delay_levels: int) -> None:
        self.place: PutPlace = LocalLog(store)
        """The log that messages are put into."""
        self.answers = answers
        """Answers to requests that wait until what was appended is safe."""
        self._delay_levels = delay_levels
        self._draft = MessageDraft()
        self._timer: Diversion | None = None
        self._stored = 0
        self.redelivery = Redelivery(store.appender)
        """Delivers messages from system topics to their real topic."""

    @property
    def stored(self) -> int:
        """The number of records stored since the start."""
        return self._stored + self.redelivery.stored

    def put_into(self, place: PutPlace) -> None:
        """Put messages into another log from now on. Called before `redelivery` is handed out."""
        self.place = place
        self.redelivery = Redelivery(place.appender)

    def divert_to(self, timer: Diversion) -> None:
        """Divert messages with a delivery time to this timer; without one they are stored as they
        are."""
        self._timer = timer

    def put(self, message: StoredMessage, now: Now) -> StoredAt:
        """Store a message; a delayed or timed one in its system topic. StorageError: it is
        refused."""
        level = delay_level(message, self._delay_levels)
        if level > 0:
            return self.put_as_is(self._delayed(message, level), now)
        out_ms = self._timer.out_ms(message, now) if self._timer is not None else 0
        if out_ms == 0:
            return self.put_as_is(message, now)
        fill_draft(self._draft, message, _diverted(out_ms, message.topic, message.queue_id))
        self._draft.topic, self._draft.queue_id = _TIMER_TOPIC, 0
        return self.put_draft(self._draft, now)._replace(out_ms=out_ms)

    def put_at(self, draft: MessageDraft, text: bytes, deliver_ms: int, now: Now) -> StoredAt:
        """Store a draft with this properties text for a delivery time, or in its own topic if that
        is past."""
        out_ms = self._timer.tick_of(deliver_ms, now) if self._timer is not None else 0
        if out_ms != 0:
            text += _diverted(out_ms, draft.topic.decode(), draft.queue_id)
            draft.topic, draft.queue_id = _TIMER_TOPIC, 0
        draft.set_properties(text)
        return self.put_draft(draft, now)

    def put_as_is(self, message: StoredMessage, now: Now) -> StoredAt:
        """Store a message in its own topic, whatever its delay."""
        fill_draft(self._draft, message)
        return self.put_draft(self._draft, now)

    def put_draft(self, draft: MessageDraft, now: Now, *, is_quiet: bool = False) -> StoredAt:
        """Store a draft as it is; a batch becomes several records. Quiet: their offsets are not
        needed."""
        appender = self.place.appender
        log_offset = appender.append(draft, now.wall_ms)
        self._stored += appender.count
        return StoredAt(
            log_offset,
            draft.topic.decode(),
            draft.queue_id,
            appender.queue_offset,
            self.place.end_offset,
            _NO_OFFSETS if is_quiet else self._record_offsets(log_offset),
        )

    def _record_offsets(self, log_offset: int) -> Sequence[int]:
        appender = self.place.appender
        return (log_offset,) if appender.count == 1 else appender.record_offsets(log_offset)

    def when_safe(self, end_offset: int, then: Safe) -> None:
        """Call `then` once the log is confirmed up to here, however long that takes; to answer a
        request, use `answers`."""
        self.place.when_safe(end_offset, then)

    def _delayed(self, message: StoredMessage, level: int) -> StoredMessage:
        if message.transaction_type in (TransactionType.PREPARED, TransactionType.ROLLBACK):
            return message
        properties = {
            **{name: text for name, text in message.properties.items() if name not in _TIMES},
            DELAY: str(level),
            REAL_TOPIC: message.topic,
            REAL_QUEUE_ID: str(message.queue_id),
        }
        return replace(
            message, topic=SCHEDULE_TOPIC, queue_id=QueueId(level - 1), properties=properties
        )


def _diverted(out_ms: int, topic: str, queue_id: int) -> bytes:
    """The properties that a message gets while it waits in the timer."""
    return (
        f"{TIMER_OUT_MS}\x01{out_ms}\x02{REAL_TOPIC}\x01{topic}\x02"
        f"{REAL_QUEUE_ID}\x01{queue_id}\x02"
    ).encode()


def delay_level(message: StoredMessage, level_max: int) -> int:
    """The delay level of a message, bounded by the configured levels; 0: no delay."""
    text = message.properties.get(DELAY, "0")
    digits = text.strip()
    if not digits.isascii() or not digits.isdigit():
        return 0
    return min(int(digits[:10]), level_max)
