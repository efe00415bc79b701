"""Timers, the timer: takes messages from its queue into the wheel and delivers them at their time.

    rmq_sys_wheel_timer ──▶ enqueue ──▶ timer log, wheel ──▶ dequeue ──▶ REAL_TOPIC
              ▲                                                 │
              └────── messages that wait for days are rolled ───┘

Laws.

- Never early: a tick is delivered when the wall clock has passed all of it.
- At least once. A message whose delivery is not known to be on the disk is delivered again after a
  crash; after a clean stop none is.
- A tick is delivered only when every message that was stored before the tick was over is in the
  wheel: so a recall that is stored in time takes effect.
- Every unit in the wheel is at or after `_read_ms`. A message for an earlier tick moves it back: it
  came late, or the clock was set back. Delivered messages are not in the wheel any more.
- A time of day follows the wall clock, even if it is set; a delay is elapsed time, and a clock that
  is set forward does not cut it short (`clock_shifts`).
- A tick of the broker does a bounded amount of work, and nothing is kept in memory per message but
  for the slot that is being delivered.
- If the store refuses a message (disk full, disk behind), it and all behind it wait.

Called from the core's thread only. Imports more than 15 modules because it puts the others
together.
"""

import logging

from aerobee.errors import DiskFailed, DiskFull, NothingTaken, StorageError
from aerobee.ports.clock import Now
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.log_access.due_reader import DueReader
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.state.tables import Ground
from aerobee.service.broker.timer.acceptance import TimerAcceptance
from aerobee.service.broker.timer.clock_shifts import ClockShifts
from aerobee.service.broker.timer.dequeue import Budget, Dequeue
from aerobee.service.broker.timer.enqueue import Done, Enqueue
from aerobee.service.broker.timer.slot_delivery import SlotDelivery
from aerobee.service.broker.timer.slot_walk import TimerDamaged
from aerobee.service.broker.timer.tick_scale import TickScale
from aerobee.service.broker.timer.timer_files import TimerFiles, open_timer_files
from aerobee.service.broker.timer.timer_log_cleaning import TimerLogCleaning
from aerobee.service.broker.timer.timer_roll import TimerRoll
from aerobee.service.broker.timer.timer_saving import SavedPosition, TimerSaving
from aerobee.service.live_config import LiveConfig
from aerobee.storage.files.lack_of_room import is_out_of_handles, is_out_of_room
from aerobee.storage.timer.timer_checkpoint import Seal, TimerCheck

_log = logging.getLogger(__name__)

# Some 2 ms in each direction; while there is more, the next tick comes at once.
COUNT_A_TICK = 1_000
BYTES_A_TICK = 1 << 20
LOOK_MS_MAX = 250
LOOK_MS_BUSY = 20  # while messages arrive: a delivery should not find many still to enqueue
RETRY_MS = 100


