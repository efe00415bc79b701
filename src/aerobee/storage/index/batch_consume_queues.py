"""All batch consume queues, by topic and queue id.

    batchconsumequeue/{topic}/{queue id}/00000000000000000000 ...

Topics whose queues hold whole batches as one record are few and their records far between: this
table is plain.
"""

from typing import TypeGuard

from aerobee.model.properties import find_property
from aerobee.ports.disk import Disk
from aerobee.storage.index.batch_consume_queue import BatchConsumeQueue
from aerobee.storage.index.consume_queues import QUEUE_ID_MAX, is_folder_name

_DIGITS_MAX = 19  # of an int64


class BatchConsumeQueues:
    """The batch queues that exist, and the making of new ones."""

    def __init__(self, disk: Disk, directory: str, file_units: int) -> None:
        self._disk = disk
        self._directory = directory
        self._file_units = file_units
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
        queue = self._queues.get((topic, queue_id)) or self._make(topic, queue_id)
        queue.append(log_offset, size, tag_code, store_timestamp, int(base), int(count))

    def _make(self, topic: bytes, queue_id: int) -> BatchConsumeQueue:
        directory = f"{self._directory}/{topic.decode()}/{queue_id}"
        queue = BatchConsumeQueue(self._disk, directory, topic, queue_id, self._file_units)
        self._queues[topic, queue_id] = queue
        return queue

    def load(self, is_torn: bool) -> None:
        for topic in self._disk.list_directory(self._directory):
            if is_folder_name(topic.encode()):
                for text in self._disk.list_directory(f"{self._directory}/{topic}"):
                    if text.isascii() and text.isdigit() and int(text) <= QUEUE_ID_MAX:
                        self._make(topic.encode(), int(text)).load(is_torn)

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
