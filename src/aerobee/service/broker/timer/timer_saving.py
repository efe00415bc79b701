"""TimerSaving writes timer log, wheel and checkpoint to the disk, in an order that survives any
stop.

    freeze ──▶ sync timer log ──▶ commit log flushed ──▶ write wheel ──▶ sync wheel ──▶ checkpoint
               (disk job)         (wait)                 (in pieces)     (disk job)     (disk job)

The order is the law. The wheel's file never names a unit that is not on the disk, and never drops
one whose delivery is not; the checkpoint describes what is on the disk. A power cut while the wheel
is written leaves some slots newer than the checkpoint: `enqueue` handles those.

If the disk is full, saving is tried again later. A failed sync ends the saving: the next start
continues from the last save. Called from the core's thread only.
"""

import logging
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import Lane
from aerobee.service.broker.log_access.put_place import PutPlace
from aerobee.service.broker.state.tables import Ground
from aerobee.storage.files.lack_of_room import is_out_of_handles, is_out_of_room
from aerobee.storage.timer.timer_checkpoint import Seal, TimerCheck, check_path, encode_check
from aerobee.storage.timer.timer_log import TimerLog
from aerobee.storage.timer.timer_wheel import TimerWheel

_log = logging.getLogger(__name__)

SLOTS_A_STEP = 4_000
RETRY_MS = 1_000


class _Phase(Enum):
    REST = 0
    LOG = 1
    COMMIT_LOG = 2
    WRITE = 3
    WHEEL = 4
    CHECK = 5
    FAILED = 6


class SavedPosition(NamedTuple):
    """The timer's progress: the next tick to deliver, the next queue offset to process."""

    read_ms: int
    queue_offset: int


class TimerSaving:
    def __init__(
        self,
        ground: Ground,
        place: PutPlace,
        wheel: TimerWheel,
        log: TimerLog,
        saved: TimerCheck,
        seal: Seal,
    ) -> None:
        """`place` is the log that messages are delivered into."""
        self._place = place
        self._disk = ground.disk
        self._worker = ground.worker
        self._wheel = wheel
        self._timer_log = log
        self._seal = seal
        self._path = check_path(ground.store.root)
        self._phase = _Phase.REST
        self._job: _Job | None = None
        self._next = saved
        self._log_end = 0
        # The disk was full: not to be tried again before this.
        self._is_refused = False
        self._retry_ms = 0
        self.saved = saved
        """The checkpoint in the file."""

    @property
    def is_resting(self) -> bool:
        return self._phase is _Phase.REST

    def begin(self, position: SavedPosition, now: Now) -> None:
        """Save the present state if it changed; only while `is_resting`."""
        assert self._phase is _Phase.REST
        saved, end = self.saved, self._timer_log.end
        if not self._wheel.is_changed and (end, position.queue_offset) == saved[1:3]:
            return  # only the time changed
        self._next = TimerCheck(
            position.read_ms,
            end,
            position.queue_offset,
            position.queue_offset,
            saved.state_version,
            now.wall_ms,
            saved.counter + 1,
        )
        self._wheel.freeze()
        self._log_end = self._place.end_offset
        unsynced = self._timer_log.take_unsynced()
        self._go(_Phase.LOG, lambda: self._timer_log.sync(unsynced))

    def step(self, now: Now) -> None:
        """Continue as far as the disk jobs are done."""
        if self._is_refused:
            self._is_refused = False
            self._retry_ms = now.monotonic_ms + RETRY_MS
        if now.monotonic_ms >= self._retry_ms:
            self._step()

    def _step(self) -> None:
        if self._phase is _Phase.COMMIT_LOG and self._place.lasting_offset >= self._log_end:
            self._phase = _Phase.WRITE
        if self._phase is _Phase.WRITE:
            try:
                is_written = self._wheel.write_some(SLOTS_A_STEP)
            except OSError as error:
                self._fail(error)
                return
            if is_written:
                self._go(_Phase.WHEEL, self._wheel.sync)

    def finish(self) -> None:
        """Block until the save that was begun is done or has failed. The store must have been
        synced."""
        self._is_refused = False
        while self._phase not in (_Phase.REST, _Phase.FAILED):
            self.finish_job()
            if self._phase is _Phase.COMMIT_LOG and self._place.lasting_offset < self._log_end:
                return  # it never will be flushed
            if not self._is_refused:
                self._step()
            if self._is_refused:
                return

    def drop(self) -> None:
        """Unseal the checkpoint before wheel and log are built again. Blocks on the disk."""
        self.finish_job()
        self._phase = _Phase.REST
        self._disk.replace(self._path, encode_check(self.saved, None))

    def finish_job(self) -> None:
        """Block until the running disk job is done."""
        while self._job is not None:
            self._worker.wait(self._job)

    def _go(self, phase: _Phase, work: Callable[[], None]) -> None:
        self._phase = phase
        self._job = _Job(work, self._done)
        self._worker.submit(Lane.BACKGROUND, self._job)

    def _done(self, error: BaseException | None) -> None:
        self._job = None
        if error is not None:
            self._fail(error)
        elif self._phase is _Phase.LOG:
            self._phase = _Phase.COMMIT_LOG
        elif self._phase is _Phase.WHEEL:
            data = encode_check(self._next, self._seal)
            self._go(_Phase.CHECK, lambda: self._disk.replace(self._path, data))
        elif self._phase is _Phase.CHECK:
            self.saved = self._next
            self._phase = _Phase.REST

    def _fail(self, error: BaseException) -> None:
        if is_out_of_room(error) or is_out_of_handles(error):
            _log.warning("how far the timer is cannot be saved now: %s", error)
            self._phase = _Phase.WRITE  # write what may be left of the wheel, then continue
            self._is_refused = True
            return
        _log.error("how far the timer is is not saved any more: %s", error)
        self._phase = _Phase.FAILED


class _Job:
    """A disk job: one step of saving."""

    def __init__(
        self, work: Callable[[], None], done: Callable[[BaseException | None], None]
    ) -> None:
        self._work = work
        self._done = done

    def run(self) -> None:
        self._work()

    def done(self, error: BaseException | None) -> None:
        self._done(error)
