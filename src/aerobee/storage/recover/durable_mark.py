"""The durable mark: a lower bound of what is on the disk, in the file `durable_mark`.

It tells a torn tail from corruption. A record that cannot be read at or above `flushed` was still
on its way when the machine stopped and may be cut; below it, it was there, and something broke
it. RocketMQ has no such file and ignores ours.

Two slots, drawn in `protocol.message.durable_mark_slots`, a page apart.

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

from aerobee.errors import CorruptFile, Misuse
from aerobee.ports.disk import Disk, DiskFile
from aerobee.protocol.message.durable_mark_slots import (
    FILE_BYTES,
    SLOT_POSITIONS,
    DurableMark,
    encode_slot,
    newest_slot,
    write_slot,
)


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
        best = newest_slot(file.view)
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
        write_slot(self._view, SLOT_POSITIONS[self._target], mark, self._sequence)
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


def _corrupt(reason: str, path: str) -> CorruptFile:
    return CorruptFile(
        f"durable mark: {reason}",
        path=path,
        hint="remove the file to open the store without it; damage anywhere in the commit log "
        "is then taken for the end of the log and cut off",
    )
