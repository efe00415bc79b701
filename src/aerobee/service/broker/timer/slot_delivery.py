"""SlotDelivery delivers the units of one slot: recalls are noted, the other messages are stored in
their real topic.

    position ──▶ unit ──▶ record, checked ──▶ recalled? ──▶ REAL_TOPIC, with TIMER_ENQUEUE_MS and
                                                 └ waits on     TIMER_DEQUEUE_MS
                                                   (timer_roll)

A message whose topic was deleted since is dropped.

Compiled, because every timed message passes here. A record that is damaged, or has no real topic,
is reported and skipped: it must not hold up the others for ever. One that the log has no more is
counted. Called from the core's thread only.
"""

import logging
from typing import TYPE_CHECKING

from aerobee.errors import CorruptRecord, MessageIllegal, Misuse, ProtocolError
from aerobee.ports.clock import Now
from aerobee.service.broker.log_access.real_topic import Undeliverable
from aerobee.service.broker.log_access.redelivery import Redelivery
from aerobee.service.broker.timer.clock_shifts import ClockShifts
from aerobee.service.broker.timer.slot_walk import SlotWalk, TimerDamaged
from aerobee.service.broker.timer.timer_roll import TimerRoll, stamp
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.read.record_reader import RecordReader
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_log import TimerLog, UnitFields

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

_log = logging.getLogger(__name__)

_STRETCH_BYTES_MAX = 4 << 20  # a thousand pages: some 10 µs


def is_compiled() -> bool:
    return cython.compiled


class SlotDelivery:
    """Delivers the messages of one slot at a time. `taken_back` has the keys of its recalled
    messages, `gone` counts its messages that the log has no more; `delivered` counts since the
    start."""

    __slots__ = (
        "_file",
        "_log",
        "_records",
        "_redelivery",
        "_shifts",
        "_stamp",
        "_stamp_ms",
        "_store",
        "_timer_roll",
        "_unit",
        "_wall_ms",
        "bytes_done",
        "delivered",
        "gone",
        "taken_back",
    )

    def __init__(
        self,
        store: Store,
        log: TimerLog,
        redelivery: Redelivery,
        timer_roll: TimerRoll,
        shifts: ClockShifts,
    ) -> None:
        self._store = store
        self._records: RecordReader = store.records
        self._log = log
        self._redelivery = redelivery
        self._timer_roll = timer_roll
        self._shifts = shifts
        self._unit = UnitFields()
        self._file: MappedFile | None = None
        # The properties text for messages of one enqueue time that are delivered now.
        self._stamp = b""
        self._stamp_ms = -1
        self._wall_ms = -1
        self.taken_back: set[bytes] = set()
        self.gone = 0
        self.delivered = 0
        # Of the last `deliver`.
        self.bytes_done = 0

    def begin(self) -> None:
        """Begin another slot."""
        self.taken_back = set()
        self.gone = 0

    def let_go(self) -> None:
        """Drop references to the files that were read."""
        self._file = None
        self._redelivery.let_go()

    # Records that are not in memory.

    def cold_parts(self, positions: list[int]) -> list[memoryview]:
        """The parts of these units' records that are not in memory."""
        unit = self._unit
        first = -1
        end = -1
        for position in positions:
            self._look(position)
            if first < 0 or unit.log_offset < first:
                first = unit.log_offset
            if unit.log_offset + unit.record_size > end:
                end = unit.log_offset + unit.record_size
        if not positions or self._store.is_hot(first):
            return []
        # A call for each would cost more than delivering it.
        if end - first <= _STRETCH_BYTES_MAX and self._records.is_at_hand(first, end):
            return []
        found = []
        for position in positions:
            self._look(position)
            part = self._store.cold_part(unit.log_offset, unit.record_size)
            if part is not None:
                found.append(part)
        return found

    # Messages.

    def learn(self, position: int) -> None:
        """Note the message that a recall unit names."""
        self._look(position)
        if self._read():
            self.taken_back.add(self._redelivery.delete_key())

    def deliver(self, walk: SlotWalk, count_max: int, bytes_max: int, now: Now) -> None:
        """Deliver up to `count_max` units of a finished walk, or about `bytes_max` bytes.
        StorageError: the store takes none now, and the walk has the rest."""
        self.bytes_done = 0
        wall_ms = now.wall_ms
        while count_max > 0 and self.bytes_done < bytes_max:
            self._look(walk.position(0))
            if self._read():
                self._deliver(wall_ms, now)
            walk.take(1)
            self.bytes_done += self._unit.record_size
            count_max -= 1

    def _look(self, position: int) -> None:
        if not self._log.look(position, self._unit):
            raise TimerDamaged(f"the unit at {position} of the timer log is gone")

    def _read(self) -> bool:
        """Whether the record of the unit just looked at exists and is sound."""
        redelivery = self._redelivery
        try:
            file = self._records.find(self._unit.log_offset, redelivery.record)
        except CorruptRecord as error:
            self._report(error)
            return False
        if file is None:
            self.gone += 1
            return False
        self._file = file
        redelivery.look(file.view)
        return True

    def _deliver(self, wall_ms: int, now: Now) -> None:
        """Deliver the message just read."""
        redelivery = self._redelivery
        unit = self._unit
        is_rolled = unit.magic & 2 != 0
        if self.taken_back and not is_rolled and redelivery.key() in self.taken_back:
            return
        try:
            if redelivery.is_dead():
                return
            if (is_rolled or redelivery.text.is_delayed) and self._is_put_back(is_rolled, now):
                self.delivered += 1
                return
            if unit.enqueue_ms != self._stamp_ms or wall_ms != self._wall_ms:
                self._stamp = stamp(unit.enqueue_ms, wall_ms)
                self._stamp_ms = unit.enqueue_ms
                self._wall_ms = wall_ms
            redelivery.put(self._stamp, wall_ms)
            self.delivered += 1
        except (Undeliverable, MessageIllegal, Misuse, ProtocolError) as error:
            self._report(error)

    def _is_put_back(self, is_rolled: bool, now: Now) -> bool:
        """Whether the message waits on. Rare: delays of days, or a clock that was set."""
        if not is_rolled and not self._shifts.has_steps:
            return False
        file = self._file
        assert file is not None
        record = self._redelivery.record
        view = file.slice(record.position, record.size)
        return self._timer_roll.take(view, is_rolled, self._unit.enqueue_ms, now)

    def _report(self, error: Exception) -> None:
        _log.error(
            "a message that waited for %d cannot be delivered, and is passed over: "
            "log offset %d: %s",
            self._unit.enqueue_ms + self._unit.delayed_ms,
            self._unit.log_offset,
            error,
        )
