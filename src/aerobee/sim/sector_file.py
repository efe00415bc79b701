"""One file of the pretended disk: what the program sees, what the disk has, and what lies between.

    cache   the bytes behind every view: the program writes here, unseen
    seen    the cache when it was last looked at
    writes  sector versions found by looking since the last sync, oldest first: any subset of them
            may survive a power cut, a later version of a sector superseding an earlier one
    disk    what a power cut surely leaves

A write is found by comparing, so two writes into one sector between two looks are one version,
and rewriting the bytes that are there already is no write. The length of a new file is a write
too (`LENGTH`): until it is synced the file may come back empty or short, as ext4 leaves it when a
large reservation was cut in two.

A sparse file has holes: blocks without room. A look that finds a write in one raises
`WriteIntoHole`, where a real disk would kill the process if it were full. Room that was reserved
and not written does not survive a power cut.
"""

from typing import NamedTuple

SECTOR_BYTES = 512
LENGTH = -1  # in place of a sector number
BLOCK_BYTES = 4096
_ZEROS = bytes(BLOCK_BYTES)


class WriteIntoHole(BaseException):
    """Bytes were written for which no room was reserved. No `except Exception` catches it."""


class SectorWrite(NamedTuple):
    moment: int  # when it was found, one count for the whole disk
    sector: int
    content: bytes


class LastChange(NamedTuple):
    """What the latest look found: the bytes of [start, end) before and after."""

    moment: int
    start: int
    before: bytes
    after: bytes


class SectorFile:
    """I1: without a cache there are no writes but LENGTH. I2: `seen` is `disk` plus `writes`, plus
    what a failed sync lost. I3: `holes`, numbers of blocks, are zero in `seen`."""

    __slots__ = ("cache", "disk", "holes", "is_sparse", "last_change", "seen", "size", "writes")

    def __init__(self, size: int, disk: bytes, writes: list[SectorWrite]) -> None:
        self.size = size
        self.disk = disk
        self.writes = writes
        self.cache: bytearray | None = None
        self.seen: bytearray | None = None
        self.last_change: LastChange | None = None
        self.is_sparse = False
        self.holes: set[int] = set()

    @classmethod
    def create(cls, size: int, moment: int, *, is_sparse: bool = False) -> "SectorFile":
        file = cls(size, bytes(size), [SectorWrite(moment, LENGTH, b"")])
        if is_sparse:
            file.make_sparse()
        return file

    def make_sparse(self) -> None:
        """Only what is not zero has room."""
        self.is_sparse = True
        self.holes = {
            block
            for block in range(-(-len(self.disk) // BLOCK_BYTES))
            if _ZEROS.startswith(self.disk[block * BLOCK_BYTES : (block + 1) * BLOCK_BYTES])
        }

    def holes_in(self, start: int, end: int) -> set[int]:
        if not self.holes:
            return set()
        blocks = range(start // BLOCK_BYTES, -(-end // BLOCK_BYTES))
        return {block for block in self.holes if block in blocks}

    def room_bytes(self) -> int:
        """How much of the disk it takes."""
        return self.size - self.bytes_of(self.holes) if self.holes else self.size

    def bytes_of(self, blocks: set[int]) -> int:
        last, rest = divmod(self.size, BLOCK_BYTES)
        return len(blocks) * BLOCK_BYTES - (BLOCK_BYTES - rest if last in blocks else 0)

    def map(self) -> bytearray:
        if self.cache is None:
            self.cache = bytearray(self.disk)
            self.seen = bytearray(self.disk)
        return self.cache

    def content(self) -> bytes:
        return self.disk if self.cache is None else bytes(self.cache)

    def has_new_length(self) -> bool:
        """Whether its length, too, waits for a sync."""
        return bool(self.writes) and self.writes[0].sector == LENGTH

    def observe(self, moment: int) -> int:
        """Find what changed; the next free moment."""
        cache, seen = self.cache, self.seen
        if cache is None or seen is None or cache == seen:
            return moment
        sectors = _changed_sectors(cache, seen, self.size)
        start = sectors[0] * SECTOR_BYTES
        end = min((sectors[-1] + 1) * SECTOR_BYTES, self.size)
        self.last_change = LastChange(
            moment, start, bytes(seen[start:end]), bytes(cache[start:end])
        )
        for sector in sectors:
            position = sector * SECTOR_BYTES
            if position // BLOCK_BYTES in self.holes:
                raise WriteIntoHole(f"a write at {position} of a file of {self.size} bytes")
            content = bytes(cache[position : position + SECTOR_BYTES])
            self.writes.append(SectorWrite(moment, sector, content))
            seen[position : position + SECTOR_BYTES] = content
            moment += 1
        return moment

    def sync(self) -> None:
        """What is still dirty becomes durable. Bytes that a failed sync lost are not dirty."""
        if self.writes:
            self.disk = self.image_after(self.writes)
            self.writes = []
            self.last_change = None

    def lose_writes(self) -> None:
        """A failed sync: the kernel marks the pages clean and forgets them. The length stays."""
        self.writes = [write for write in self.writes if write.sector == LENGTH]
        self.last_change = None

    def drop_cache(self) -> None:
        """As Linux does: write what is dirty, then forget every page that nobody has mapped."""
        self.sync()
        if self.cache is not None and not _is_exported(self.cache):
            self.cache = None
            self.seen = None

    def image_after(self, kept: list[SectorWrite], short: int = 0) -> bytes:
        """The disk after a power cut that let these writes through, given oldest first. Without
        its length the file is `short` bytes long."""
        image = bytearray(self.disk)
        length = short if self.has_new_length() else self.size
        for write in kept:
            if write.sector == LENGTH:
                length = self.size
            else:
                position = write.sector * SECTOR_BYTES
                image[position : position + len(write.content)] = write.content
        return bytes(image) if length == self.size else bytes(image[:length])

    def copy(self) -> "SectorFile":
        """The same file in the memory of a machine that lives on."""
        twin = SectorFile(self.size, self.disk, list(self.writes))
        if self.cache is not None and self.seen is not None:
            twin.cache = bytearray(self.cache)
            twin.seen = bytearray(self.seen)
        twin.last_change = self.last_change
        twin.is_sparse = self.is_sparse
        twin.holes = set(self.holes)
        return twin


def _changed_sectors(cache: bytearray, seen: bytearray, size: int) -> list[int]:
    sectors = []
    for block in range(0, size, BLOCK_BYTES):
        block_end = min(block + BLOCK_BYTES, size)
        if cache[block:block_end] == seen[block:block_end]:
            continue
        for position in range(block, block_end, SECTOR_BYTES):
            if (
                cache[position : position + SECTOR_BYTES]
                != seen[position : position + SECTOR_BYTES]
            ):
                sectors.append(position // SECTOR_BYTES)
    return sectors


def _is_exported(buffer: bytearray) -> bool:
    """Whether a view of it lives: such a buffer cannot change its length."""
    try:
        buffer.append(0)
    except BufferError:
        return True
    buffer.pop()
    return False
