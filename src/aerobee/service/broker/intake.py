"""The way into the log for every message that is not a plain send: sends that want something more,
retries, dead letters, what the broker itself writes.

A delayed message (property DELAY above 0) is put into the schedule topic under its level, with its
own topic and queue remembered in REAL_TOPIC and REAL_QID; whoever delivers it puts it back with
`put_as_is`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from aerobee.model.flags import TransactionType
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import QueueId
from aerobee.model.names import SCHEDULE_TOPIC
from aerobee.model.properties import DELAY, REAL_QUEUE_ID, REAL_TOPIC
from aerobee.ports.clock import Now
from aerobee.protocol.message_draft import MessageDraft
from aerobee.protocol.stored_message import fill_draft
from aerobee.storage.config import FlushMode
from aerobee.storage.store import Store

Safe = Callable[[bool], None]
"""Told True when the bytes are as safe as the flush mode promises, False if they never will be."""


class Stored(NamedTuple):
    """Where a message went."""

    log_offset: int
    topic: str
    queue_id: int
    queue_offset: int
    end_offset: int
    record_offsets: Sequence[int]
    """The log offset of each record: more than one for a batch."""


class Intake:
    """Appends, and tells when what was appended may be spoken of."""

    def __init__(self, store: Store, flush_mode: FlushMode, delay_levels: int) -> None:
        self._store = store
        self._is_sync = flush_mode is FlushMode.SYNC
        self._delay_levels = delay_levels
        self._draft = MessageDraft()
        # Records, since the start.
        self.stored = 0

    def put(self, message: StoredMessage, now: Now) -> Stored:
        """Store a message, a delayed one for later. A StorageError says why it is refused."""
        return self.put_as_is(self._diverted(message), now)

    def put_as_is(self, message: StoredMessage, now: Now) -> Stored:
        """Store a message where it says, delayed or not."""
        fill_draft(self._draft, message)
        return self.put_draft(self._draft, now)

    def put_draft(self, draft: MessageDraft, now: Now) -> Stored:
        """Store a draft as it is; a batch becomes as many records."""
        log_offset = self._store.append(draft, now.wall_ms)
        appender = self._store.appender
        self.stored += appender.count
        return Stored(
            log_offset,
            draft.topic.decode(),
            draft.queue_id,
            appender.queue_offset,
            self._store.end_offset,
            (log_offset,) if appender.count == 1 else appender.record_offsets(log_offset),
        )

    def when_safe(self, end_offset: int, then: Safe) -> None:
        """Call `then` once the log is safe up to here: at once, or after the sync."""
        if self._is_sync:
            self._store.wait_for(end_offset, then)
        else:
            then(True)

    def _diverted(self, message: StoredMessage) -> StoredMessage:
        level = delay_level(message, self._delay_levels)
        if level == 0 or message.transaction_type in (
            TransactionType.PREPARED,
            TransactionType.ROLLBACK,
        ):
            return message
        properties = {
            **message.properties,
            DELAY: str(level),
            REAL_TOPIC: message.topic,
            REAL_QUEUE_ID: str(message.queue_id),
        }
        return replace(
            message, topic=SCHEDULE_TOPIC, queue_id=QueueId(level - 1), properties=properties
        )


def delay_level(message: StoredMessage, level_max: int) -> int:
    """The level that a message is to be delayed by, cut to what there is; 0: not at all."""
    text = message.properties.get(DELAY, "0")
    digits = text.strip()
    if not digits.isascii() or not digits.isdigit():
        return 0
    return min(int(digits[:10]), level_max)
