"""LogState: the log of a node as Raft sees it: four offsets and the table of epochs.

    start ─────── commit ─────────── end            start ≤ commit ≤ end, synced ≤ end
            synced ─┴──── anywhere from start to end

G1. `commit` never falls while a node lives, and nothing below it is ever cut.
G2. `synced` is on the disk of this node.
"""

from aerobee.errors import RaftBroken
from aerobee.raft.epochs import Epoch, EpochTable


class LogState:
    __slots__ = ("commit", "end", "epochs", "start", "synced")

    def __init__(
        self, start: int, end: int, synced: int, commit: int, epochs: tuple[Epoch, ...]
    ) -> None:
        self.start = start
        self.end = end
        self.synced = min(synced, end)
        self.commit = max(start, min(commit, end))
        self.epochs = EpochTable(epochs)

    @property
    def last_term(self) -> int:
        """The term of the last byte."""
        return self.epochs.term_before(self.end)

    def is_covered_by(self, end: int, last_term: int) -> bool:
        """Whether a log that ends so has everything that this one may have committed."""
        own = self.last_term
        return last_term > own or (last_term == own and end >= self.end)

    def note_synced(self, offset: int) -> bool:
        """Whether more is on the disk than before."""
        offset = min(offset, self.end)
        if offset <= self.synced:
            return False
        self.synced = offset
        return True

    def note_commit(self, offset: int) -> bool:
        """Whether more is committed than before."""
        if offset <= self.commit:
            return False
        if offset > self.end:
            raise RaftBroken(f"commit offset {offset} behind the end {self.end} of the log")
        self.commit = offset
        return True

    def cut(self, offset: int) -> None:
        """The log is to end here."""
        if offset < self.commit:
            raise RaftBroken(
                f"a cut at {offset} of a log that is committed up to {self.commit}",
                hint="two leaders, a disk that lost synced bytes, or a node that came back empty",
            )
        self.end = offset
        self.synced = min(self.synced, offset)
        self.epochs.cut(offset)

    def reset(self, first: Epoch) -> None:
        """The log is to be empty and to begin here."""
        if first.start < self.commit:
            raise RaftBroken(
                f"a reset to {first.start} of a log that is committed up to {self.commit}"
            )
        self.start = self.end = self.synced = self.commit = first.start
        self.epochs = EpochTable((first,))
