"""QueueProgress has the offsets of the half queue and the op queue from which a start must read.

    half queue   … over │ open  over  open  over …        op queue   … not needed │ needed …
                        ▲ half_offset                                             ▲ op_offset

Every half below `half_offset` is over, or has a copy further on; every op record below `op_offset`
names only such halves. Both are saved and read at the next start, so they move only over records
that are on the disk: a half whose op record a power cut can take is not over.
"""

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython


def is_compiled() -> bool:
    return cython.compiled


class OpSpan(NamedTuple):
    """An op record, and the highest half that it ends."""

    op_offset: int
    highest: int


class QueueProgress:
    """P1. Both offsets never go back. P2. `_open` has the halves that `half_offset` may not pass;
    `_order` has them, too, in rising order."""

    __slots__ = ("_end", "_open", "_ops", "_order", "_unsafe", "op_offset")

    def __init__(self, half_end: int, op_offset: int) -> None:
        """`half_end` is the end of the half queue; open halves below it are passed to `opened`
        next."""
        self._end = half_end
        self._open: set[int] = set()
        self._order: deque[int] = deque()
        # (log offset, halves): over once the log is on the disk to there.
        self._unsafe: deque[tuple[int, tuple[int, ...]]] = deque()
        self._ops: deque[OpSpan] = deque()
        self.op_offset = op_offset

    @property
    def half_offset(self) -> int:
        return self._order[0] if self._order else self._end

    @property
    def half_end(self) -> int:
        """The end of the half queue, as far as it is known."""
        return self._end

    def opened(self, offset: int) -> None:
        """A half was stored at the end of the queue, or was found open at the start."""
        self._open.add(offset)
        self._order.append(offset)
        if offset >= self._end:
            self._end = offset + 1

    def passed(self, offsets: Iterable[int], log_end: int) -> None:
        """These halves are over or copied, by records that end at or before `log_end`."""
        self._unsafe.append((log_end, tuple(offsets)))

    def op_written(self, op_offset: int, highest: int) -> None:
        self._ops.append(OpSpan(op_offset, highest))

    def note_flushed(self, flushed: int) -> None:
        """The log is on the disk up to here."""
        while self._unsafe and self._unsafe[0][0] <= flushed:
            self._open.difference_update(self._unsafe.popleft()[1])
        while self._order and self._order[0] not in self._open:
            self._order.popleft()
        while self._ops and self._ops[0].highest < self.half_offset:
            self.op_offset = self._ops.popleft().op_offset + 1
