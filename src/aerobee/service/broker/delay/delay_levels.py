"""DelayLevels delivers messages of the schedule topic when they are due.

Each level is a queue, in the order in which its messages become due, so only the heads are looked
at: a hundred thousand waiting messages cost nothing. Laws:

- Never early, whatever is done to the clock: see `delay_level`.
- At least once. The offset of a level is saved when its deliveries are on the disk; messages
  delivered after the last save are delivered again after a crash. After a clean stop none is.
- In order within a level.
- A tick does a bounded amount of work; a level with many due messages does not starve the others.
- If the store refuses a message (disk full, disk behind), it and all behind it wait.

Called from the core's thread only.
"""

import logging
from collections.abc import Sequence

from aerobee.errors import (
    AerobeeError,
    DiskFailed,
    MessageIllegal,
    Misuse,
    NothingTaken,
    ProtocolError,
    StorageError,
)
from aerobee.model.names import SCHEDULE_TOPIC
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.service.broker.delay.delay_level import DelayLevel
from aerobee.service.broker.log_access.due_reader import DueReader
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.real_topic import Undeliverable
from aerobee.service.broker.state.delay_offsets import DelayOffsets
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

SAVE_INTERVAL_MS = 3_000
COUNT_A_TICK = 1_000  # some 2 ms; while there is more, the next tick comes at once
BYTES_A_TICK = 1 << 20
LOOK_MS_MAX = 250
RETRY_MS = 100
CLOCK_STEP_MS = 20  # less is the gap between reading two clocks, or a clock that is slewed
_UNCONFIGURED_MS = 1_000

_TOPIC = SCHEDULE_TOPIC.encode()


