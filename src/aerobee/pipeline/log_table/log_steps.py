"""LogSteps walks from record to record through one file, piece by piece, from any position in it.

    run         walks on from a record, until there is no sound record
    next_sound  finds the first record after damage
    first_from  finds the first record of a part of the file
    log_end     finds the end of the log, in its last file

S1. The first record of a part depends on the file's bytes alone: the task that reads up to a
    position and the task that reads from it agree, and no record is read twice or not at all.
"""

from typing import NamedTuple

from aerobee.pipeline.arrow.message_columns import MessageColumns
from aerobee.pipeline.log_table.log_files import HEAD_BYTES, Window
from aerobee.pipeline.log_table.log_walk import ALWAYS_MS, ENDED, WRONG, LogTableWalk
from aerobee.protocol.message.record_check import CHECK_FINDINGS, FILLER, TORN

FILE_ENDED = 4
DAMAGED = 5


class LogEnd(NamedTuple):
    """Positions in a file: sound records end at `end`, torn bytes at `torn`."""

    end: int
    torn: int


def stepping(window: Window) -> "LogSteps":
    """Return steps that only check records and take none."""
    return LogSteps(window, LogTableWalk(MessageColumns(0, 1, 1), frozenset(), ALWAYS_MS, 0))


class LogSteps:
    def __init__(self, window: Window, walk: LogTableWalk) -> None:
        self._window = window
        self.walk = walk
        self.position = 0
        """Where it has come to, in the file."""
        self.what = ""
        """What was found there, if it is DAMAGED."""

    def run(self, position: int, end: int) -> int:
        """Walk from a record to the first one at or after `end`: ENDED. Before that: FULL and
        SPECIAL as the walk returns them, FILE_ENDED at the end marker of the file, DAMAGED at
        anything else."""
        window, walk = self._window, self.walk
        file_end = window.file.base + window.file.size
        needed = HEAD_BYTES
        while True:
            self.position = position
            if position >= end:
                return ENDED
            at = window.cover(position, needed)
            stop = min(end - window.start, len(window.view))
            if stop <= at:
                self.what = "the file is shorter than it was"
                return DAMAGED
            came_to = walk.take(window.view, at, stop, window.base, file_end)
            # What was had for another record was not asked for this one's sake.
            asked = needed if walk.position == at else 0
            needed = HEAD_BYTES
            self.position = position = window.start + walk.position
            if came_to == ENDED:
                continue
            if came_to != WRONG:
                return came_to
            if walk.finding == FILLER:
                return FILE_ENDED
            size = self._cut_size()
            if asked >= size:
                self.what = CHECK_FINDINGS[walk.finding]
                return DAMAGED
            needed = size

    def _cut_size(self) -> int:
        """Return the size of a record that is cut by the end of the window; else 0."""
        window = self._window
        there = window.end - self.position
        left = window.file.limit - self.position
        if self.walk.finding != TORN or there >= left:
            return 0
        if there < HEAD_BYTES:
            return HEAD_BYTES + 1  # more than was asked for: look again
        size = self.walk.record_size
        return size if there < size <= left else 0

    def next_sound(self, position: int) -> int:
        """Return the first position from here on where a sound record begins; the limit if there is
        none."""
        window, walk = self._window, self.walk
        file = window.file
        while position + HEAD_BYTES <= file.limit:
            at = window.cover(position, min(window.reach.window_bytes, file.limit - position))
            found = walk.find(window.view, at, window.base, file.base + file.limit)
            if found < 0:
                if window.end >= file.limit or len(window.view) - at < HEAD_BYTES:
                    break
                position = window.end - HEAD_BYTES + 1
                continue
            place = window.start + found
            if walk.finding != TORN:
                return place
            size = walk.record_size
            at = window.cover(place, size)
            position = place
            if len(window.view) - at < size:
                break  # the file is shorter than it was
            if walk.find(window.view, at, window.base, file.base + file.limit) == at:
                return place
            position = place + 1
        return file.limit

    def first_from(self, position: int) -> int:
        """Return the first record that begins here or later.

        The search starts earlier, by the size of the largest record, so that the record around this
        position is found first, and bytes in its body that look like a record are skipped.
        """
        at = max(0, position - self._window.reach.record_bytes)
        if at:
            at = self.next_sound(at)
        while at < position:
            came_to = self.run(at, position)
            if came_to == ENDED:
                return self.position
            if came_to == FILE_ENDED:
                return self._window.file.limit
            at = self.next_sound(self.position + 1)
        return at

    def log_end(self) -> LogEnd:
        """Return the end of the log, if it is in this file. A record that is being written is not
        whole yet: up to one record after the end may be torn, more than that is damage."""
        used = self._window.used_bytes()
        limit = self._window.file.limit
        back = self._window.reach.record_bytes
        at = start = max(0, used - back)
        while start and (at := self.next_sound(start)) >= limit:
            back *= 4
            at = start = max(0, used - back)
        while True:
            if self.run(at, limit) != DAMAGED:
                return LogEnd(limit, limit)
            end = self.position
            at = self.next_sound(end + 1) if end < used else limit
            if at >= limit:
                break
        if used - end > self._window.reach.record_bytes:
            return LogEnd(used, used)
        return LogEnd(end, max(used, end))
