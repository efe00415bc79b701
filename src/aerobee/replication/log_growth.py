"""LogGrowth remembers when the end of a log passed which offset: so a lag can be told as a time.

It holds marks (time, end of the log then) on levels. Level 0 has the newest, at most one for each
millisecond; a mark that is pushed out of level n goes to level n + 1 if it is 2ⁿ⁺¹ ms or more newer
than the last one there, and is dropped otherwise. So the distance of marks grows with their age:

    age        0 … 32 ms   … 96 ms   … 224 ms   …   … 3 days
    distance   1 ms        2 ms      4 ms           1/32 to 1/16 of the age

The memory is bounded, noting a mark costs two steps on average, and a lag is never told too long
and at most about 6 % too short.
"""

from collections import deque

MARKS_A_LEVEL = 32
LEVELS = 24  # the last one reaches back 2²³ · 32 ms: three days


class LogGrowth:
    """G1. From the last level to the first, times and offsets of the marks rise."""

    __slots__ = ("_levels",)

    def __init__(self) -> None:
        self._levels: list[deque[tuple[int, int]]] = [deque() for _ in range(LEVELS)]

    def note(self, end_offset: int, monotonic_ms: int) -> None:
        """The log ends here now."""
        newest = self._levels[0]
        if newest:
            last_ms, last_end = newest[-1]
            if end_offset <= last_end:
                return
            if monotonic_ms <= last_ms:  # one mark for what came in one millisecond
                newest[-1] = (last_ms, end_offset)
                return
        mark = (monotonic_ms, end_offset)
        distance_ms = 1
        for marks in self._levels:
            if marks and mark[0] - marks[-1][0] < distance_ms:
                return
            marks.append(mark)
            if len(marks) <= MARKS_A_LEVEL:
                return
            mark = marks.popleft()
            distance_ms *= 2

    def forget(self) -> None:
        for marks in self._levels:
            marks.clear()

    def lag_ms(self, offset: int, monotonic_ms: int) -> int:
        """For how long the log has been longer than this; 0 if it is not, as far as was noted."""
        for marks in reversed(self._levels):
            for noted_ms, end_offset in marks:
                if end_offset > offset:
                    return max(0, monotonic_ms - noted_ms)
        return 0
