"""Ledger holds the open transactions and makes every change of their state.

    open ─┬─▶ renew ─▶ open                  the half once more, at the end of its queue
          ├─▶ commit ─▶ safe ─▶ over         the message is in its topic before its half is over
          ├─▶ roll_back ──────▶ over
          ├─▶ give_up ────────▶ over         kept in a topic of its own
          └─▶ move_away ──────▶ over         given to another master

A half is over when an op record names it; the op records of a tick are written together at its
end. Every step is one record, and the log keeps their order: a crash between two leaves the step
before, so a transaction may be checked, or committed, once more, and none is lost. Offsets are
saved behind all of it (`queue_progress`).

Called from the core's thread only.
"""

import logging
from dataclasses import replace
from typing import NamedTuple

from aerobee.errors import DiskFailed, MessageIllegal, NothingTaken, StorageError, StoreBusy
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueOffset
from aerobee.model.names import TRANSACTION_HALF_TOPIC, TRANSACTION_OP_TOPIC
from aerobee.ports.clock import Now
from aerobee.protocol.message.stored_message import decode_record
from aerobee.service.broker.log_access.message_writer import MessageWriter, Safe, StoredAt
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.transaction.half_message import (
    committed,
    first_offset,
    given_up,
    group_of,
    half_of,
    immunity_ms,
    renewed,
    resumed,
)
from aerobee.service.broker.transaction.half_timing import HalfTiming
from aerobee.service.broker.transaction.op_record import count_that_fits, op_message
from aerobee.service.broker.transaction.open_half_recovery import OFFSETS_GROUP, find_open
from aerobee.service.broker.transaction.open_halves import Half, OpenHalves
from aerobee.service.broker.transaction.queue_progress import QueueProgress
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

OPEN_MAX = 200_000
"""Limit of open transactions: some 120 MB. Beyond, halves are refused."""

_HALF = TRANSACTION_HALF_TOPIC.encode()


class Renewed(NamedTuple):
    """The new copy of a half, with its offsets."""

    message: StoredMessage
    end_offset: int
    """The end of its record in the log."""


