"""All batch consume queues, by topic and queue id.

    batchconsumequeue/{topic}/{queue id}/00000000000000000000 ...

Topics whose queues hold whole batches as one record are few and their records far between: this
table is plain.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeGuard

from aerobee.errors import Misuse
from aerobee.model.properties import find_property
from aerobee.ports.disk import Disk
from aerobee.storage.index.batch_consume_queue import BatchConsumeQueue
from aerobee.storage.index.queue_folders import is_folder_name, queue_folders

_DIGITS_MAX = 19  # of an int64


class BatchConsumeQueues:
    """The batch queues that exist, and the making of new ones."""

    def __init__(
        self,
        disk: Disk,
        directory: str,
        file_units: int,
        born_at: Mapping[bytes, int] = MappingProxyType({}),
    ) -> None:
        """`born_at`: of topics that were deleted, the log offset before which records are dead."""
        self._disk = disk
        self._directory = directory
        self._file_units = file_units
        self._born_at = born_at
        self._queues: dict[tuple[bytes, int], BatchConsumeQueue] = {}

    def find(self, topic: bytes, queue_id: int) -> BatchConsumeQueue | None:
        return self._queues.get((topic, queue_id))

    def all(self) -> list[BatchConsumeQueue]:
        return [queue for _, queue in sorted(self._queues.items())]

    def append(
        self,
        topic: bytes,
        queue_id: int,
        log_offset: int,
        size: int,
        tag_code: int,
        store_timestamp: int,
        properties: bytes,
    ) -> None:
        """Add the unit of one record that holds a batch."""
        base = find_property(properties, b"INNER_BASE")
        count = find_property(properties, b"INNER_NUM")
        if not _is_number(base) or not _is_number(count):
            return  # no batch after all: nothing in it can be addressed
        if log_offset < self._born_at.get(topic, 0):
            return  # the topic was deleted since
        queue = self._queues.get((topic, queue_id)) or self._make(topic, queue_id)
        queue.append(log_offset, size, tag_code, store_timestamp, int(base), int(count))

    def _make(self, topic: bytes, queue_id: int) -> BatchConsumeQueue:
        if not is_folder_name(topic):
            raise Misuse(f"a topic may not be called {topic!r}")
        directory = f"{self._directory}/{topic.decode()}/{queue_id}"
        queue = BatchConsumeQueue(
            self._disk, directory, topic, queue_id, self._file_units, self._born_at.get(topic, 0)
        )
        self._queues[topic, queue_id] = queue
        return queue

    def load(self, is_torn: bool) -> None:
        for topic, queue_id in queue_folders(self._disk, self._directory):
            self._make(topic, queue_id).load(is_torn)

    def take_topic(self, topic: bytes) -> list[BatchConsumeQueue]:
        """Forget a topic. Returns its queues; the caller removes their files."""
        queues = [queue for queue in self.all() if queue.topic == topic]
        for queue in queues:
            del self._queues[topic, queue.queue_id]
        return queues

    def take_dead(self) -> list[str]:
        """Forget the queues that end before their topic was deleted; their folders."""
        return [
            self._take(queue)
            for queue in self.all()
            if queue.topic in self._born_at
            and (
                # One that came far and is empty now may be of the topic's next life.
                queue.log_end <= queue.born_at
                if queue.max_offset > queue.min_offset
                else queue.max_offset == 0
            )
        ]

    def _take(self, queue: BatchConsumeQueue) -> str:
        del self._queues[queue.topic, queue.queue_id]
        queue.let_go()
        return queue.sequence.directory

    def clear(self) -> None:
        """Forget everything, to be built again from the log."""
        for queue in self._queues.values():
            queue.clear()
        self._queues.clear()

    def close(self) -> None:
        for queue in self._queues.values():
            queue.sequence.close()


def _is_number(text: bytes | None) -> TypeGuard[bytes]:
    """Whether it is one that fits: Python refuses to read numbers of thousands of digits."""
    return text is not None and text.isdigit() and len(text) <= _DIGITS_MAX
