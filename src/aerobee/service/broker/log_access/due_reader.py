"""DueReader reads due messages of a system topic (delay levels, timer), and skips damaged ones.

Records that are no longer in memory are brought there, and checked, by a disk job: hours have
passed since they were written. A record that is damaged, or a unit that does not point to one, is
reported and skipped: it must not hold up the queue behind it for ever. It stays in the log, where
its offset finds it.
"""

import logging
from typing import NamedTuple

from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.protocol.message.record import WHOLE, Record
from aerobee.service.broker.log_access.background_read import BackgroundRead
from aerobee.service.broker.log_access.redelivery import are_whole
from aerobee.storage.index.consume_queue import FILLER_SIZE, ConsumeQueue
from aerobee.storage.read.queue_read import QueueRead
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

_SINGLES_MAX = 32  # each may have to be read from the disk


class DueRecords(NamedTuple):
    views: list[memoryview]
    """Each of whole records, one behind another, in the order of the queue."""
    next_offset: int
    """The queue offset at which to continue when all of them are delivered."""


class DueReader:
    """Reads queues of a system topic, each from one offset at a time."""

    def __init__(self, store: Store, worker: DiskWorker) -> None:
        self._store = store
        self._worker = worker
        self._record = Record()
        self._fetching: dict[int, BackgroundRead] = {}

    def read(self, queue: ConsumeQueue, offset: int, end: int, bytes_max: int) -> DueRecords | None:
        """Records from `offset` on, about `bytes_max` bytes; None: call again, a disk job reads
        them. The read may go a little beyond `end` if the queue has gaps."""
        fetch = self._fetching.get(queue.queue_id)
        if fetch is not None:
            if not fetch.is_over:
                return None
            del self._fetching[queue.queue_id]
            if fetch.place == offset:
                if fetch.error is not None:
                    return self._read_singly(queue, offset, end)
                return self._checked(queue, fetch.read, offset, end)
        try:
            found = self._store.read(queue.topic, queue.queue_id, offset, end - offset, bytes_max)
        except (CorruptRecord, CorruptFile):
            return self._read_singly(queue, offset, end)
        if found.is_cold:
            fetch = self._fetching[queue.queue_id] = BackgroundRead(self._store, found, offset)
            self._worker.submit(Lane.BACKGROUND, fetch)
            return None
        return self._checked(queue, found, offset, end)

    def _checked(self, queue: ConsumeQueue, found: QueueRead, offset: int, end: int) -> DueRecords:
        for view in found.slices:
            if not are_whole(view):
                return self._read_singly(queue, offset, end)
        return DueRecords(found.slices, found.next_offset)

    def _read_singly(self, queue: ConsumeQueue, offset: int, end: int) -> DueRecords:
        """Read records one by one, each checked, because one of them is damaged."""
        end = min(end, offset + _SINGLES_MAX)
        records = []
        for one in range(offset, end):
            unit = queue.unit(one)
            if unit is None or unit[1] == FILLER_SIZE:
                continue
            try:
                record = self._store.record_at(unit[0])
                fault = "" if self._is_of(record, queue, one) else "its unit does not lead to it"
            except CorruptRecord as error:
                record, fault = None, str(error)
            if fault or record is None:
                _log.error(
                    "a delayed message is lost, and passed over: level %d, queue offset %d, "
                    "log offset %d: %s",
                    queue.queue_id + 1,
                    one,
                    unit[0],
                    fault,
                )
            else:
                records.append(record)
        return DueRecords(records, end)

    def _is_of(self, record: memoryview | None, queue: ConsumeQueue, offset: int) -> bool:
        found = self._record
        if record is None or found.read_from(record, 0) != WHOLE:
            return False
        topic = bytes(record[found.topic_start : found.topic_start + found.topic_size])
        return (topic, found.queue_id, found.queue_offset) == (queue.topic, queue.queue_id, offset)
