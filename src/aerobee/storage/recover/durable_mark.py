"""The durable mark: a lower bound of what is on the disk, in the file `durable_mark`.

It tells a torn tail from corruption. A record that cannot be read at or above `flushed` was still
on its way when the machine stopped and may be cut; below it, it was there, and something broke
it. RocketMQ has no such file and ignores ours.

    0                    512             4096                 4608            8192
    +--------------------+---------------+--------------------+---------------+
    | slot 0             | zeros         | slot 1             | zeros         |
    +--------------------+---------------+--------------------+---------------+

A slot, big-endian, in one sector:

    0       4         8          16        24           32            40           48
    +-------+---------+----------+---------+------------+-------------+------------+
    | magic | version | sequence | flushed | dispatched | queue count | unit total |
    +-------+---------+----------+---------+------------+-------------+------------+
    48            56         64            72             76
    +-------------+----------+-------------+--------------+
    | index count | crc from | first total | CRC-32 of    |
    |             |          |             | bytes 0 – 71 |
    +-------------+----------+-------------+--------------+

Laws.
L1  A mark is written only after what it says has been synced. The kernel may put the slot on the
    disk at any moment after that, or never: the mark can be too low, it can not be too high.
L2  A write goes to the slot that was *not* synced last, again and again, until that slot is synced
    too; only then is the other one written. So one valid, synced slot exists at every instant,
    whatever a power cut makes of the other. The file is born whole, with slot 0 valid.
L3  While a sync is under way neither slot is touched: the one being synced might reach the disk
    half rewritten, and the next write would then tear the only good one. What is written
    meanwhile is kept and follows in `note_synced`. After a failed sync that never comes.
L4  The valid slot with the higher sequence counts.

`write`, `begin_sync` and `note_synced` belong to the core's thread, `sync` to any.
"""

import struct
import zlib
from typing import NamedTuple

from aerobee.errors import CorruptFile, Misuse
from aerobee.ports.disk import Disk, DiskFile

FILE_BYTES = 8192
SLOT_POSITIONS = (0, 4096)  # a page apart: whatever destroys one page leaves the other
SLOT_BYTES = 76

NO_CRC = (1 << 63) - 1
"""A `crc_from` that no log offset reaches: no record need carry the CRC property."""

_MAGIC = 0x41454D4B  # "AEMK"
_VERSION = 2
_SEQUENCE_MAX = 1 << 62  # there is always a next one: a write every µs fills 146,000 years
_FIELDS = struct.Struct(">Ii8q")
_CRC = struct.Struct(">I")
_CRC_POSITION = _FIELDS.size


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


class DurableMarkFile:
    """I1: `_target` is the slot that was not synced last. I2: the other one is valid, on the disk
    and left alone. I3: `_held` is set only between `begin_sync` and `note_synced`. I4: `_is_dirty`
    says that the target was written since the last sync: only then do the slots change roles."""

    __slots__ = (
        "_file",
        "_held",
        "_is_dirty",
        "_is_syncing",
        "_sequence",
        "_target",
        "_view",
        "is_new",
        "mark",
    )

    def __init__(self, file: DiskFile, mark: DurableMark, sequence: int, slot: int) -> None:
        self._file = file
        self._view = file.view
        self._sequence = sequence
        self._target = 1 - slot
        self._is_dirty = False
        self._is_syncing = False
        self._held: DurableMark | None = None
        self.mark = mark
        self.is_new = False

    @classmethod
    def open(cls, disk: Disk, path: str) -> "DurableMarkFile":
        """What the disk holds, not what the cache shows; made if it is not there."""
        if not disk.exists(path):
            slot = encode_slot(DurableMark(), 1)
            disk.replace(path, slot + bytes(FILE_BYTES - len(slot)))
        # After a failed sync the cache may show a mark that never reached the disk. Trusted, it
        # would be I2's good slot, and it is none.
        disk.drop_cache(path)
        found_bytes = disk.size(path)
        if found_bytes != FILE_BYTES:
            raise _corrupt(f"{found_bytes} bytes long, not {FILE_BYTES}", path)
        file = disk.open(path)
        best = None
        for slot_index, position in enumerate(SLOT_POSITIONS):
            found = decode_slot(file.view, position)
            if found is not None and (best is None or found[1] > best[1]):
                best = (found[0], found[1], slot_index)
        if best is None:
            raise _corrupt("neither slot is valid", path)
        opened = cls(file, *best)
        # A mark that was never written says nothing: the start that made it did not get far.
        opened.is_new = best[1] == 1
        return opened

    @property
    def path(self) -> str:
        return self._file.path

    def write(self, mark: DurableMark) -> None:
        """Say what is durable by now. In memory only."""
        if min(mark) < 0:
            raise Misuse(f"a durable mark below zero: {mark}")
        self.mark = mark
        if self._is_syncing:
            self._held = mark
            return
        self._sequence += 1
        _write_slot(self._view, SLOT_POSITIONS[self._target], mark, self._sequence)
        self._is_dirty = True

    def begin_sync(self) -> None:
        """From here to `note_synced` no slot changes. Call it before `sync` is handed to a disk
        thread."""
        if self._is_syncing:
            raise Misuse("a sync of the durable mark is under way, or one failed")
        self._is_syncing = True

    def sync(self) -> None:
        """Put the slot on the disk. Blocks. If it raises, the file is not written any more."""
        if not self._is_syncing:
            raise Misuse("begin_sync was not called")
        self._file.sync()

    def note_synced(self) -> None:
        """The sync has returned well: the other slot may be written now."""
        if not self._is_syncing:
            raise Misuse("no sync of the durable mark was begun")
        self._is_syncing = False
        if self._is_dirty:
            self._is_dirty = False
            self._target = 1 - self._target
        held = self._held
        self._held = None
        if held is not None:
            self.write(held)

    def close(self) -> None:
        self._view = memoryview(b"")
        self._file.close()


def encode_slot(mark: DurableMark, sequence: int) -> bytes:
    slot = bytearray(SLOT_BYTES)
    _write_slot(memoryview(slot), 0, mark, sequence)
    return bytes(slot)


def decode_slot(view: memoryview, position: int) -> tuple[DurableMark, int] | None:
    """The mark at a position and its sequence; None if it cannot be believed."""
    (crc,) = _CRC.unpack_from(view, position + _CRC_POSITION)
    if zlib.crc32(view[position : position + _CRC_POSITION]) != crc:
        return None
    magic, version, sequence, *fields = _FIELDS.unpack_from(view, position)
    if magic != _MAGIC or version != _VERSION or min(fields) < 0:
        return None
    if not 1 <= sequence < _SEQUENCE_MAX:
        return None
    return DurableMark(*fields), sequence


def _write_slot(view: memoryview, position: int, mark: DurableMark, sequence: int) -> None:
    _FIELDS.pack_into(view, position, _MAGIC, _VERSION, sequence, *mark)
    crc = zlib.crc32(view[position : position + _CRC_POSITION])
    _CRC.pack_into(view, position + _CRC_POSITION, crc)


def _corrupt(reason: str, path: str) -> CorruptFile:
    return CorruptFile(
        f"durable mark: {reason}",
        path=path,
        hint="remove the file to open the store without it; damage anywhere in the commit log "
        "is then taken for the end of the log and cut off",
    )