class Timers:
    def __init__(
        self,
        ground: Ground,
        writer: MessageWriter,
        config: LiveConfig[BrokerConfig],
        now: Now,
    ) -> None:
        told = config.current
        self._store, self._worker = ground.store, ground.worker
        self._disk = ground.disk
        self._save_interval_ms = told.timer_save_interval_ms
        self.precision_ms = told.timer_precision_ms
        """A tick."""
        self.is_enabled = told.keeps_timers
        # At most half a turn, whatever is configured: so no slot gets two times.
        window = min(told.timer_window_slots, told.timer_wheel_slots // 2)
        self._scale = TickScale(self.precision_ms, window * self.precision_ms)
        seal = Seal(self.precision_ms, self._scale.window_ms, told.timer_wheel_slots)
        files = open_timer_files(self._store, self._disk, seal, told.timer_log_file_bytes)
        self._wheel, self._timer_log = files.wheel, files.log
        self._enqueue = Enqueue(
            self._store,
            DueReader(self._store, self._worker),
            self._wheel,
            self._timer_log,
            self._scale,
        )
        self._shifts = ClockShifts(now, self._queue_end())
        delivery = SlotDelivery(
            self._store,
            self._timer_log,
            writer.redelivery,
            TimerRoll(writer, self._shifts, self._scale),
            self._shifts,
        )
        self._dequeue = Dequeue(self._worker, self._wheel, self._timer_log, delivery)
        # The last that `progress` has told, and the number of deliveries then.
        self._told, self._told_at = files.check, 0
        self._saving = TimerSaving(
            ground, writer.place, self._wheel, self._timer_log, files.check, seal
        )
        self._cleaning = TimerLogCleaning(self._disk, self._worker, self._timer_log, now)
        # The first tick that may have messages to deliver.
        self._read_ms = 0
        self._start(files, now)
        # Ticks before this time are over, and their messages are before this queue offset.
        self._over_ms = -1
        self._over_to = 0
        self._look_ms = self._saved_ms = now.monotonic_ms
        self._refusal = ""
        # The last tick had no budget for all that was due.
        self._has_more = False
        self._is_stopped = False
        self.acceptance = TimerAcceptance(
            self._scale,
            self.is_enabled,
            lambda: config.current.timer_delay_ms_max,
            lambda: config.current.timer_slot_count_max,
            self._count_at,
        )

    def _start(self, files: TimerFiles, now: Now) -> None:
        self._enqueue.start_at(files.queue_offset, files.done)
        self._read_ms = self._scale.floor(now.wall_ms) if files.read_ms is None else files.read_ms

    # Queries.

    @property
    def delivered(self) -> int:
        """Messages delivered since the start, rolled ones included."""
        return self._dequeue.delivered

    @property
    def taken_in(self) -> int:
        """Messages before this offset of the timer's queue are in wheel and log."""
        return self._enqueue.offset

    @property
    def saved(self) -> TimerCheck:
        """The checkpoint on the disk."""
        return self._saving.saved

    def progress(self) -> TimerCheck:
        """The checkpoint of what is delivered into the log by now, on the disk or not. Another one
        only after a delivery."""
        if self.delivered != self._told_at and not self._enqueue.is_rebuilding:
            self._told_at = self.delivered
            taken_in = self._enqueue.offset
            self._told = TimerCheck(self._read_ms, 0, taken_in, taken_in)
        return self._told

    def behind_ms(self, now: Now) -> int:
        """The lateness of deliveries: 0 if all that was due a tick ago is in its queue."""
        return max(0, now.wall_ms - self._read_ms - self.precision_ms)

    def rest_ms(self, now: Now) -> int:
        """The time for which no tick is needed; below 0: there is more to do at once."""
        return -1 if self._has_more else max(0, self._look_ms - now.monotonic_ms)

    def _count_at(self, out_ms: int) -> int:
        slot = self._wheel.find(out_ms)
        return slot.waiting if slot is not None else 0

    # Time.

    def on_tick(self, now: Now) -> None:
        """Enqueue new messages, deliver those that are due, save the progress."""
        self._has_more = False
        if not self.is_enabled or self._is_stopped or self._store.failure is not None:
            return
        self._watch_clock(now)
        self._saving.step(now)
        if now.monotonic_ms < self._look_ms and self._scale.floor(now.wall_ms) == self._over_ms:
            return
        wait_ms = RETRY_MS
        try:
            wait_ms = self._go_on(now)
            self._refusal = ""
        except TimerDamaged as error:
            self._build_again(error, now)
        except NothingTaken as error:
            self._note_refusal(error)
        except OSError as error:
            if not is_out_of_room(error) and not is_out_of_handles(error):
                raise
            self._note_refusal(DiskFull(f"no room for a file of the timer: {error}"))
        self._look_ms = now.monotonic_ms + wait_ms
        if now.monotonic_ms - self._saved_ms >= self._save_interval_ms:
            self._save(now)
        self._cleaning.step(self._store.min_offset, now)

    def _watch_clock(self, now: Now) -> None:
        step_ms = self._shifts.watch(now, self._queue_end())
        if step_ms:
            _log.info("the clock was set by %+d ms", step_ms)

    def _queue_end(self) -> int:
        """The end of the queue, with messages that are stored but not visible yet."""
        queue = self._enqueue.queue()
        return queue.next_offset if queue is not None else 0

    def _go_on(self, now: Now) -> int:
        """Enqueue and deliver once; returns the time for which there is nothing to do."""
        budget = Budget(COUNT_A_TICK, BYTES_A_TICK)
        over_ms = self._scale.floor(now.wall_ms)
        taken = self._enqueue.run(self._read_ms, over_ms, budget.count, budget.bytes)
        lowest_ms = self._enqueue.take_lowest_ms()
        if lowest_ms < self._read_ms:
            if self._dequeue.is_busy:
                self._dequeue.pause()
            self._read_ms = lowest_ms
        self._note_time(now)
        while not budget.is_spent and self._begin():
            self._dequeue.run(budget, now)
            if self._dequeue.is_waiting:
                return 1
        self._has_more = budget.is_spent or taken >= COUNT_A_TICK
        if self._has_more or self._dequeue.is_busy:
            return 0
        to_tick_ms = self.precision_ms - now.wall_ms % self.precision_ms
        is_awaited = self._enqueue.offset < self._over_to
        return min(1 if is_awaited else LOOK_MS_BUSY if taken else LOOK_MS_MAX, to_tick_ms)

    def _note_time(self, now: Now) -> None:
        """Note that a tick is over: its messages are in the queue by now, visible or not."""
        over_ms = self._scale.floor(now.wall_ms)
        if over_ms != self._over_ms:
            self._over_ms = over_ms
            self._over_to = self._queue_end()

    def _begin(self) -> bool:
        """Whether there is a slot to deliver; begin it if need be."""
        if self._read_ms >= self._over_ms:
            if self._dequeue.is_busy:
                self._dequeue.pause()  # the clock was set back
            return False
        if self._dequeue.is_busy:
            return True
        if self._enqueue.offset < self._over_to and not self._enqueue.is_blocked:
            return False
        self._read_ms = self._wheel.next_time(self._read_ms, self._over_ms)
        slot = self._wheel.find(self._read_ms) if self._read_ms < self._over_ms else None
        if slot is not None:
            self._dequeue.begin(slot)
        return slot is not None

    def _note_refusal(self, error: StorageError) -> None:
        if self._refusal != error.message:
            self._refusal = error.message
            _log.warning("messages for a time wait: %s", error)

    def _build_again(self, error: TimerDamaged, now: Now) -> None:
        """Build wheel and log again: the disk is damaged, or the files were changed from outside.
        Blocks on the disk."""
        _log.error("wheel and log of the timer are built again: %s", error)
        self._dequeue.abandon()
        self._saving.drop()
        self._timer_log.reset()
        self._wheel.reset()
        saved, queue = self._saving.saved, self._enqueue.queue()
        end = queue.max_offset if queue is not None else 0
        self._enqueue.start_at(0, Done(min(saved.taken_in, end), saved.read_ms))
        self._read_ms = self._scale.floor(now.wall_ms)

    # Saving.

    def _save(self, now: Now) -> None:
        if not self._saving.is_resting or self._enqueue.is_rebuilding:
            return
        self._saved_ms = now.monotonic_ms
        self._dequeue.note_progress()
        self._saving.begin(SavedPosition(self._read_ms, self._enqueue.offset), now)

    def stop(self, now: Now) -> None:
        """Deliver nothing more and save the progress. Blocks on the disk."""
        self._is_stopped = True
        if not self.is_enabled:
            return
        try:
            self._store.sync()
        except DiskFailed as error:
            _log.error("messages for a time may be delivered again: %s", error)
        self._saving.finish()
        self._save(now)
        self._saving.finish()
        self._timer_log.cut()
        self._timer_log.close()
        self._wheel.close()
