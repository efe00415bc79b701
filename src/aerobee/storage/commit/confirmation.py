"""Confirmation says how far the log is confirmed and how far it is lasting, and releases those who
wait for either.

    confirmed   may be acknowledged and read: appended (ASYNC) or synced (SYNC), and held by enough
                copies
    lasting     neither a power cut nor a change of master takes it back: synced, and held by enough
                copies

Progress that is saved (delay offsets, timer checkpoints, sequences) stays below the lasting offset:
else a start after a loss would skip messages that were never delivered.

Laws:
- Both offsets only rise, but for a failed sync: then the confirmed one falls back to what is
  synced, for good.
- Without copies to wait for, both depend on the disk alone, and a copy costs nothing.
- After a failed sync only those are released whose bytes were synced before.

Called from the core's thread only.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from aerobee.storage.commit.flush import Flush
from aerobee.storage.config import FlushMode

NO_COPIES = 1 << 62
"""Beyond every log offset: no copy is waited for."""


class Waiter(NamedTuple):
    """A ticket that is released when an offset is reached."""

    end_offset: int
    ticket: object


class Confirmation:
    def __init__(self, log_end: Callable[[], int], flush: Flush, mode: FlushMode) -> None:
        self._log_end = log_end
        self._flush = flush
        self._is_sync = mode is FlushMode.SYNC
        self._copied = NO_COPIES
        self._confirmed_waiters: deque[Waiter] = deque()
        self._lasting_waiters: deque[Waiter] = deque()
        self.waits_for_copies = False
        """Whether copies on other brokers are needed before anything is confirmed."""
        self.when_expected: Callable[[], None] = lambda: None
        """Called before anything is appended that copies are waited for."""

    # Copies.

    def expect_copies(self, copied: int) -> None:
        """From now on wait for copies; the log up to `copied` is known to have enough."""
        self.waits_for_copies = True
        self._copied = copied
        self.when_expected()

    def note_copied(self, offset: int) -> None:
        """Enough copies have the log up to here. An offset below an earlier one changes nothing:
        they had it once."""
        if self.waits_for_copies and offset > self._copied:
            self._copied = offset

    # The answers.

    @property
    def is_later(self) -> bool:
        """Whether an append may be confirmed later than it is made."""
        return self._is_sync or self.waits_for_copies

    @property
    def confirmed_offset(self) -> int:
        reached = self._flush.flushed if self._is_disk_needed() else self._log_end()
        return min(reached, self._copied)

    def _is_disk_needed(self) -> bool:
        return self._is_sync or self._flush.failure is not None

    @property
    def lasting_offset(self) -> int:
        return min(self._flush.flushed, self._copied)

    def is_on_disk(self, end_offset: int) -> bool:
        """Whether the disk has done its part for an append that ends here: if that is not
        confirmed, copies are missing."""
        return not self._is_sync or end_offset <= self._flush.flushed

    # Waiting.

    def wait_confirmed(self, end_offset: int, ticket: object) -> None:
        """Give `ticket` back from `take_released` once the log is confirmed up to here."""
        self._confirmed_waiters.append(Waiter(end_offset, ticket))

    def wait_lasting(self, end_offset: int, ticket: object) -> None:
        """Give `ticket` back from `take_released` once the log is lasting up to here; a sync is
        begun for it."""
        self._lasting_waiters.append(Waiter(end_offset, ticket))
        self._flush.is_awaited = True

    def take_released(self) -> list[object]:
        """Tickets whose wait is over."""
        released: list[object] = []
        flush, waiting = self._flush, self._lasting_waiters
        # `released_to` is `flushed`, unless a test plants a store that says more than is true.
        reached = flush.released_to if self._is_disk_needed() else self._log_end()
        _release(self._confirmed_waiters, min(reached, self._copied), released)
        _release(waiting, min(flush.released_to, self._copied), released)
        flush.is_awaited = bool(waiting) and waiting[-1].end_offset > flush.flushed
        return released

    def take_failed(self) -> list[object]:
        """After a failed sync: the tickets that may never be acknowledged."""
        if self._flush.failure is None:
            return []
        failed = [one.ticket for one in (*self._confirmed_waiters, *self._lasting_waiters)]
        self._confirmed_waiters.clear()
        self._lasting_waiters.clear()
        return failed


def _release(waiters: deque[Waiter], offset: int, released: list[object]) -> None:
    while waiters and waiters[0].end_offset <= offset:
        released.append(waiters.popleft().ticket)
