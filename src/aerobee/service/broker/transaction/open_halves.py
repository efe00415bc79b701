"""OpenHalves is the table of open half messages: offset, group, check count and next check.

    add ──▶ due at a time ──take_due──▶ checked, moved ──▶ due again
                              └─▶ no producer to ask: let_wait ──▶ waiting_in, when one is there

Laws:

- A half is found by its own offset and by those of its earlier copies: its producer knows the
  first.
- Due times are in a heap, and an entry counts only while its half has the same time; so removing a
  half is a deletion from a table. Stale entries are swept out when they are the most.
- A half that waits for a producer stays in the heap with the time at which it is given up.

Some 600 bytes each; the caller of `add` bounds their number.
"""

import heapq
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

_STALE_MAX = 1024  # entries of the heap that may be left over, besides one for each half
_NONE: Mapping[int, "Half"] = {}
_EARLIER_MAX = 32  # 15 checks, and moves of which each comes long after the one before


def is_compiled() -> bool:
    return cython.compiled


class Half:
    """One open half message, without its content. H1. `earlier` rises, and ends below `offset`."""

    __slots__ = ("due_ms", "earlier", "expiry_ms", "group", "is_waiting", "offset", "times")

    def __init__(self, offset: int, group: str, times: int, expiry_ms: int) -> None:
        self.offset = offset
        self.group = group
        self.times = times
        """The number of checks sent."""
        self.expiry_ms = expiry_ms
        """On the monotonic clock, as `due_ms`: when it is given up, asked or not."""
        self.due_ms = 0
        self.is_waiting = False
        # Queue offsets of its earlier copies.
        self.earlier: tuple[int, ...] = ()

    @property
    def chain(self) -> tuple[int, ...]:
        """The queue offsets of all its copies: all must be in op records when it ends."""
        return (*self.earlier, self.offset)


class OpenHalves:
    """The open halves by queue offset. O1. `_at` maps every offset of every chain to its half."""

    __slots__ = ("_at", "_halves", "_heap", "_waiting")

    def __init__(self) -> None:
        self._halves: dict[int, Half] = {}
        self._at: dict[int, Half] = {}
        self._heap: list[tuple[int, int]] = []
        self._waiting: OrderedDict[str, OrderedDict[int, Half]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._halves)

    def __iter__(self) -> Iterator[Half]:
        """In the order of their offsets."""
        return iter(self._halves.values())

    def find(self, offset: int) -> Half | None:
        """The half with a copy at this offset."""
        return self._at.get(offset)

    # Coming and going.

    def add(self, half: Half, due_ms: int) -> None:
        """Add a half. Its offset is higher than all before."""
        self._halves[half.offset] = self._at[half.offset] = half
        for offset in half.earlier:
            self._at[offset] = half
        self.postpone(half, due_ms if due_ms < half.expiry_ms else half.expiry_ms)

    def remove(self, half: Half) -> None:
        del self._halves[half.offset]
        if self._at.get(half.offset) is half:
            del self._at[half.offset]
        for offset in half.earlier:
            if self._at.get(offset) is half:
                del self._at[offset]
        if half.is_waiting:
            self._stop_waiting(half)

    def move(self, half: Half, offset: int, due_ms: int) -> None:
        """It was stored again at the end of the queue; it is still found by its old offsets."""
        del self._halves[half.offset]
        self._stop_waiting(half)
        chain = half.chain
        for forgotten in chain[:-_EARLIER_MAX]:
            self._at.pop(forgotten, None)
        half.earlier = chain[-_EARLIER_MAX:]
        half.offset = offset
        self._halves[offset] = self._at[offset] = half
        self.postpone(half, min(due_ms, half.expiry_ms))

    # Due halves.

    def postpone(self, half: Half, due_ms: int) -> None:
        """Make the half due at this time."""
        half.due_ms = due_ms
        heapq.heappush(self._heap, (due_ms, half.offset))
        if len(self._heap) > 2 * len(self._halves) + _STALE_MAX:
            self._sweep()

    def _sweep(self) -> None:
        self._heap = [(one.due_ms, one.offset) for one in self._halves.values()]
        heapq.heapify(self._heap)

    def take_due(self, monotonic_ms: int) -> Half | None:
        """A half that is due. The caller has to remove, move or postpone it, or let it wait."""
        due_ms = self.next_due_ms()
        if due_ms is None or due_ms > monotonic_ms:
            return None
        half = self._halves[heapq.heappop(self._heap)[1]]
        self._stop_waiting(half)
        return half

    def next_due_ms(self) -> int | None:
        heap = self._heap
        while heap:
            due_ms, offset = heap[0]
            half = self._halves.get(offset)
            if half is not None and half.due_ms == due_ms:
                return due_ms
            heapq.heappop(heap)
        return None

    # Halves that wait for a producer.

    def let_wait(self, half: Half) -> None:
        """Let it wait for a producer, until it is moved or given up."""
        half.is_waiting = True
        self._waiting.setdefault(half.group, OrderedDict())[half.offset] = half
        self.postpone(half, half.expiry_ms)

    def waiting_groups(self, count_max: int) -> list[str]:
        """Up to `count_max` groups whose halves wait, beginning with other ones at every call."""
        groups = list(islice(self._waiting, count_max))
        for group in groups:
            self._waiting.move_to_end(group)
        return groups

    def waiting_in(self, group: str, count_max: int) -> list[Half]:
        """The first waiting halves of a group. They wait on until they are moved or removed."""
        return list(islice(self._waiting.get(group, _NONE).values(), max(0, count_max)))

    def _stop_waiting(self, half: Half) -> None:
        if not half.is_waiting:
            return
        half.is_waiting = False
        halves = self._waiting[half.group]
        del halves[half.offset]
        if not halves:
            del self._waiting[half.group]
