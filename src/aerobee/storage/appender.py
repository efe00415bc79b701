"""Append: a draft gets its place in a queue and becomes a record.

The queue offset is given out here, the unit that points back at the record is written later, by
dispatch. Called from the core's thread only.
"""

from typing import TYPE_CHECKING

from aerobee.errors import StorageError, StoreBusy
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.storage.commit.commit_log import CommitLog
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.consume_queues import ConsumeQueues

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython


def is_compiled() -> bool:
    return cython.compiled


class Appender:
    """The only way into the log. While `refusal` is set nothing gets in, and that is why."""

    __slots__ = ("_log", "_queues", "count", "queue_offset", "refusal")

    def __init__(self, log: CommitLog, queues: ConsumeQueues) -> None:
        self._log = log
        self._queues = queues
        self.refusal: StorageError | None = None
        # Of the last append: the queue offset of its first record, and how many there are.
        self.queue_offset = 0
        self.count = 0

    def append(self, draft: MessageDraft, wall_ms: int) -> int:
        """Store a draft, single or batch; the log offset of its (first) record.

        Raises, and stores nothing, if the store takes no writes now or the message cannot be
        stored as it is.
        """
        if self.refusal is not None:
            raise self.refusal
        queue: ConsumeQueue = self._queues.find_or_make(draft.topic, draft.queue_id)
        if queue.is_leaving:
            raise StoreBusy("the topic is being deleted", hint="try again in a moment")
        if draft.sys_flag & 0x4:
            # Prepared or rolled back: nobody reads it from a queue, so it takes no place in one.
            self.queue_offset = 0
            log_offset = self._log.append(draft, 0, wall_ms)
        else:
            self.queue_offset = queue.next_offset
            log_offset = self._log.append(draft, queue.next_offset, wall_ms)
            queue.next_offset += self._log.last_count
        self.count = self._log.last_count
        return log_offset

    def born_at(self, topic: bytes) -> int:
        """See `ConsumeQueues.born_at`."""
        return self._queues.born_at(topic)

    def record_offsets(self, log_offset: int) -> list[int]:
        """The log offsets of all records of the last append, which began at this one."""
        return self._log.record_offsets(log_offset, self.count)
