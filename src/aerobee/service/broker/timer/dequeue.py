"""Delivering one slot of the wheel: walk its units, learn what was taken back, store the rest.

    walk ──▶ what takes back is read ──▶ batches: in memory? ──▶ store again ──▶ slot done with
                                              └─ no: a disk job brings them there

Each part is done in pieces, as much as a tick allows. What the store refuses now is tried again
later, from the same message on. A record that is gone or damaged is reported and passed over: it
must not hold up the others for ever.

Called from the core's thread only.
"""

import logging

from aerobee.errors import (
    CorruptRecord,
    MessageIllegal,
    Misuse,
    ProtocolError,
)
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.service.broker.real_place import Undeliverable
from aerobee.service.broker.timer.clock_shifts import ClockShifts
from aerobee.service.broker.timer.slot_walk import SlotWalk, TimerDamaged
from aerobee.service.broker.timer.timer_delivery import TimerDelivery
from aerobee.service.broker.timer.timer_scale import TimerScale
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_log import ROLL, TimerLog, TimerUnit
from aerobee.storage.timer.timer_wheel import Slot, TimerWheel

_log = logging.getLogger(__name__)

UNITS_A_STEP = 4_000  # a chain's next unit costs about a µs
BATCH = 256
_PAGE_BYTES = 4096


class Budget:
    """What a tick may still do."""

    __slots__ = ("bytes", "count")

    def __init__(self, count: int, byte_count: int) -> None:
        self.count = count
        self.bytes = byte_count

    @property
    def is_spent(self) -> bool:
        return self.count <= 0 or self.bytes <= 0


