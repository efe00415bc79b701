"""EpochTable: the table of epochs of a log, which says who wrote which range of it.

    start   0          4,096          9,216        9,400                  end
            │ term 1   │ term 4       │ term 4     │ term 5               │
            │ {1,2,3}  │ {1,2,3}      │ {1,2,3,4}  │ {1,2,3,4}            │
            └ first: what lay before the log begins

An epoch begins with a record of the leader's own: the start of its term, or a change of members.
It has the term of every record in it, and the members from there on. The first entry stands for all
that is before the begin of the log, so the table is never empty.

Epochs compare logs: a term has one leader, which only appends. So if two logs have an epoch of the
same term, they are the same up to the nearer end of that term, byte by byte.

E1. Terms never fall, starts neither; only the first epoch may be empty.
E2. The table may name epochs behind the end of the log, never miss one before it: it is saved
    before the record is appended, and cut after the log is. A start drops what lies behind.
"""

from bisect import bisect_left
from typing import NamedTuple

from aerobee.errors import Misuse
from aerobee.raft.membership import NOBODY, Members


class Epoch(NamedTuple):
    start: int
    term: int
    members: Members


class TermEnd(NamedTuple):
    """Where a term ends in a log."""

    term: int
    end: int


class EpochTable:
    __slots__ = ("_starts", "entries")

    def __init__(self, entries: tuple[Epoch, ...]) -> None:
        if not entries:
            raise Misuse("a table without an epoch")
        self.entries: list[Epoch] = []
        self._starts: list[int] = []
        for epoch in entries:
            self.add(epoch)

    @property
    def last_term(self) -> int:
        return self.entries[-1].term

    @property
    def last_start(self) -> int:
        return self.entries[-1].start

    @property
    def members(self) -> Members:
        """Those of the last epoch: they count, whether its record is committed or not."""
        return self.entries[-1].members

    def saved(self) -> tuple[Epoch, ...]:
        return tuple(self.entries)

    # Asking.

    def _holding(self, offset: int) -> int:
        """The index of the epoch that has the byte before this offset."""
        return max(bisect_left(self._starts, offset) - 1, 0)

    def term_before(self, offset: int) -> int:
        """The term of the byte before this offset."""
        return self.entries[self._holding(offset)].term

    def members_before(self, offset: int) -> Members:
        """The members that counted at the byte before this offset."""
        return self.entries[self._holding(offset)].members

    def has_voted_since(self, node: int, offset: int) -> bool:
        """Whether a node was a voter at the byte before this offset, or behind it."""
        epochs = self.entries[self._holding(offset) :]
        return any(node in epoch.members.voters for epoch in epochs)

    def first_term_start(self) -> int:
        """Where the first term begins that the log has something of: what lies before was written
        by a broker that was no member. Of a log that no leader has written to, its begin."""
        terms = (epoch.start for epoch in self.entries if epoch.term > 0)
        return next(terms, self.entries[0].start)

    def begun_at(self, offset: int) -> Epoch | None:
        """The epoch whose first record is at this offset."""
        index = bisect_left(self._starts, offset + 1) - 1
        if index <= 0 or self._starts[index] != offset:
            return None
        return self.entries[index]

    def next_start(self, offset: int) -> int | None:
        """Where the first epoch behind this offset begins; None: none does."""
        index = bisect_left(self._starts, offset + 1)
        return self._starts[index] if index < len(self._starts) else None

    def end_of(self, term: int, log_end: int) -> TermEnd | None:
        """Where the last term up to this one ends; None: the table begins with a later one."""
        end = log_end
        for epoch in reversed(self.entries):
            if epoch.term <= term:
                return TermEnd(epoch.term, end)
            end = epoch.start
        return None

    # Changing.

    def add(self, epoch: Epoch) -> None:
        if self.entries:
            last = self.entries[-1]
            is_ordered = epoch.term >= last.term and epoch.start >= last.start
            is_first_empty = len(self.entries) == 1
            if not is_ordered or (epoch.start == last.start and not is_first_empty):
                raise Misuse(f"epoch of term {epoch.term} at {epoch.start} behind {last}")
        self.entries.append(epoch)
        self._starts.append(epoch.start)

    def cut(self, end: int) -> bool:
        """Drop the epochs that begin at or behind the end of the log; whether there were any."""
        keep = max(bisect_left(self._starts, end), 1)
        dropped = keep < len(self.entries)
        del self.entries[keep:], self._starts[keep:]
        return dropped

    def forget_before(self, offset: int) -> bool:
        """The log begins here now: all before it becomes the first entry. Whether there was more
        than one."""
        index = self._holding(offset)
        first = self.entries[index]
        if index == 0:
            return False
        self.entries[: index + 1] = [first._replace(start=offset)]
        self._starts[: index + 1] = [offset]
        return True


def fresh_epochs(members: Members = NOBODY, log_start: int = 0) -> tuple[Epoch, ...]:
    """The table of a log that no leader has written to."""
    return (Epoch(log_start, 0, members),)
