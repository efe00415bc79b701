"""HalfEscape hands open half messages of an acting master to another master, which asks their
producers.

    due for a check ─▶ put as a half into another master's log ─▶ over here

A check would have to store the half again before it asks, so that the answer can name it: an acting
master stores nothing. It has no op records either, so a half is over in its offsets alone: a start
may hand it over once more, and its producer is asked twice.

Called from the core's thread only.
"""

import logging

from aerobee.errors import CorruptRecord, MessageIllegal, NothingTaken, ProtocolError
from aerobee.ports.clock import Now
from aerobee.service.broker.log_access.real_topic import Undeliverable
from aerobee.service.broker.transaction.ledger import Ledger
from aerobee.service.broker.transaction.open_halves import Half

_log = logging.getLogger(__name__)

HALVES_A_TICK = 64
LOOK_MS_MAX = 200
RETRY_MS = 100
_UNSENDABLE_MS = 600_000


class HalfEscape:
    """Takes the place of `CheckBack`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._look_ms = 0
        self._refusal = ""
        # Since the start.
        self.moved = 0

    def on_tick(self, now: Now) -> None:
        if now.monotonic_ms < self._look_ms:
            return
        self._look_ms = now.monotonic_ms + LOOK_MS_MAX
        for _ in range(HALVES_A_TICK):
            half = self._ledger.halves.take_due(now.monotonic_ms)
            if half is None:
                return
            try:
                self._move(half, now)
            except NothingTaken as error:
                self._ledger.halves.postpone(half, now.monotonic_ms + RETRY_MS)
                self._note_refusal(error)
                return
        self._look_ms = now.monotonic_ms

    def rest_ms(self, now: Now) -> int:
        """The time for which no tick is needed."""
        return max(0, self._look_ms - now.monotonic_ms)

    def _move(self, half: Half, now: Now) -> None:
        try:
            message = self._ledger.read(half)
            if message is None:
                self._ledger.halves.postpone(half, now.monotonic_ms + RETRY_MS)
                return
            self._ledger.move_away(half, message, now)
        except (CorruptRecord, MessageIllegal, ProtocolError, Undeliverable) as error:
            # The master decides, when it is back.
            _log.error("a half message stays: queue offset %d: %s", half.offset, error)
            self._ledger.halves.postpone(half, now.monotonic_ms + _UNSENDABLE_MS)
            return
        self.moved += 1
        self._refusal = ""

    def _note_refusal(self, error: NothingTaken) -> None:
        if self._refusal != error.message:
            self._refusal = error.message
            _log.warning("open transactions wait: %s", error)