class Ledger:
    """The open transactions. L1. A half is in `halves` until it was ended once: a second end finds
    none."""

    def __init__(
        self,
        store: Store,
        writer: MessageWriter,
        offsets: ConsumerOffsets,
        timing: HalfTiming,
        host: Host,
        now: Now,
        *,
        open_max: int = OPEN_MAX,
    ) -> None:
        """Finds the open halves in the store. `host` is the broker's own address."""
        self._store = store
        self._writer = writer
        self._offsets = offsets
        self._timing = timing
        self._host = host
        self.open_max = open_max
        self.halves = OpenHalves()
        # Offsets of ended halves that no op record names yet; `_told`: callbacks for when one does.
        self._over: list[int] = []
        # Transactions ended by the general path, since the start.
        self.committed = 0
        self.rolled_back = 0
        self._told: list[Safe] = []
        self._refusal = ""
        found = find_open(store, offsets)
        self.progress = QueueProgress(found.half_end, found.op_offset)
        for one in found.halves:
            half = Half(one.offset, one.group, one.times, timing.found_expiry_ms(one, now))
            half.earlier = one.earlier
            self.progress.opened(one.offset)
            self.halves.add(half, timing.found_check_ms(one, now))
        for offset in found.unseen:
            self.progress.opened(offset)  # found at the next start
        for span in found.ops:
            self.progress.op_written(*span)
        self._saved = (-1, -1)

    def oldest(self) -> Half | None:
        """The open half with the lowest queue offset."""
        return next(iter(self.halves), None)

    def unread_from(self, half: Half) -> int:
        """The number of halves that a start would have to read because of this one."""
        return self.progress.half_end - half.offset

    # Steps.

    def open(self, message: StoredMessage, group: str, now: Now) -> StoredAt:
        """Store a message as a half. StorageError: it is refused."""
        if len(self.halves) >= self.open_max:
            raise StoreBusy(
                f"{self.open_max} transactions are open",
                hint="end some; producers that never do are in the list of open transactions",
            )
        half = half_of(message, group)
        stored = self._writer.put_as_is(half, now)
        due_ms = self._timing.first_check_ms(immunity_ms(half), now)
        self._add(stored, group_of(half), due_ms, now)
        return stored

    def resume(self, parked: StoredMessage, now: Now, then: Safe) -> None:
        """Open a given-up transaction again; its producers are asked at once."""
        half = resumed(parked)
        stored = self._writer.put_as_is(half, now)
        self._add(stored, group_of(half), now.monotonic_ms, now)
        self._writer.when_safe(stored.end_offset, then)

    def _add(self, stored: StoredAt, group: str, due_ms: int, now: Now) -> None:
        self.progress.opened(stored.queue_offset)
        half = Half(stored.queue_offset, group, 0, self._timing.expiry_ms(now))
        self.halves.add(half, due_ms)

    def read(self, half: Half) -> StoredMessage | None:
        """The record of a half; None: it cannot be read yet, or was removed (`is_gone`).
        CorruptRecord."""
        queue = self._store.queue(_HALF, 0)
        unit = queue.unit(half.offset) if queue is not None else None
        return self.record(unit[0]) if unit is not None else None

    def record(self, log_offset: int) -> StoredMessage | None:
        """The record at a log offset, of any topic; None: no record begins there."""
        record = self._store.record_at(log_offset)
        return decode_record(bytes(record)) if record is not None else None

    def is_gone(self, half: Half) -> bool:
        """Whether its record was removed with its log file."""
        queue = self._store.queue(_HALF, 0)
        return queue is not None and half.offset < queue.min_offset

    def is_old(self, half: Half) -> bool:
        """Whether its record is in the oldest quarter of a log of more than four files: these may
        be removed when the disk is full, whatever their age."""
        queue = self._store.queue(_HALF, 0)
        unit = queue.unit(half.offset) if queue is not None else None
        log_bytes = self._store.end_offset - self._store.min_offset
        if unit is None or log_bytes <= 4 * self._store.config.log_file_bytes:
            return False
        return unit[0] - self._store.min_offset < log_bytes // 4

    def renew(self, half: Half, message: StoredMessage, times: int, now: Now) -> Renewed:
        """Store a half once more, at the end of its queue."""
        first = first_offset(message)
        if first is None or first > half.offset:
            first = half.offset
        copy = renewed(message, first, times)
        stored = self._writer.put_as_is(copy, now)
        self.progress.opened(stored.queue_offset)
        self.progress.passed((half.offset,), stored.end_offset)
        half.times = times
        self.halves.move(half, stored.queue_offset, self._timing.next_check_ms(now))
        placed = replace(
            copy,
            queue_offset=QueueOffset(stored.queue_offset),
            log_offset=LogOffset(stored.log_offset),
            store_timestamp=now.wall_ms,
            store_host=self._host,
        )
        return Renewed(placed, stored.end_offset)

    def move_away(self, half: Half, message: StoredMessage, now: Now) -> None:
        """An acting master's: put a half into another broker's log, where it is a new one, and
        forget it here. StorageError: it is refused."""
        stored = self._writer.put_as_is(message, now)
        self.halves.remove(half)
        self.progress.passed(half.chain, stored.end_offset)

    def commit(self, half: Half, message: StoredMessage, now: Now, then: Safe) -> None:
        """Store the message of a half, and end the half when that is safe. StorageError: it is
        refused, and the half stays open."""
        real = committed(message)
        if real is None:
            raise MessageIllegal("the half message does not say where it belongs")
        stored = self._writer.put(real, now)
        self.halves.remove(half)

        def safe(is_safe: bool) -> None:
            if is_safe:
                self.committed += 1
                self._over += half.chain
            then(is_safe)

        self._writer.when_safe(stored.end_offset, safe)

    def end(self, offsets: list[int]) -> None:
        """End halves that the fast path removed from `halves`, once their messages, which are in
        the log, are safe."""

        def safe(is_safe: bool) -> None:
            if is_safe:
                self._over += offsets

        self._writer.when_safe(self._writer.place.end_offset, safe)

    def roll_back(self, half: Half, then: Safe) -> None:
        """End a half without storing its message; `then` is called when that is safe."""
        self.rolled_back += 1
        self.halves.remove(half)
        self._over += half.chain
        self._told.append(then)

    def give_up(self, half: Half, message: StoredMessage, now: Now) -> None:
        """Store a half in the topic of given-up transactions, and end it."""
        self._writer.put_as_is(given_up(message), now)
        self.halves.remove(half)
        self._over += half.chain

    def drop(self, half: Half) -> None:
        """Forget a half that cannot be read."""
        self.halves.remove(half)
        self._over += half.chain

    # Time.

    def on_tick(self, now: Now) -> None:
        """Write op records for ended halves, and commit offsets that are safe."""
        if self._over and self._store.failure is None:
            try:
                self._write_over(now)
            except NothingTaken as error:
                self._note_refusal(error)
            else:
                self._refusal = ""
        self.progress.note_flushed(self._writer.place.lasting_offset)
        self._save()

    @property
    def is_busy(self) -> bool:
        """Whether op records are to be written."""
        return bool(self._over)

    def stop(self, now: Now) -> None:
        """Write and sync op records for all ended halves, and commit the offsets. Blocks on the
        disk."""
        self.on_tick(now)
        try:
            self._store.sync()
        except DiskFailed as error:
            _log.error("transactions that are over may be asked about again: %s", error)
        self.on_tick(now)

    def _write_over(self, now: Now) -> None:
        place = self._writer.place
        if not place.is_own:
            # An acting master has no op records: the offsets alone say what is over.
            self.progress.passed(self._over, place.end_offset)
            self._over = []
        while self._over:
            offsets = self._over[: count_that_fits(self._over)]
            stored = self._writer.put_as_is(op_message(offsets, self._host, now), now)
            del self._over[: len(offsets)]
            self.progress.op_written(stored.queue_offset, max(offsets))
            self.progress.passed(offsets, stored.end_offset)
        told, self._told = self._told, []
        for then in told:
            self._writer.when_safe(self._writer.place.end_offset, then)

    def _note_refusal(self, error: StorageError) -> None:
        if self._refusal != error.message:
            self._refusal = error.message
            _log.warning("transactions that are over wait to be written down: %s", error)

    def _save(self) -> None:
        safe = (self.progress.half_offset, self.progress.op_offset)
        if safe == self._saved:
            return
        self._saved = safe
        for topic, offset in zip((TRANSACTION_HALF_TOPIC, TRANSACTION_OP_TOPIC), safe, strict=True):
            queue = self._store.queue(topic.encode(), 0)
            if queue is not None:
                self._offsets.commit(OFFSETS_GROUP, topic, 0, offset, queue.next_offset)
