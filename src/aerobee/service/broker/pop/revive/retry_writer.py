"""RetryWriter stores popped messages again that were not acknowledged: read, copied, stored.

A message is read from the log; one that is on the disk only is first brought into memory by a disk
job. The retry topic and the dead-letter topic are made when they are first needed, and are on the
disk before anything is stored there. Where retries are separated, a retry topic gets more queues
when its topic has got more; it never loses one, because messages may wait there.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from aerobee.errors import CorruptFile, CorruptRecord, LocalProtocolError, MessageIllegal
from aerobee.model.message import StoredMessage
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.protocol.bodies.revive_records import Checkpoint
from aerobee.protocol.message.stored_message import decode_record
from aerobee.service.broker.log_access.background_read import BackgroundRead
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.retry_destination import RetryPlace
from aerobee.service.broker.pop.revive.retry_copy import (
    Origin,
    copy_to_revive,
    origin_topic,
    place_to_revive,
)
from aerobee.service.broker.state.consumer_offsets import UNKNOWN, ConsumerOffsets
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics
from aerobee.storage.read.queue_read import QueueRead, ReadStatus
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

TOPIC_RETRY_MS = 1_000

_Place: TypeAlias = tuple[str, int, int]
"""Topic, queue, queue offset."""


class RetryTables:
    """The tables and settings that decide where a message goes."""

    def __init__(
        self,
        topics: Topics,
        groups: Groups,
        offsets: ConsumerOffsets,
        separates: Callable[[], bool],
    ) -> None:
        """`separates`: whether retries have a queue for each queue of their topic now."""
        self.topics = topics
        self.groups = groups
        self.offsets = offsets
        self._separates = separates

    def retry_queues(self, checkpoint: Checkpoint) -> int:
        """The number of queues that the retry topic of a checkpoint needs."""
        if not self._separates():
            return 1
        topic = self.topics.find(origin_topic(checkpoint))
        return max(1, topic.write_queues) if topic is not None else 1


class RetryWriter:
    def __init__(
        self,
        store: Store,
        worker: DiskWorker,
        writer: MessageWriter,
        tables: RetryTables,
        origin: Origin,
    ) -> None:
        self._store = store
        self._worker = worker
        self._writer = writer
        self._tables = tables
        self._origin = origin
        # Topics that are being made (None), or the monotonic time of the next attempt.
        self._making: dict[str, int | None] = {}
        self._fetch: BackgroundRead | None = None
        # Messages, since the start.
        self.revived = 0

    @property
    def end_offset(self) -> int:
        """The end of the last copy."""
        return self._writer.place.end_offset

    @property
    def lasting_offset(self) -> int:
        """Nothing takes copies back that end at or before this."""
        return self._writer.place.lasting_offset

    def put(self, checkpoint: Checkpoint, offset: int, now: Now) -> bool:
        """Store a copy of one message; False: call again later (the disk reads the message or makes
        the topic). StorageError: the store refuses it now."""
        # A group that was created on first use may not have been saved when the last process ended.
        # A group that was removed before a restart looks the same: rather a group too many than a
        # message lost.
        name, groups = checkpoint.group, self._tables.groups
        group = None if groups.was_removed(name) else groups.ensure(name, now)
        topic = self._tables.topics.find(checkpoint.topic)
        if group is None or topic is None or group.retry_queues <= 0:
            return True  # no consumer is left for it
        try:
            found = self._found((checkpoint.topic, checkpoint.queue_id, offset))
        except (CorruptRecord, CorruptFile, OSError) as error:
            _log.error("a popped message is damaged, and passed over: %s", error)
            return True
        if found is None:
            return False
        message = _message_at(found, offset)
        if message is None:
            _log.warning(
                "a popped message was removed before it could come back: queue %d of %s, offset %d",
                checkpoint.queue_id,
                checkpoint.topic,
                offset,
            )
            return True
        place = place_to_revive(checkpoint, message, group, self._tables.retry_queues(checkpoint))
        made = self._tables.topics.find(place.topic)
        if made is None or made.write_queues < place.queues:
            self._make(place, group.name, now)
            return False
        self._store_copy(copy_to_revive(checkpoint, message, place, self._origin), message, now)
        self.revived += 1
        return True

    def _store_copy(self, copy: StoredMessage, message: StoredMessage, now: Now) -> None:
        try:
            self._writer.put_as_is(copy, now)
        except (LocalProtocolError, MessageIllegal):
            # No room among its properties: it comes back without the properties of the copy.
            self._writer.put_as_is(replace(copy, properties=message.properties), now)

    # Reading.

    def _found(self, place: _Place) -> QueueRead | None:
        """The read of one message, found or not; None: a disk job is reading it."""
        fetch = self._fetch
        if fetch is not None:
            if not fetch.is_over:
                return None
            self._fetch = None
            if fetch.place == place:
                if fetch.error is not None:
                    raise fetch.error
                return fetch.read
        topic, queue_id, offset = place
        found = self._store.read(topic.encode(), queue_id, offset, 1, 1)
        if not found.is_cold:
            return found
        self._fetch = BackgroundRead(self._store, found, place)
        self._worker.submit(Lane.BACKGROUND, self._fetch)
        return None

    # Topics.

    def _make(self, place: RetryPlace, group: str, now: Now) -> None:
        wait_until = self._making.get(place.topic, 0)
        if wait_until is None or now.monotonic_ms < wait_until:
            return
        self._making[place.topic] = None

        def made(error: BaseException | None) -> None:
            if error is None:
                del self._making[place.topic]
                offsets = self._tables.offsets
                for queue_id in range(place.queues):
                    # A slave that became the master may know the offset, and not the topic yet.
                    if offsets.find(group, place.topic, queue_id) == UNKNOWN:
                        offsets.commit(group, place.topic, queue_id, 0, 0)
            else:
                self._making[place.topic] = now.monotonic_ms + TOPIC_RETRY_MS
                _log.error("popped messages wait: %s cannot be made: %s", place.topic, error)

        self._tables.topics.edit(lambda find: [place.grown(find(place.topic))], now, made)


def _message_at(found: QueueRead, offset: int) -> StoredMessage | None:
    if found.status != ReadStatus.FOUND:
        return None
    message = decode_record(bytes(found.slices[0]))
    return message if message.queue_offset == offset else None
