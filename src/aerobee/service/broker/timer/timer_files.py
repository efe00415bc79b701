"""Opens the files of the timer after any stop, RocketMQ's too, or builds them again from the queue.

They are used if the checkpoint is sealed, was made for the same layout, and the files match it.
Otherwise wheel and log are removed, and the whole queue is processed again, which has everything
that is needed. The checkpoint, sealed or not, tells which messages were delivered; without one
every message that is still in the log is delivered again: rather twice than never. So it is at a
broker that was a slave: its checkpoint is its master's, unsealed, and it has no other file.
"""

import logging
from typing import NamedTuple

from aerobee.model.names import TIMER_TOPIC
from aerobee.ports.disk import Disk
from aerobee.service.broker.timer.enqueue import Done
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_checkpoint import (
    Seal,
    TimerCheck,
    check_path,
    decode_check,
    encode_check,
)
from aerobee.storage.timer.timer_log import TimerLog
from aerobee.storage.timer.timer_wheel import TimerWheel

_log = logging.getLogger(__name__)


class TimerFiles(NamedTuple):
    wheel: TimerWheel
    log: TimerLog
    check: TimerCheck
    """The checkpoint as it was read."""
    queue_offset: int
    """The queue offset at which to continue."""
    done: Done
    read_ms: int | None
    """The first tick that may have messages to deliver; None: it follows from the queue."""


def open_timer_files(store: Store, disk: Disk, layout: Seal, log_file_bytes: int) -> TimerFiles:
    path = check_path(store.root)
    found = decode_check(disk.read(path)) if disk.exists(path) else None
    check, seal = found if found is not None else (TimerCheck(), None)
    wheel = TimerWheel(disk, f"{store.root}/timerwheel", layout.slots, layout.precision_ms)
    log = TimerLog(disk, f"{store.root}/timerlog", log_file_bytes)
    queue = store.queue(TIMER_TOPIC.encode(), 0)
    queue_end = queue.max_offset if queue is not None else 0
    if seal == layout and check.queue_offset <= queue_end:
        has_wheel = wheel.load()
        has_log = log.load(check.log_end)
        if has_log and (has_wheel or check.log_end == 0):
            return TimerFiles(wheel, log, check, check.queue_offset, Done(), check.read_ms)
    if queue_end > 0:
        _log.warning("wheel and log of the timer are built again from %d messages", queue_end)
    if seal is not None:
        # First, so that a stop in between leaves no sealed checkpoint over removed files.
        disk.replace(path, encode_check(check, None))
    log.reset()
    wheel.reset()
    done = Done(min(check.taken_in, queue_end), check.read_ms)
    return TimerFiles(wheel, log, check, 0, done, None)
