"""How far the two queues of transactions need not be read again.

    half queue   … over │ open  over  open  over …        op queue   … not needed │ needed …
                        ▲ half_offset                                             ▲ op_offset

Everything below `half_offset` is over, or stands again further on; every op record below
`op_offset` speaks of nothing else. Both are saved, and read at the next start: so they move only
over what is on the disk. A half that is over by a record that a power cut can take is not over.
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
    """P1. Both offsets never go back. P2. `_open` holds what may not be passed; `_order` holds it,
    too, and rises."""

    __slots__ = ("_end", "_open", "_ops", "_order", "_unsafe", "op_offset")

    def __init__(self, half_end: int, op_offset: int) -> None:
        """`half_end` is the end of the half queue: what is open below it is told next."""
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
        """A half is at the end of the queue, or is open there at the start."""
        self._open.add(offset)
        self._order.append(offset)
        if offset >= self._end:
            self._end = offset + 1

    def passed(self, offsets: Iterable[int], log_end: int) -> None:
        """These are over, by records that end at or before `log_end`."""
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
