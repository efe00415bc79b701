"""Progress of a copy: bytes, rate over the last seconds, and the time that is left.

The caller looks at both logs from time to time, and says when; nothing here reads a clock.
"""

from collections import deque
from typing import NamedTuple

from aerobee.app.load.workload.amounts import shown_bytes

WINDOW_SECONDS = 10.0


class Look(NamedTuple):
    seconds: float
    copied: int
    """Bytes of the log that are here."""
    total: int
    """Bytes that the master has."""


class CopyProgress:
    def __init__(self) -> None:
        self._looks: deque[Look] = deque()

    def note(self, look: Look) -> None:
        self._looks.append(look)
        while len(self._looks) > 2 and look.seconds - self._looks[0].seconds > WINDOW_SECONDS:
            self._looks.popleft()

    @property
    def bytes_per_second(self) -> float:
        first, last = self._looks[0], self._looks[-1]
        seconds = last.seconds - first.seconds
        return (last.copied - first.copied) / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """By the difference between the rate of the copy and that of the master's growth; None: it
        does not get nearer."""
        first, last = self._looks[0], self._looks[-1]
        missing = last.total - last.copied
        if missing <= 0:
            return 0.0
        seconds = last.seconds - first.seconds
        gained = first.total - first.copied - missing
        return missing * seconds / gained if seconds > 0 and gained > 0 else None

    def line(self, messages: int) -> str:
        last = self._looks[-1]
        part = last.copied / last.total if last.total else 1.0
        left = self.seconds_left
        time_left = "no end in sight" if left is None else f"{left:.0f} s left"
        return (
            f"copied {shown_bytes(last.copied)} of {shown_bytes(last.total)} ({part:.0%}), "
            f"{messages} messages, {shown_bytes(self.bytes_per_second)}/s, {time_left}"
        )