class Dequeue:
    """D1. While `walk` is set, its slot is in the wheel, and only units of it are delivered."""

    def __init__(
        self,
        store: Store,
        worker: DiskWorker,
        wheel: TimerWheel,
        log: TimerLog,
        delivery: TimerDelivery,
        shifts: ClockShifts,
        scale: TimerScale,
    ) -> None:
        self._store = store
        self._worker = worker
        self._wheel = wheel
        self._timer_log = log
        self._delivery = delivery
        self._shifts = shifts
        self._scale = scale
        self._walk: SlotWalk | None = None
        self._taken_back: set[bytes] = set()
        self._keys_read = 0
        # Messages of the slot that the log has no more.
        self._gone = 0
        self._batch: list[TimerUnit] = []
        self._fetch: _Fetch | None = None
        # Since the start.
        self.delivered = 0

    @property
    def is_busy(self) -> bool:
        return self._walk is not None

    @property
    def is_waiting(self) -> bool:
        """For the disk."""
        return self._fetch is not None and not self._fetch.is_over

    def begin(self, slot: Slot) -> None:
        self._walk = SlotWalk(self._timer_log, slot)
        self._taken_back = set()
        self._keys_read = 0
        self._gone = 0
        self._batch = []
        self._fetch = None

    def pause(self) -> None:
        """Go on with the slot another time, from where it is."""
        self.note_progress()
        self._forget()

    def abandon(self) -> None:
        """Wheel and log are about to be built again."""
        self._forget()

    def note_progress(self) -> None:
        """Have the wheel say what of the slot is left."""
        walk = self._walk
        if walk is not None and walk.is_over:
            slot = self._wheel.find(walk.time_ms)
            if slot is not None:
                self._wheel.put(slot._replace(first=walk.progress().first))

    def _forget(self) -> None:
        self._walk = None
        self._taken_back = set()
        self._batch = []
        self._fetch = None
        self._delivery.let_go()

    def run(self, budget: Budget, now: Now) -> None:
        """Go on with the slot, as far as the budget allows. A StorageError says why the store takes
        nothing now; TimerDamaged, that the slot cannot be walked."""
        walk = self._walk
        assert walk is not None
        if not walk.is_over:
            budget.count -= 1 + (walk.step(UNITS_A_STEP) >> 5)
            if not walk.is_over:
                return
            self._gone += walk.was_cut
        try:
            if self._read_keys(walk, budget):
                self._deliver(walk, budget, now)
        finally:
            self._delivery.let_go()

    def _finish(self, walk: SlotWalk) -> None:
        """The slot is done with, unless it was given something meanwhile."""
        if self._gone:
            # Once for a slot: there may be millions.
            _log.error(
                "%d messages for %d, or more, were removed before they were delivered: the log is "
                "kept for too short a time, or the disk is full",
                self._gone,
                walk.time_ms,
            )
        slot = self._wheel.find(walk.time_ms)
        if slot is not None and slot.last > walk.last:
            self._wheel.put(slot._replace(first=walk.last + 1))
        else:
            self._wheel.clear(walk.time_ms)
        self._forget()

    # What was taken back.

    def _read_keys(self, walk: SlotWalk, budget: Budget) -> bool:
        """Whether all of them are known."""
        while self._keys_read < len(walk.deletes):
            if budget.is_spent:
                return False
            if not self._batch:
                positions = walk.deletes[self._keys_read : self._keys_read + BATCH]
                self._batch = self._units_at(list(positions))
            if not self._is_at_hand(self._batch):
                return False
            for unit in self._batch:
                budget.count -= 1
                record = self._record_of(unit)
                if record is not None:
                    self._delivery.read(record)
                    self._taken_back.add(self._delivery.delete_key())
            self._keys_read += len(self._batch)
            self._batch = []
        return True

    # The rest.

    def _deliver(self, walk: SlotWalk, budget: Budget, now: Now) -> None:
        while walk.left:
            if budget.is_spent:
                return
            if not self._batch:
                self._batch = self._units_at(walk.positions(min(BATCH, budget.count)))
            if not self._is_at_hand(self._batch):
                return
            done = 0
            try:
                for unit in self._batch:
                    self._deliver_one(unit, now)
                    budget.bytes -= unit.record_size
                    done += 1
            finally:
                budget.count -= done
                walk.take(done)
                del self._batch[:done]
        self._finish(walk)

    def _deliver_one(self, unit: TimerUnit, now: Now) -> None:
        """Store one again. A StorageError says that the store takes none now."""
        record = self._record_of(unit)
        if record is None:
            return
        self._delivery.read(record)
        is_rolled = unit.magic & ROLL
        if self._taken_back and not is_rolled and self._delivery.key() in self._taken_back:
            return
        try:
            self._put(unit, now)
            self.delivered += 1
        except (Undeliverable, MessageIllegal, Misuse, ProtocolError) as error:
            _report(unit, str(error))

    def _put(self, unit: TimerUnit, now: Now) -> None:
        """Where it belongs, or to the timer again if its delay is not over."""
        delivery = self._delivery
        if self._shifts.has_steps and delivery.is_delayed():
            shift_ms = self._shifts.since(delivery.queue_offset, delivery.stored_ms)
            out_ms = self._scale.ceiling(delivery.out_ms() + shift_ms)
            is_over = out_ms + self._scale.precision_ms <= now.wall_ms
            if shift_ms > 0 and (unit.magic & ROLL or not is_over):
                delivery.put_back(unit, out_ms, now)
                return
        delivery.put(unit, now)

    # Records.

    def _units_at(self, positions: list[int]) -> list[TimerUnit]:
        units = []
        for position in positions:
            unit = self._timer_log.unit(position)
            if unit is None:
                raise TimerDamaged(f"the unit at {position} of the timer log is gone")
            units.append(unit)
        return units

    def _is_at_hand(self, units: list[TimerUnit]) -> bool:
        """Whether the records of a batch are in memory; the disk is asked for them if not."""
        if self._fetch is not None:
            if not self._fetch.is_over:
                return False
            self._fetch = None
            return True
        cold = []
        for unit in units:
            part = self._store.cold_part(unit.log_offset, unit.record_size)
            if part is not None:
                cold.append(part)
        if not cold:
            return True
        self._fetch = _Fetch(cold)
        self._worker.submit(Lane.BACKGROUND, self._fetch)
        return False

    def _record_of(self, unit: TimerUnit) -> memoryview | None:
        try:
            record = self._store.record_at(unit.log_offset)
        except CorruptRecord as error:
            _report(unit, str(error))
            return None
        if record is None:
            self._gone += 1
        return record


class _Fetch:
    """Disk job: have records in memory."""

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


def _report(unit: TimerUnit, fault: str) -> None:
    _log.error(
        "a message that waited for %d cannot be delivered, and is passed over: log offset %d: %s",
        unit.time_ms,
        unit.log_offset,
        fault,
    )
