"""Dequeue delivers the messages of one slot of the wheel, in pieces as large as a tick allows.

    walk ──▶ read recalls ──▶ batches: in memory? ──▶ store in real topic ──▶ slot cleared
                                   └─ no: a disk job brings them there

If the store refuses a message, it is tried again later, from the same message on. The work for each
message is in `slot_delivery`.

Called from the core's thread only.
"""

import logging

from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.service.broker.timer.slot_delivery import SlotDelivery
from aerobee.service.broker.timer.slot_walk import SlotWalk
from aerobee.storage.timer.timer_log import TimerLog
from aerobee.storage.timer.timer_wheel import Slot, TimerWheel

_log = logging.getLogger(__name__)

UNITS_A_STEP = 8_000  # a chain's next unit costs about a tenth of a µs, a message over one
BATCH = 256
_PAGE_BYTES = 4096


class Budget:
    """The messages and bytes that a tick may still deliver."""

    __slots__ = ("bytes", "count")

    def __init__(self, count: int, byte_count: int) -> None:
        self.count = count
        self.bytes = byte_count

    @property
    def is_spent(self) -> bool:
        return self.count <= 0 or self.bytes <= 0


class Dequeue:
    """The delivery of one slot. D1. While `_walk` is set, its slot is in the wheel, and only its
    units are delivered."""

    def __init__(
        self,
        worker: DiskWorker,
        wheel: TimerWheel,
        log: TimerLog,
        delivery: SlotDelivery,
    ) -> None:
        self._worker = worker
        self._wheel = wheel
        self._timer_log = log
        self._delivery = delivery
        self._walk: SlotWalk | None = None
        self._keys_read = 0
        # Number of next units whose records are in memory.
        self._ready = 0
        self._fetch: _Fetch | None = None

    @property
    def delivered(self) -> int:
        """The number of messages delivered since the start."""
        return self._delivery.delivered

    @property
    def is_busy(self) -> bool:
        return self._walk is not None

    @property
    def is_waiting(self) -> bool:
        """Whether a disk job is reading records."""
        return self._fetch is not None and not self._fetch.is_over

    def begin(self, slot: Slot) -> None:
        self._walk = SlotWalk(self._timer_log, slot)
        self._delivery.begin()
        self._keys_read = 0
        self._ready = 0
        self._fetch = None

    def pause(self) -> None:
        """Leave the slot; a later `begin` continues with the rest."""
        self.note_progress()
        self._forget()

    def abandon(self) -> None:
        """Wheel and log are about to be built again."""
        self._forget()

    def note_progress(self) -> None:
        """Store in the wheel which units of the slot are left."""
        walk = self._walk
        if walk is not None and walk.is_over:
            slot = self._wheel.find(walk.time_ms)
            if slot is not None:
                self._wheel.put(slot.begun_at(walk.progress().first))

    def _forget(self) -> None:
        self._walk = None
        self._ready = 0
        self._fetch = None
        self._delivery.begin()
        self._delivery.let_go()

    def run(self, budget: Budget, now: Now) -> None:
        """Deliver units of the slot, as far as the budget allows. StorageError: the store refuses a
        message now; TimerDamaged: the slot cannot be walked."""
        walk = self._walk
        assert walk is not None
        if not walk.is_over:
            budget.count -= 1 + (walk.step(UNITS_A_STEP) >> 4)
            if not walk.is_over:
                return
        try:
            if self._read_keys(walk, budget):
                self._deliver(walk, budget, now)
        finally:
            self._delivery.let_go()

    def _finish(self, walk: SlotWalk) -> None:
        """Clear the slot, unless it got units meanwhile."""
        gone = self._delivery.gone + walk.was_cut
        if gone:
            # Once for a slot: there may be millions.
            _log.error(
                "%d messages for %d, or more, were removed before they were delivered: the log is "
                "kept for too short a time, or the disk is full",
                gone,
                walk.time_ms,
            )
        slot = self._wheel.find(walk.time_ms)
        if slot is not None and slot.last > walk.last:
            self._wheel.put(slot.begun_at(walk.last + 1))
        else:
            self._wheel.clear(walk.time_ms)
        self._forget()

    def _read_keys(self, walk: SlotWalk, budget: Budget) -> bool:
        """Whether all recalls of the slot are read."""
        while self._keys_read < len(walk.deletes):
            if budget.is_spent:
                return False
            positions = list(walk.deletes[self._keys_read : self._keys_read + BATCH])
            if not self._is_at_hand(positions):
                return False
            for position in positions:
                self._delivery.learn(position)
            budget.count -= len(positions)
            self._keys_read += len(positions)
            self._ready = 0
        return True

    def _deliver(self, walk: SlotWalk, budget: Budget, now: Now) -> None:
        while walk.left:
            if budget.is_spent:
                return
            if self._ready == 0 and not self._is_at_hand(
                [walk.position(index) for index in range(min(BATCH, walk.left))]
            ):
                return
            left = walk.left
            try:
                self._delivery.deliver(walk, min(self._ready, budget.count), budget.bytes, now)
            finally:
                done = left - walk.left
                self._ready -= done
                budget.count -= done
                budget.bytes -= self._delivery.bytes_done
        self._finish(walk)

    def _is_at_hand(self, positions: list[int]) -> bool:
        """Whether the records of these units are in memory; if not, a disk job reads them."""
        if self._fetch is None:
            parts = self._delivery.cold_parts(positions)
            if parts:
                self._fetch = _Fetch(parts)
                self._worker.submit(Lane.BACKGROUND, self._fetch)
                return False
        elif not self._fetch.is_over:
            return False
        self._fetch = None
        self._ready = len(positions)
        return True


class _Fetch:
    """A disk job that reads records into memory."""

    def __init__(self, parts: list[memoryview]) -> None:
        self._parts = parts
        self.is_over = False

    def run(self) -> None:
        for part in self._parts:
            bytes(part[::_PAGE_BYTES])

    def done(self, error: BaseException | None) -> None:
        # An error shows itself when the records are read.
        self._parts = []
        self.is_over = True
