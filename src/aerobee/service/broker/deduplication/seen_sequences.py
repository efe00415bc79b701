"""SeenSequences has the sequences of one producer that are in one queue, and the last offsets.

    runs     17..40, 42, 50..61      all that were stored, neighbours joined
    floor    12                      below, nothing is known any more
    places   the last 512: sequence → queue offset, log offset

A producer that counts on, with a gap here and there, makes one run or a few, however long it lives;
so "stored before" is certain for everything that it ever sent, and only the offsets of old messages
are forgotten. A producer that leaves more gaps than runs are kept raises the floor.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

RUNS_MAX = 64
PLACES_MAX = 512
_PLACES_SLACK = 128  # this many more are kept before the oldest are dropped together


class SequenceVerdict(Enum):
    NEW = "new"
    REPEATED = "repeated"
    NOT_KNOWN = "not known"
    """The sequence is below the floor."""


class StoredPlace(NamedTuple):
    queue_offset: int
    log_offset: int


NO_PLACE = StoredPlace(-1, -1)
"""The message was stored; its offsets are forgotten."""


class SeenSequences:
    """The stored sequences as runs. S1. Runs are in order, and between two of them a sequence is
    missing."""

    __slots__ = ("_ends", "_log_offsets", "_queue_offsets", "_sequences", "_starts", "floor")

    def __init__(self) -> None:
        self.floor = 0
        self._starts: array[int] = array("q")
        self._ends: array[int] = array("q")
        self._sequences: array[int] = array("q")
        self._queue_offsets: array[int] = array("q")
        self._log_offsets: array[int] = array("q")

    @property
    def last(self) -> int:
        """The greatest sequence that was stored; -1: none."""
        return self._ends[-1] - 1 if self._ends else self.floor - 1

    def judge(self, sequence: int) -> SequenceVerdict:
        index = bisect_right(self._starts, sequence) - 1
        if index >= 0 and sequence < self._ends[index]:
            return SequenceVerdict.REPEATED
        return SequenceVerdict.NEW if sequence >= self.floor else SequenceVerdict.NOT_KNOWN

    def judge_run(self, start: int, count: int) -> SequenceVerdict:
        """Judge `count` consecutive sequences: all new, or all repeated; NOT_KNOWN: some of each,
        or below the floor."""
        index = bisect_right(self._starts, start) - 1
        if index >= 0 and start < self._ends[index]:
            is_within = start + count <= self._ends[index]
            return SequenceVerdict.REPEATED if is_within else SequenceVerdict.NOT_KNOWN
        is_free = index + 1 == len(self._starts) or start + count <= self._starts[index + 1]
        return SequenceVerdict.NEW if is_free and start >= self.floor else SequenceVerdict.NOT_KNOWN

    def place(self, sequence: int) -> StoredPlace:
        index = bisect_left(self._sequences, sequence)
        if index < len(self._sequences) and self._sequences[index] == sequence:
            return StoredPlace(self._queue_offsets[index], self._log_offsets[index])
        return NO_PLACE

    def note(self, sequence: int, place: StoredPlace) -> None:
        """Note a new sequence that was stored."""
        self.note_run(sequence, 1)
        index = bisect_left(self._sequences, sequence)
        self._sequences.insert(index, sequence)
        self._queue_offsets.insert(index, place.queue_offset)
        self._log_offsets.insert(index, place.log_offset)
        if len(self._sequences) > PLACES_MAX + _PLACES_SLACK:
            for column in (self._sequences, self._queue_offsets, self._log_offsets):
                del column[:_PLACES_SLACK]

    def note_run(self, start: int, count: int) -> None:
        """Note consecutive new sequences that were stored, without their offsets."""
        starts, ends = self._starts, self._ends
        end = start + count
        index = bisect_right(starts, start)
        follows = index > 0 and ends[index - 1] == start
        leads = index < len(starts) and starts[index] == end
        if follows and leads:
            ends[index - 1] = ends[index]
            del starts[index], ends[index]
        elif follows:
            ends[index - 1] = end
        elif leads:
            starts[index] = start
        else:
            starts.insert(index, start)
            ends.insert(index, end)
            if len(starts) > RUNS_MAX:
                self.floor = ends[0]
                del starts[0], ends[0]

    def forget_below(self, sequence: int) -> bool:
        """Forget sequences below this one, which are not sent any more. Returns whether any is
        left."""
        index = bisect_right(self._ends, sequence)
        del self._starts[:index], self._ends[:index]
        if self._starts and self._starts[0] < sequence:
            self._starts[0] = sequence
        at = bisect_left(self._sequences, sequence)
        for column in (self._sequences, self._queue_offsets, self._log_offsets):
            del column[:at]
        self.floor = max(self.floor, sequence)
        return len(self._starts) > 0

    # For the file.

    def runs(self) -> list[int]:
        """Start and end of each run, alternating."""
        return [bound for run in zip(self._starts, self._ends, strict=True) for bound in run]

    def last_places(self, count: int) -> list[int]:
        """Sequence, queue offset and log offset of the last messages, alternating."""
        columns = (
            self._sequences[-count:],
            self._queue_offsets[-count:],
            self._log_offsets[-count:],
        )
        return [value for row in zip(*columns, strict=True) for value in row]

    @classmethod
    def restored(cls, floor: int, runs: Sequence[int], places: Sequence[int]) -> "SeenSequences":
        """Built from the file's values. ValueError: they are not valid."""
        seen = cls()
        bounds = [floor, *runs]
        if len(runs) % 2 or len(places) % 3 or sorted(set(runs)) != list(runs):
            raise ValueError("runs that are out of order")
        if floor < 0 or min(bounds) < floor or sorted(set(places[::3])) != list(places[::3]):
            raise ValueError("runs below the floor, or places out of order")
        seen.floor = floor
        seen._starts, seen._ends = array("q", runs[::2]), array("q", runs[1::2])
        seen._sequences = array("q", places[::3])
        seen._queue_offsets = array("q", places[1::3])
        seen._log_offsets = array("q", places[2::3])
        return seen
