"""Reads the units of one consume queue from its files, and compares them with the log.

A unit of size 0 was never written: it ends the queue. The layouts are drawn in
`storage/index/consume_queue.py` and `storage/index/batch_consume_queue.py`.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from aerobee.app.offline.log_walk import LogWalk
from aerobee.app.offline.store_folder import QueueFolder, StoredFile, StoreFolder, files_of
from aerobee.model.names import LIGHT_QUEUE_PREFIX, SCHEDULE_TOPIC
from aerobee.model.properties import TAGS, decode_properties
from aerobee.protocol.message.record import Record
from aerobee.protocol.message.stored_message import without_crc
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.storage.index.batch_consume_queue import UNIT_BYTES as BATCH_UNIT_BYTES
from aerobee.storage.index.consume_queue import FILLER_SIZE, UNIT_BYTES

_UNIT = struct.Struct(">qiq")
_BATCH_UNIT = struct.Struct(">qiqqqhii")


class Unit(NamedTuple):
    path: str
    position: int
    queue_offset: int
    """Of the first message of the record."""
    log_offset: int
    size: int
    code: int
    """The hash of the tag, or when a delayed message is due."""
    message_count: int
    """Of the record."""


def units_of(queue: QueueFolder) -> Iterator[Unit]:
    """Yield the units in order, without fillers."""
    unit_bytes = BATCH_UNIT_BYTES if queue.is_batch else UNIT_BYTES
    for file in files_of(queue.path):
        for position in range(0, file.size - unit_bytes + 1, unit_bytes):
            if queue.is_batch:
                offset, size, code, _, base, count, _, _ = _BATCH_UNIT.unpack_from(
                    file.view, position
                )
            else:
                offset, size, code = _UNIT.unpack_from(file.view, position)
                base, count = (file.first + position) // UNIT_BYTES, 1
            if size == 0:
                return
            if size != FILLER_SIZE:
                yield Unit(file.path, position, base, offset, size, code, count)


class UnitCheck:
    """Compares units with the log."""

    def __init__(self, folder: StoreFolder) -> None:
        self._walk = LogWalk(folder)

    def fault(self, queue: QueueFolder, unit: Unit) -> str | None:
        """Return what is wrong with a unit. None: it is right, or its record expired."""
        file = self._walk.record_at(unit.log_offset)
        if not isinstance(file, StoredFile):
            return file
        record = self._walk.record
        if record.size != unit.size:
            return f"says {unit.size} bytes, the record at {unit.log_offset} has {record.size}"
        if queue.topic.startswith(LIGHT_QUEUE_PREFIX):
            return None  # it points at records of other queues
        topic = bytes(file.view[record.topic_start : record.topic_start + record.topic_size])
        place = (topic, record.queue_id, record.queue_offset)
        if place != (queue.topic.encode(), queue.queue_id, unit.queue_offset):
            shown = topic.decode(errors="replace")
            return f"points at a record of {shown}:{record.queue_id}:{record.queue_offset}"
        if queue.topic != SCHEDULE_TOPIC and unit.code != _code(file.view, record):
            return f"has the code {unit.code}, which is not of its record's tag"
        return None


def _code(view: memoryview, record: Record) -> int:
    start = record.properties_start
    text = without_crc(bytes(view[start : start + record.properties_size]))
    return tag_code(decode_properties(text).get(TAGS, "").encode())
