"""RocketMQ's `checkpoint` file: up to which store time each kind of file was flushed.

4096 bytes, big-endian, the rest zeros (`StoreCheckpoint` there):

    0              8                 16           24                32              40
    +--------------+-----------------+------------+-----------------+---------------+
    | commit log   | consume queues  | key index  | master's        | confirmed log |
    | ms           | ms              | ms         | flushed offset  | offset        |
    +--------------+-----------------+------------+-----------------+---------------+
    40                      48
    +-----------------------+
    | log offset up to which|
    | queues were flushed   |
    +-----------------------+

It has no checksum and is rewritten in place, so our own recovery believes it only where there is
no durable mark (a store that RocketMQ wrote), and only to choose where to begin to read; zeros,
which is what a lost or misshapen file becomes, mean "from the first file". We write it so that
RocketMQ can open what we wrote. Law: no field may run ahead of what is on the disk.

`write` belongs to the core's thread, `sync` to any.
"""

import struct
from typing import NamedTuple

from aerobee.ports.disk import Disk, DiskFile

FILE_BYTES = 4096

_FIELDS = struct.Struct(">6q")
_SAFETY_MS = 3000  # RocketMQ steps back this far; store times of neighbours may be out of order


class CheckpointFields(NamedTuple):
    """The fields, in the order of the file."""

    log_timestamp_ms: int = 0
    queue_timestamp_ms: int = 0
    index_timestamp_ms: int = 0
    master_flushed_offset: int = 0
    confirmed_offset: int = 0
    queue_log_offset: int = 0


class Checkpoint:
    __slots__ = ("_file", "_view")

    def __init__(self, file: DiskFile) -> None:
        self._file = file
        self._view = file.view

    @classmethod
    def open(cls, disk: Disk, path: str) -> "Checkpoint":
        """Made, all zeros, if it is not there or not of its size."""
        if not disk.exists(path) or disk.size(path) != FILE_BYTES:
            disk.replace(path, bytes(FILE_BYTES))
        return cls(disk.open(path))

    @property
    def fields(self) -> CheckpointFields:
        return CheckpointFields(*_FIELDS.unpack_from(self._view, 0))

    def write(self, fields: CheckpointFields) -> None:
        """In memory only."""
        _FIELDS.pack_into(self._view, 0, *fields)

    def sync(self) -> None:
        """Blocks."""
        self._file.sync()

    def start_timestamp_ms(self) -> int:
        """Everything stored before this was flushed, log and queues alike: recovery after a crash
        begins with the newest file whose first record is not younger."""
        fields = self.fields
        return max(0, min(fields.log_timestamp_ms, fields.queue_timestamp_ms) - _SAFETY_MS)

    def close(self) -> None:
        self._view = memoryview(b"")
        self._file.close()
