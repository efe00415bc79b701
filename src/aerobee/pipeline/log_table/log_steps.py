"""From record to record through one file, piece by piece, and from any place in it.

    run         on from a record, until something else is there
    next_sound  where, behind damage, records begin again
    first_from  which record is the first of a part of the file
    log_end     where the log ends, in the file that it ends in

S1. Where a part begins depends on the file's bytes alone: whoever reads up to a place and whoever
    reads from it meet there, and no record is read twice or by nobody.
"""

from typing import NamedTuple

from aerobee.pipeline.arrow.message_columns import MessageColumns
from aerobee.pipeline.log_table.log_files import HEAD_BYTES, Window
from aerobee.pipeline.log_table.log_walk import ALWAYS_MS, ENDED, LOG_FINDINGS, WRONG, LogTableWalk
from aerobee.protocol.message.record import FILLER, TORN

FILE_ENDED = 4
DAMAGED = 5
_FOUND = {**LOG_FINDINGS, FILLER: "an end of the file, before its end"}


class LogEnd(NamedTuple):
    """Positions in a file: up to `end` there are sound records, up to `torn` something else."""

    end: int
    torn: int


def stepping(window: Window) -> "LogSteps":
    """Steps that take nothing."""
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
        """From a record on to the first one at or behind `end`: ENDED. Before that: FULL and
        SPECIAL as the walk says, FILE_ENDED at the file's own last words, DAMAGED at anything
        else."""
        window, walk = self._window, self.walk
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
            came_to = walk.take(window.view, at, stop, window.base)
            # What was had for another record was not asked for this one's sake.
            asked = needed if walk.position == at else 0
            needed = HEAD_BYTES
            self.position = position = window.start + walk.position
            if came_to == ENDED:
                continue
            if came_to != WRONG:
                return came_to
            if walk.finding == FILLER and walk.record_size == window.file.size - position:
                return FILE_ENDED
            size = self._cut_size()
            if asked >= size:
                self.what = _FOUND[walk.finding]
                return DAMAGED
            needed = size

    def _cut_size(self) -> int:
        """Of a record that goes on behind the window, its size; else 0."""
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
        """The first place from here on where a sound record begins; the limit if there is none."""
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
        """The first record that begins here or later.

        Looked for from a large record before it on, so that the record around this place is found
        first, and what its body pretends to be is passed by.
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
        """Where the log ends, if it ends in this file. What is written just now is not whole yet:
        up to one record behind the end may be torn, and more than that is damage."""
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
