"""The slots of the file `durable_mark`: what a store says of its own log, as bytes.

    0                    512             4096                 4608            8192
    +--------------------+---------------+--------------------+---------------+
    | slot 0             | zeros         | slot 1             | zeros         |
    +--------------------+---------------+--------------------+---------------+

A slot, big-endian, in one sector:

    0       4         8          16        24           32            40           48
    +-------+---------+----------+---------+------------+-------------+------------+
    | magic | version | sequence | flushed | dispatched | queue count | unit total |
    +-------+---------+----------+---------+------------+-------------+------------+
    48            56         64            72          80             84
    +-------------+----------+-------------+-----------+--------------+
    | index count | crc from | first total | confirmed | CRC-32 of    |
    |             |          |             |           | bytes 0 – 79 |
    +-------------+----------+-------------+-----------+--------------+

This is version 3. Version 2 has no `confirmed`, and its CRC-32 at 72: it is read as the mark of a
log that is all its own (`NO_BOUND`).

The valid slot with the higher sequence counts. Who writes them, and when, is the storage's business
(`storage.recover.durable_mark`); a pipeline that reads a log only needs to know how far it goes.
"""

import struct
import zlib
from typing import NamedTuple

FILE_BYTES = 8192
SLOT_POSITIONS = (0, 4096)  # a page apart: whatever destroys one page leaves the other
SLOT_BYTES = 84

NO_CRC = (1 << 63) - 1
"""A `crc_from` that no log offset reaches: no record need carry the CRC property."""
NO_BOUND = (1 << 63) - 1
"""A `confirmed` that no log offset reaches: no copies on other brokers are waited for, and whatever
is in the log counts."""

_MAGIC = 0x41454D4B  # "AEMK"
_SEQUENCE_MAX = 1 << 62  # there is always a next one: a write every µs fills 146,000 years
_HEAD = struct.Struct(">Ii")
_FIELDS = struct.Struct(">Ii9q")
_FIELDS_2 = struct.Struct(">Ii8q")
_CRC = struct.Struct(">I")
_VERSION = 3
_LAYOUTS = {2: _FIELDS_2, _VERSION: _FIELDS}


class DurableMark(NamedTuple):
    flushed: int = 0
    """Every byte of the commit log below this offset is on the disk."""
    dispatched: int = 0
    """The derived files hold, on the disk, everything of the log below this offset."""
    queue_count: int = 0
    """Consume queues at `dispatched`."""
    unit_total: int = 0
    """Units in all of them together, from queue offset 0."""
    index_count: int = 0
    """Entries in the key index."""
    crc_from: int = NO_CRC
    """From this log offset on every record carries the CRC property."""
    first_total: int = 0
    """The first units of all queues' first files, added up: which files retention left."""
    confirmed: int = NO_BOUND
    """Enough other brokers have the log up to here: no change of master takes it back."""

    def ending_at(self, end: int) -> "DurableMark":
        """The mark of the log that ends here, and is on the disk up to there."""
        confirmed = self.confirmed if self.confirmed == NO_BOUND else min(self.confirmed, end)
        return self._replace(flushed=end, confirmed=confirmed)


def write_slot(view: memoryview, position: int, mark: DurableMark, sequence: int) -> None:
    _FIELDS.pack_into(view, position, _MAGIC, _VERSION, sequence, *mark)
    crc = zlib.crc32(view[position : position + _FIELDS.size])
    _CRC.pack_into(view, position + _FIELDS.size, crc)


def encode_slot(mark: DurableMark, sequence: int) -> bytes:
    slot = bytearray(SLOT_BYTES)
    write_slot(memoryview(slot), 0, mark, sequence)
    return bytes(slot)


def decode_slot(view: memoryview, position: int) -> tuple[DurableMark, int] | None:
    """The mark at a position and its sequence; None if it cannot be believed."""
    if len(view) < position + _HEAD.size:
        return None
    magic, version = _HEAD.unpack_from(view, position)
    layout = _LAYOUTS.get(version)
    if magic != _MAGIC or layout is None or len(view) < position + layout.size + _CRC.size:
        return None
    (crc,) = _CRC.unpack_from(view, position + layout.size)
    if zlib.crc32(view[position : position + layout.size]) != crc:
        return None
    _, _, sequence, *fields = layout.unpack_from(view, position)
    if min(fields) < 0 or not 1 <= sequence < _SEQUENCE_MAX:
        return None
    return DurableMark(*fields), sequence


def newest_slot(view: memoryview) -> tuple[DurableMark, int, int] | None:
    """The mark that counts in a whole file, its sequence and which slot it is in; None if there is
    no valid slot."""
    best = None
    for index, position in enumerate(SLOT_POSITIONS):
        found = decode_slot(view, position)
        if found is not None and (best is None or found[1] > best[1]):
            best = (*found, index)
    return best
