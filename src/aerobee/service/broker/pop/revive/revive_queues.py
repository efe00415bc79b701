"""ReviveQueues steps all queues of the revive topic on ticks.

A tick steps each queue and stores a bounded number of copies, beginning with another queue each
time. If the store refuses a copy, it is tried again soon and logged once.
"""

import logging
from collections.abc import Callable, Sequence
from typing import TypeAlias

from aerobee.errors import StorageError
from aerobee.ports.clock import Now
from aerobee.service.broker.pop.revive.revive_queue import ReviveQueue
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

COPIES_A_TICK = 128  # some 40 µs each
LOOK_MS_MAX = 200
RETRY_MS = 100

DeliveredTo: TypeAlias = Callable[[Now], int]
"""The wall time up to which the timer has delivered everything that was due."""


class ReviveQueues:
    def __init__(
        self, store: Store, queues: Sequence[ReviveQueue], delivered_to: DeliveredTo
    ) -> None:
        self._store = store
        self._queues = queues
        self._delivered_to = delivered_to
        self._first = 0
        self._look_ms = 0
        self._refusal = ""
        self._is_stopped = False

    def on_tick(self, now: Now) -> None:
        """Revive messages that are due, and commit offsets that are safe."""
        for queue in self._queues:
            queue.commit_safe()
        if now.monotonic_ms < self._look_ms or self._is_stopped or self._store.failure is not None:
            return
        try:
            is_more = self._revive_all(now)
        except StorageError as error:
            self._look_ms = now.monotonic_ms + RETRY_MS
            if self._refusal != error.message:
                self._refusal = error.message
                _log.warning("popped messages wait to come back: %s", error)
        else:
            self._refusal = ""
            self._look_ms = now.monotonic_ms + (0 if is_more else self._wait_ms(now))

    def rest_ms(self, now: Now) -> int:
        return max(0, self._look_ms - now.monotonic_ms)

    def stop(self, now: Now) -> None:
        """Revive no more messages; commit offsets that are safe."""
        self._is_stopped = True
        for queue in self._queues:
            queue.commit_safe()

    def _revive_all(self, now: Now) -> bool:
        """Step every queue once; whether there is more to do at once."""
        left = COPIES_A_TICK
        count = len(self._queues)
        delivered_to_ms = self._delivered_to(now)
        for turn in range(self._first, self._first + count):
            left -= self._queues[turn % count].step(now, delivered_to_ms, left)
            if left <= 0:
                self._first = (turn + 1) % count
                return True
        return False

    def _wait_ms(self, now: Now) -> int:
        waits = [queue.ms_to_due(now) for queue in self._queues]
        known = [wait for wait in waits if wait is not None]
        # A checkpoint that is due already waits for the timer or for the disk.
        return min([LOOK_MS_MAX, *(wait or RETRY_MS for wait in known)])