class DelayLevels:
    """All levels, moved by ticks."""

    def __init__(
        self,
        store: Store,
        writer: MessageWriter,
        offsets: DelayOffsets,
        worker: DiskWorker,
        levels_ms: Sequence[int],
        now: Now,
        *,
        save_interval_ms: int = SAVE_INTERVAL_MS,
    ) -> None:
        self._store = store
        self._place = writer.place
        self._redelivery = writer.redelivery
        self._reader = DueReader(store, worker)
        self._offsets = offsets
        self._save_interval_ms = save_interval_ms
        self._saved_ms = now.monotonic_ms
        self._levels = self._opened(levels_ms, now)
        # At most the shortest delay: new messages are seen before they are due.
        self._rest_ms_max = min(LOOK_MS_MAX, *(level.delay_ms for level in self._levels))
        self._first = 0  # the level that the next tick begins with
        self._last_now = now
        self._look_ms = now.monotonic_ms
        self._refusal = ""
        # The last tick had no budget for all that was due.
        self._has_more = False
        self._is_stopped = False
        # Of all levels, since the start.
        self.delivered = 0
        self._count_left = 0
        self._bytes_left = 0

    def _opened(self, levels_ms: Sequence[int], now: Now) -> list[DelayLevel]:
        """The configured levels, and those that have a queue though they are not configured any
        more."""
        delays = list(levels_ms) or [_UNCONFIGURED_MS]
        numbers = set(range(1, len(delays) + 1))
        numbers |= {queue.queue_id + 1 for queue in self._store.queues() if queue.topic == _TOPIC}
        levels = []
        for number in sorted(numbers):
            level = DelayLevel(number, delays[min(number, len(delays)) - 1])
            queue = self._queue_of(level)
            if queue is not None:
                saved = self._offsets.saved.get(number, queue.min_offset)
                level.move_to(min(saved, queue.max_offset))
                level.mark(queue.next_offset, now.monotonic_ms)
            levels.append(level)
        return levels

    def on_tick(self, now: Now) -> None:
        """Deliver due messages."""
        self._has_more = False
        self._watch_clock(now)
        if now.monotonic_ms < self._look_ms or self._is_stopped or self._store.failure is not None:
            return
        self._count_left, self._bytes_left = COUNT_A_TICK, BYTES_A_TICK
        try:
            wait_ms = self._deliver_all(now)
        except NothingTaken as error:
            wait_ms = RETRY_MS
            self._note_refusal(error)
        else:
            self._refusal = ""
        self._look_ms = now.monotonic_ms + wait_ms
        if now.monotonic_ms - self._saved_ms >= self._save_interval_ms:
            self._save(now)

    @property
    def offsets(self) -> DelayOffsets:
        """The saved offsets of the levels."""
        return self._offsets

    def rest_ms(self, now: Now) -> int:
        """The time for which no tick is needed; below 0: there is more to do at once."""
        return -1 if self._has_more else max(0, self._look_ms - now.monotonic_ms)

    def progress(self) -> dict[int, tuple[int, int]]:
        """By level: (next offset to deliver, end of its queue)."""
        found = {}
        for level in self._levels:
            queue = self._queue_of(level)
            if queue is not None:
                found[level.number] = (level.offset, queue.max_offset)
        return found

    def stop(self, now: Now) -> None:
        """Deliver nothing more and save the offsets. Blocks on the disk."""
        self._is_stopped = True
        try:
            self._store.sync()
        except DiskFailed as error:
            _log.error("delayed messages may be delivered again: %s", error)
        self._offsets.finish()
        self._save(now)
        self._offsets.finish()

    # Delivering.

    def _deliver_all(self, now: Now) -> int:
        """Deliver due messages of every level; returns the time for which none has anything to
        do."""
        wait_ms = self._rest_ms_max
        count = len(self._levels)
        for turn in range(self._first, self._first + count):
            level = self._levels[turn % count]
            queue = self._queue_of(level)
            if queue is None:
                continue
            self._correct(level, queue)
            level.mark(queue.next_offset, now.monotonic_ms)
            self._deliver_due(level, queue, now)
            if self._count_left <= 0 or self._bytes_left <= 0:
                self._first = (turn + 1) % count
                self._has_more = True
                return 0
            level_ms = level.ms_to_due(queue, now)
            if level_ms is not None:
                wait_ms = min(wait_ms, level_ms)
        return wait_ms

    def _deliver_due(self, level: DelayLevel, queue: ConsumeQueue, now: Now) -> None:
        begun_at = level.offset
        end = level.due_end(queue, self._count_left, now)
        if end == begun_at:
            return
        found = self._reader.read(queue, begun_at, end, self._bytes_left)
        if found is None:
            return
        run = self._redelivery
        try:
            for view in found.views:
                run.begin(view)
                self._deliver_run(level, end, now)
            level.offset = max(level.offset, min(found.next_offset, end))
        finally:
            run.let_go()
            if level.offset > begun_at:
                level.note_delivered(self._place.end_offset)

    def _deliver_run(self, level: DelayLevel, end: int, now: Now) -> None:
        """Deliver consecutive records. StorageError: the store takes none now."""
        run = self._redelivery
        while not run.is_over():
            try:
                run.run(end, now.wall_ms)
            except (Undeliverable, MessageIllegal, Misuse, ProtocolError) as error:
                self._report(level, run.record.queue_offset, error)
                run.pass_over()
            finally:
                if run.count_run:
                    level.offset = run.next_offset
                self._count_left -= run.count_run
                self._bytes_left -= run.bytes_run
                self.delivered += run.count_run
                run.count_run = run.bytes_run = 0

    def _report(self, level: DelayLevel, queue_offset: int, error: AerobeeError) -> None:
        _log.error(
            "a delayed message cannot be delivered, and is passed over: "
            "level %d, queue offset %d: %s",
            level.number,
            queue_offset,
            error,
        )

    def _note_refusal(self, error: StorageError) -> None:
        if self._refusal != error.message:
            self._refusal = error.message
            _log.warning("delayed messages wait: %s", error)

    def _correct(self, level: DelayLevel, queue: ConsumeQueue) -> None:
        """Keep a level inside its queue."""
        if level.offset < queue.min_offset:
            _log.error(
                "%d messages of delay level %d were removed before they were delivered: "
                "the log is kept for too short a time, or the disk is full",
                queue.min_offset - level.offset,
                level.number,
            )
            level.move_to(queue.min_offset)
        elif level.offset > queue.max_offset:
            level.move_to(queue.max_offset)

    def _queue_of(self, level: DelayLevel) -> ConsumeQueue | None:
        return self._store.queue(_TOPIC, level.queue_id)

    # The clock.

    def _watch_clock(self, now: Now) -> None:
        """Detect a step of the wall clock since the last tick."""
        last, self._last_now = self._last_now, now
        step_ms = now.wall_ms - last.wall_ms - (now.monotonic_ms - last.monotonic_ms)
        if abs(step_ms) < CLOCK_STEP_MS:
            return
        _log.info("the clock was set by %+d ms: what waits goes by the time that passes", step_ms)
        self._look_ms = now.monotonic_ms
        for level in self._levels:
            queue = self._queue_of(level)
            if queue is not None:
                level.distrusted_to = queue.next_offset

    # Saving.

    def _save(self, now: Now) -> None:
        """Save the offsets that are safe."""
        if self._offsets.is_saving:
            return
        self._saved_ms = now.monotonic_ms
        self._offsets.save(self.safe_offsets(), now.wall_ms)

    def safe_offsets(self) -> dict[int, int]:
        """By level: the first message whose delivery could be lost."""
        flushed = self._place.lasting_offset
        safe = {}
        for level in self._levels:
            level.note_flushed(flushed)
            if self._queue_of(level) is not None:
                safe[level.number] = level.safe_offset
        return safe
