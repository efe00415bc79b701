"""IndexWalk reads a file of the key index: its header, its units, and the units of a key.

The layout is drawn in `storage/index/key_index_file.py`. The number of slots is not stored: it is
found by the first and the last unit, which must point to the records that the header names.
"""

import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

from aerobee.app.offline.log_walk import LogWalk
from aerobee.app.offline.store_folder import StoredFile, StoreFolder, open_file
from aerobee.model.properties import KEYS, TAGS, UNIQUE_KEY, decode_properties
from aerobee.protocol.message.record import Record
from aerobee.protocol.message.stored_message import without_crc
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.storage.index.key_index_file import (
    HEADER_BYTES,
    SLOT_BYTES,
    UNIT_BYTES,
    index_hash,
)

_HEADER = struct.Struct(">qqqqii")
_UNIT = struct.Struct(">iqii")
_OFFSET_AT = 4
_UNITS_FOR_A_SLOT = 4  # as RocketMQ has it, and ours


class IndexHeader(NamedTuple):
    begin_ms: int
    end_ms: int
    begin_offset: int
    end_offset: int
    slots_used: int
    next_unit: int


class IndexUnit(NamedTuple):
    number: int
    position: int
    key_hash: int
    log_offset: int
    seconds: int
    previous: int


class IndexWalk:
    """One file. Its contents are not trusted before they were compared."""

    def __init__(self, path: str) -> None:
        self.file: StoredFile = open_file(path)
        self.name = os.path.basename(path)
        whole = self.file.size >= HEADER_BYTES
        self.header = IndexHeader(*_HEADER.unpack_from(self.file.view)) if whole else None
        self.slots = self._slots()

    @property
    def unit_count(self) -> int:
        return 0 if self.header is None else max(0, self.header.next_unit - 1)

    def units(self) -> Iterator[IndexUnit]:
        """Yield the units in the order of writing, up to the end of the file."""
        for number in range(1, self.unit_count + 1):
            position = self._unit_position(number)
            if position + UNIT_BYTES > self.file.size:
                return
            yield IndexUnit(number, position, *_UNIT.unpack_from(self.file.view, position))

    def find(self, topic: str, key: str) -> Iterator[IndexUnit]:
        """Yield the units that may have a key, the newest first: other keys may have its hash."""
        if not self.slots:
            return
        wanted = key_hash(topic, key)
        (number,) = struct.unpack_from(
            ">i", self.file.view, HEADER_BYTES + wanted % self.slots * SLOT_BYTES
        )
        while 0 < number <= self.unit_count:
            position = self._unit_position(number)
            unit = IndexUnit(number, position, *_UNIT.unpack_from(self.file.view, position))
            if unit.key_hash == wanted:
                yield unit
            if unit.previous >= number:
                return  # it would go round and round
            number = unit.previous

    def _unit_position(self, number: int) -> int:
        return HEADER_BYTES + self.slots * SLOT_BYTES + number * UNIT_BYTES

    def _slots(self) -> int:
        header = self.header
        if header is None:
            return 0
        usual = (self.file.size - HEADER_BYTES) // (SLOT_BYTES + _UNITS_FOR_A_SLOT * UNIT_BYTES)
        if header.next_unit <= 1 or self._may_have(usual):
            return usual
        needle = struct.pack(">q", header.end_offset)
        before = HEADER_BYTES + (header.next_unit - 1) * UNIT_BYTES + _OFFSET_AT
        at = before
        while (at := self.file.data.find(needle, at)) >= 0:
            slots, rest = divmod(at - before, SLOT_BYTES)
            if rest == 0 and self._may_have(slots):
                return slots
            at += 1
        return usual

    def _may_have(self, slots: int) -> bool:
        """Whether the units are where they would be with so many slots."""
        header = self.header
        if header is None or slots <= 0:
            return False
        first = HEADER_BYTES + slots * SLOT_BYTES + UNIT_BYTES
        last = first + (header.next_unit - 2) * UNIT_BYTES
        if last + UNIT_BYTES > self.file.size:
            return False
        _, begin_offset, _, previous = _UNIT.unpack_from(self.file.view, first)
        _, end_offset, _, _ = _UNIT.unpack_from(self.file.view, last)
        # A record with several keys has several units: the one after the last was never written.
        after = self.file.view[last + UNIT_BYTES : last + 2 * UNIT_BYTES]
        return bool(
            previous == 0
            and after == bytes(len(after))
            and begin_offset == header.begin_offset
            and end_offset == header.end_offset
            and (self.file.size - first) % UNIT_BYTES == 0
        )


class IndexCheck:
    """Compares units of the index with the log."""

    def __init__(self, folder: StoreFolder) -> None:
        self._walk = LogWalk(folder)

    def fault(self, unit: IndexUnit) -> str | None:
        """Return what is wrong with a unit. None: it is right, or its record expired."""
        if unit.previous >= unit.number:
            return f"comes after unit {unit.previous}, which is newer"
        file = self._walk.record_at(unit.log_offset)
        if not isinstance(file, StoredFile):
            return file
        if unit.key_hash not in _hashes(file.view, self._walk.record):
            return f"is of a key that the record at {unit.log_offset} does not have"
        return None


def key_hash(topic: str, key: str) -> int:
    """Return the hash that units hold for a key of a topic."""
    return index_hash(tag_code(f"{topic}#{key}".encode()) & 0xFFFFFFFF)


def _hashes(view: memoryview, record: Record) -> set[int]:
    topic = str(view[record.topic_start : record.topic_start + record.topic_size], "utf-8")
    start = record.properties_start
    text = without_crc(bytes(view[start : start + record.properties_size]))
    properties = decode_properties(text)
    keys = [key for key in properties.get(KEYS, "").split(" ") if key]
    if unique := properties.get(UNIQUE_KEY):
        keys.append(unique)
    if tag := properties.get(TAGS):
        keys.append(f"T#{tag}")
    return {key_hash(topic, key) for key in keys}
