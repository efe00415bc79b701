"""Windows has a minute, an hour and a day of one counter.

    minute   6 slots of 10 seconds
    hour     6 slots of 10 minutes
    day     24 slots of an hour

The newest slot of each is still being filled, so a "minute" is the last 50 to 60 seconds. Rates are
over the time that has really passed. An idle counter costs nothing: its old slots are cleared when
it is read.
"""

from array import array
from typing import NamedTuple

SLOT_MS = 10_000
"""The resolution of time, on the monotonic clock."""

_SHAPES = ((6, 1), (6, 60), (24, 360))  # (number of slots, width in units of 10 seconds)
_SPAN_MS_MIN = 1_000  # a rate over less would only be noise


class Stretch(NamedTuple):
    """The sum and rate of one window."""

    sum: int
    tps: float
    """Per second."""


class Past(NamedTuple):
    """A counter's last minute, hour and day."""

    minute: Stretch
    hour: Stretch
    day: Stretch


class Ring:
    """The newest slots of one window. R1. Slots older than the ring's length are empty."""

    __slots__ = ("_newest", "_sums")

    def __init__(self, slots: int) -> None:
        self._sums = array("q", bytes(8 * slots))
        self._newest = 0

    def add(self, place: int, number: int) -> None:
        self._move_to(place)
        self._sums[place % len(self._sums)] += number

    def total(self, place: int) -> int:
        """The sum of all slots, if this is the current one."""
        self._move_to(place)
        return sum(self._sums)

    def _move_to(self, place: int) -> None:
        length = len(self._sums)
        for passed in range(max(self._newest, place - length) + 1, place + 1):
            self._sums[passed % length] = 0
        self._newest = max(self._newest, place)


class Windows:
    """The three windows of one counter."""

    __slots__ = ("_rings",)

    def __init__(self) -> None:
        self._rings = tuple(Ring(slots) for slots, _ in _SHAPES)

    def add(self, slot: int, number: int) -> None:
        """`slot`: the time in units of 10 seconds."""
        for ring, (_, width) in zip(self._rings, _SHAPES, strict=True):
            ring.add(slot // width, number)

    def past(self, now_ms: int, begun_ms: int) -> Past:
        """The windows at `now_ms`; nothing was counted before `begun_ms`."""
        slot = now_ms // SLOT_MS
        stretches = []
        for ring, (slots, width) in zip(self._rings, _SHAPES, strict=True):
            place = slot // width
            since_ms = max(begun_ms, (place - slots + 1) * width * SLOT_MS)
            total = ring.total(place)
            span_ms = max(now_ms - since_ms, _SPAN_MS_MIN)
            stretches.append(Stretch(total, total * 1000 / span_ms))
        return Past(*stretches)
