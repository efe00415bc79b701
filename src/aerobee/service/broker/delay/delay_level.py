"""DelayLevel holds the progress of one delay level: delivered, safe, and due messages.

A message is due when the wall clock shows the time in its unit: its store timestamp and the delay.
That is exact while the clock is not set. Because it may be, a level also takes time marks at
intervals: "every message below this queue offset was stored by this instant", on the monotonic
clock. From them follow the laws:

- Setting the clock makes no message early. Messages stored before the clock was set (below
  `distrusted_to`) are due by a mark alone: the delay has passed since.
- It makes none late by more than the distance of two marks: by a mark it is due whatever the wall
  clock shows. Store timestamps never go back, so after a clock was set back they stand still, and
  their units have times that are far too late.

A mark is dropped once it is older than the delay; the distance between two is a part of the delay:
so there are never more than a few hundred. Messages of an earlier process were stored before this
one began: that is the first mark.

An offset may be saved once the copies that were delivered before it are on the disk: otherwise a
power cut could take the copy while the file counts it as delivered.
"""

from collections import deque

from aerobee.ports.clock import Now
from aerobee.storage.index.consume_queue import ConsumeQueue

_MARKS = 256


class DelayLevel:
    """The progress of one level. G1. safe_offset ≤ offset: delivered and on the disk, delivered."""

    __slots__ = (
        "_elapsed_to",
        "_mark_distance_ms",
        "_marks",
        "_unsafe",
        "delay_ms",
        "distrusted_to",
        "number",
        "offset",
        "safe_offset",
    )

    def __init__(self, number: int, delay_ms: int) -> None:
        self.number = number
        self.delay_ms = delay_ms
        # The first message that has yet to be delivered; the first whose delivery could be lost.
        self.offset = 0
        self.safe_offset = 0
        # (log offset, queue offset): the second is safe once the log is on the disk to the first.
        self._unsafe: deque[tuple[int, int]] = deque()
        # (queue offset, monotonic ms): everything below the first was stored by the second.
        self._marks: deque[tuple[int, int]] = deque()
        self._mark_distance_ms = delay_ms // _MARKS
        # Messages below this queue offset were stored at least the delay ago.
        self._elapsed_to = 0
        # Units below this queue offset may have a time of a clock that was set since.
        self.distrusted_to = 0

    @property
    def queue_id(self) -> int:
        return self.number - 1

    # Due messages.

    def mark(self, stored_to: int, monotonic_ms: int) -> None:
        """Take a time mark: messages below `stored_to` are stored now."""
        marks = self._marks
        while marks and monotonic_ms - marks[0][1] >= self.delay_ms:
            self._elapsed_to = marks.popleft()[0]
        if not marks:
            if stored_to > self._elapsed_to:
                marks.append((stored_to, monotonic_ms))
        elif stored_to > marks[-1][0] and monotonic_ms - marks[-1][1] >= self._mark_distance_ms:
            marks.append((stored_to, monotonic_ms))

    def due_end(self, queue: ConsumeQueue, count_max: int, now: Now) -> int:
        """The queue offset after the last due message, of the next `count_max`."""
        limit = min(queue.max_offset, self.offset + count_max)
        end = max(self.offset, min(self._elapsed_to, limit))
        while end < limit and self._is_due_by_wall(queue, end, now.wall_ms):
            end += 1
        return end

    def _is_due_by_wall(self, queue: ConsumeQueue, offset: int, wall_ms: int) -> bool:
        if offset < self.distrusted_to:
            return False
        unit = queue.unit(offset)
        return unit is None or unit[2] <= wall_ms

    def ms_to_due(self, queue: ConsumeQueue, now: Now) -> int | None:
        """The time until the next message may be due; None if none waits."""
        if self.offset >= queue.max_offset:
            return None
        if self.offset < self._elapsed_to:
            return 0
        # A message without a mark was stored a moment ago.
        wait_ms = self.delay_ms
        if self._marks:
            wait_ms -= now.monotonic_ms - self._marks[0][1]
        if self.offset >= self.distrusted_to:
            unit = queue.unit(self.offset)
            if unit is not None:
                wait_ms = min(wait_ms, unit[2] - now.wall_ms)
        return max(0, wait_ms)

    # Safe offsets.

    def note_delivered(self, log_end: int) -> None:
        """Messages before `offset` were delivered by records that end at or before `log_end`."""
        self._unsafe.append((log_end, self.offset))

    def note_flushed(self, flushed: int) -> None:
        """The log is on the disk up to here."""
        while self._unsafe and self._unsafe[0][0] <= flushed:
            self.safe_offset = self._unsafe.popleft()[1]

    def move_to(self, offset: int) -> None:
        """Continue at another offset, because messages of the queue were removed."""
        self.offset = self.safe_offset = offset
        self._unsafe.clear()
