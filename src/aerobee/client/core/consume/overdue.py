"""Messages that have been with the application for too long: as in Java's client, they go back to
the broker, so that one handler that hangs does not hold up what its queue has behind it.

Nothing is noted when a message is handed out: what is out is looked at every so often, and counts
from the first time that it was seen.
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

M = TypeVar("M")

BACK_LEVEL = 3
"""The delay after which such a message comes again: 10 s, unless the broker has other levels."""
BACK_AT_ONCE = 16


class Overdue(Generic[M]):
    """Of one queue."""

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._since: dict[M, int] = {}

    def look(self, out: Iterable[M], now_ms: int) -> list[M]:
        """Those of what is out now, oldest first, that have been out for too long. Not too many:
        the others are found by the next look."""
        self._since = {message: self._since.get(message, now_ms) for message in out}
        latest_ms = now_ms - self._timeout_ms
        found = [message for message, since_ms in self._since.items() if since_ms <= latest_ms]
        return found[:BACK_AT_ONCE]
