"""The checkpoint of the timer on the disk: `config/timercheck`, 4096 bytes, big-endian.

    0            8             16           24             32      40          48        56
    +------------+-------------+------------+--------------+-------+-----------+---------+
    | read ms    | end of the  | queue      | queue offset | state | version's | version |
    |            | timer log   | offset     | (master's)   |       | timestamp | counter |
    +------------+-------------+------------+--------------+-------+-----------+---------+
    64      72             80          88      96        100
    +-------+--------------+-----------+-------+---------+
    | seal  | precision ms | window ms | slots | CRC-32  |
    +-------+--------------+-----------+-------+---------+

Everything for a tick before `read` was delivered. What the timer's queue holds before `queue
offset` is in the timer log before its end. RocketMQ knows the first 56 bytes, which is also what it
sends to slaves. The seal is ours: with it the numbers belong together and to files that this
package wrote. RocketMQ's own do not (it takes the end of the log before it flushes), and without
the seal the files are built again.

A slave has no timer log of its own. Its checkpoint says what its master has delivered: in `read`
and in the master's queue offset; the end of the timer log and `queue offset` are 0. So the next
master, RocketMQ too, processes the whole queue.

Agrees with Apache's TimerCheckpoint.
"""

import struct
import zlib
from typing import NamedTuple

from aerobee.model.topic import DataVersion

FILE_BYTES = 4096
WIRE_BYTES = 56

_FIELDS = struct.Struct(">7q")
_SEAL = struct.Struct(">8s3q")
_SEAL_POSITION = 64
_SEAL_NAME = b"AEROBEET"
_CRC = struct.Struct(">I")
_CRC_POSITION = _SEAL_POSITION + _SEAL.size


class TimerCheck(NamedTuple):
    read_ms: int = 0
    log_end: int = 0
    queue_offset: int = 0
    master_queue_offset: int = 0
    state_version: int = 0
    timestamp: int = 0
    counter: int = 0

    @property
    def taken_in(self) -> int:
        """What the timer's queue holds before this offset was known to the timer that wrote `read`:
        a slave's checkpoint has its master's. RocketMQ's own queue offset is never higher."""
        return max(self.queue_offset, self.master_queue_offset)


class Seal(NamedTuple):
    """What the wheel was laid out for."""

    precision_ms: int
    window_ms: int
    slots: int


def check_path(root: str) -> str:
    """The file in a store directory."""
    return f"{root}/config/timercheck"


def encode_check(check: TimerCheck, seal: Seal | None) -> bytes:
    """The file."""
    data = bytearray(FILE_BYTES)
    _FIELDS.pack_into(data, 0, *check)
    if seal is not None:
        _SEAL.pack_into(data, _SEAL_POSITION, _SEAL_NAME, *seal)
        _CRC.pack_into(data, _CRC_POSITION, zlib.crc32(data[:_CRC_POSITION]))
    return bytes(data)


def decode_check(data: bytes) -> tuple[TimerCheck, Seal | None] | None:
    """What a file says; None if it is none."""
    if len(data) < WIRE_BYTES:
        return None
    check = TimerCheck(*_FIELDS.unpack_from(data))
    if min(check[:3]) < 0:
        return None
    return check, _seal_in(data)


def copied_check(check: TimerCheck, queue_end: int) -> TimerCheck:
    """The checkpoint of a slave that has this one from its master, or from its own time as master.
    `queue_end`: what the timer's queue holds behind it is not what the checkpoint speaks of."""
    taken_in = min(check.taken_in, queue_end)
    return check._replace(log_end=0, queue_offset=0, master_queue_offset=taken_in)


def version_of(check: TimerCheck) -> DataVersion:
    return DataVersion(check.state_version, check.counter, check.timestamp)


def wire_check(check: TimerCheck) -> bytes:
    """What slaves are told."""
    return _FIELDS.pack(*check)


def _seal_in(data: bytes) -> Seal | None:
    if len(data) != FILE_BYTES:
        return None
    name, *fields = _SEAL.unpack_from(data, _SEAL_POSITION)
    (crc,) = _CRC.unpack_from(data, _CRC_POSITION)
    if name != _SEAL_NAME or crc != zlib.crc32(data[:_CRC_POSITION]):
        return None
    return Seal(*fields)
