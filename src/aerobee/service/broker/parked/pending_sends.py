"""Sends that were appended and wait for the promise of their answer: on the disk.

The answer is made at once, because everything in it is known, and kept until the log is on the disk
up to the end of its record. Ends rise, so the oldest is always first.
"""

from collections import deque
from typing import NamedTuple

from aerobee.ports.service import ChannelId


class PendingSend(NamedTuple):
    channel: ChannelId
    end_offset: int
    answer: bytes
    opaque: int
    is_oneway: bool
    deadline_ms: int
    """On the monotonic clock: then the answer is that it was stored and is not known to be safe."""


class PendingSends:
    """The sends that wait, oldest first."""

    def __init__(self) -> None:
        self._waiting: deque[PendingSend] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, send: PendingSend) -> None:
        assert not self._waiting or self._waiting[-1].end_offset <= send.end_offset
        self._waiting.append(send)

    def take_flushed(self, flushed: int) -> list[PendingSend]:
        """Sends whose records are on the disk."""
        done = []
        while self._waiting and self._waiting[0].end_offset <= flushed:
            done.append(self._waiting.popleft())
        return done

    def take_late(self, monotonic_ms: int) -> list[PendingSend]:
        """Sends that have waited too long: nobody may call them safe."""
        late = []
        while self._waiting and self._waiting[0].deadline_ms <= monotonic_ms:
            late.append(self._waiting.popleft())
        return late

    def take_all(self) -> list[PendingSend]:
        """Every send, when the disk has failed."""
        waiting = list(self._waiting)
        self._waiting.clear()
        return waiting
