"""DiskLog: the log of a simulated node, with what of it is on the disk.

A record is a number that is used once: its term, and a count. Its size is drawn when it is made. So
two records are the same bytes exactly if they are the same number, and the term that wrote a record
can be read from it by a judge, while the core sees offsets only.
"""

from bisect import bisect_right
from typing import NamedTuple

TERM_UNIT = 1_000_000
"""A record is term * TERM_UNIT + count."""


class Chunk(NamedTuple):
    """Records on the wire."""

    ends: list[int]
    values: list[int]


NO_RECORDS = Chunk([], [])


class DiskLog:
    __slots__ = ("ends", "life", "start", "synced", "values")

    def __init__(self) -> None:
        self.start = 0
        # The end of each record, and the record; also of those before `start`, which are gone.
        self.ends: list[int] = []
        self.values: list[int] = []
        self.synced = 0
        # Grows when records are taken away: a sync that began before says nothing.
        self.life = 0

    @property
    def end(self) -> int:
        return self.ends[-1] if self.ends else 0

    def count_to(self, offset: int) -> int:
        """The number of records before an offset."""
        return bisect_right(self.ends, offset)

    def append(self, value: int, size: int) -> None:
        self.ends.append(self.end + size)
        self.values.append(value)

    def extend(self, chunk: Chunk) -> None:
        self.ends += chunk.ends
        self.values += chunk.values

    def chunk(self, start: int, end: int) -> Chunk:
        assert self.start <= start, f"bytes from {start}, and the log begins at {self.start}"
        first, last = bisect_right(self.ends, start), bisect_right(self.ends, end)
        assert end == (self.ends[last - 1] if last else 0), f"{end} is inside a record"
        return Chunk(self.ends[first:last], self.values[first:last])

    def boundary(self, start: int, limit: int) -> int:
        index = bisect_right(self.ends, limit) - 1
        if index < 0 or self.ends[index] <= start:
            return self.ends[bisect_right(self.ends, start)]
        return self.ends[index]

    def cut(self, offset: int) -> None:
        count = bisect_right(self.ends, offset)
        del self.ends[count:], self.values[count:]
        assert self.end == offset, f"a cut at {offset}, inside a record"
        self.synced = min(self.synced, offset)
        self.life += 1

    def reset(self, start: int, before: Chunk) -> None:
        """Begin anew at an offset; `before` is what others have had there."""
        self.ends, self.values = list(before.ends), list(before.values)
        assert self.end == start
        self.start = self.synced = start
        self.life += 1

    def lose(self, kept: int) -> None:
        """Lose power: of the records that were not synced, so many are kept."""
        count = self.count_to(self.synced)
        del self.ends[count + kept :], self.values[count + kept :]
        self.life += 1

    def unsynced_count(self) -> int:
        return len(self.ends) - self.count_to(self.synced)

    def sync_all(self) -> None:
        self.synced = self.end
