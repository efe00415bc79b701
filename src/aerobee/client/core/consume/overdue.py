"""`Overdue` finds messages that the application has had for longer than the consume timeout.

As in Java's client they go back to the broker, so that a handler that hangs does not hold up its
queue. Nothing is noted when a message is handed out: messages that are out are looked at
periodically, and their time counts from the first look that saw them.
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

M = TypeVar("M")

BACK_LEVEL = 3
"""The delay after which such a message comes again: 10 s, unless the broker has other levels."""
BACK_AT_ONCE = 16


class Overdue(Generic[M]):
    """The overdue messages of one queue."""

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._since: dict[M, int] = {}

    def look(self, out: Iterable[M], now_ms: int) -> list[M]:
        """The messages of those out now, oldest first, that have been out for too long; not more
        than a limit: the next look finds the others.
        """
        self._since = {message: self._since.get(message, now_ms) for message in out}
        latest_ms = now_ms - self._timeout_ms
        found = [message for message, since_ms in self._since.items() if since_ms <= latest_ms]
        return found[:BACK_AT_ONCE]
