"""Alarm is a timer of an event loop that is precise to a fraction of a millisecond.

Event loops wait in whole milliseconds, which would show in latencies that are measured from the due
time. Linux has timers with a file descriptor (timerfd), which a loop can watch. On other systems
the loop's own timer is used.
"""

import asyncio
import ctypes
import os
import sys
import time
from collections.abc import Callable

_CLOCK_MONOTONIC = 1
_NON_BLOCKING = 0o4000
_CLOSE_ON_EXEC = 0o2000000
_AT_A_MOMENT = 1
_SECOND_NS = 1_000_000_000


class _TimerSetting(ctypes.Structure):
    _fields_ = (
        ("every_s", ctypes.c_long),
        ("every_ns", ctypes.c_long),
        ("first_s", ctypes.c_long),
        ("first_ns", ctypes.c_long),
    )


class Alarm:
    """Calls back at a moment of `time.monotonic_ns`. A new moment replaces the old one."""

    def __init__(self, rung: Callable[[], None], *, is_precise: bool = True) -> None:
        self._rung = rung
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._file = -1
        if is_precise and sys.platform == "linux":
            self._file = self._libc.timerfd_create(_CLOCK_MONOTONIC, _NON_BLOCKING | _CLOSE_ON_EXEC)
        if self._file >= 0:
            self._loop.add_reader(self._file, self._ring)

    @property
    def is_precise(self) -> bool:
        return self._file >= 0

    def ring_at(self, moment_ns: int) -> None:
        """Set the moment; one in the past calls back at once."""
        if self._file >= 0:
            moment_ns = max(1, moment_ns)  # nothing would switch it off
            setting = _TimerSetting(0, 0, moment_ns // _SECOND_NS, moment_ns % _SECOND_NS)
            self._libc.timerfd_settime(self._file, _AT_A_MOMENT, ctypes.byref(setting), None)
            return
        if self._timer is not None:
            self._timer.cancel()
        wait_ns = max(0, moment_ns - time.monotonic_ns())
        self._timer = self._loop.call_later(wait_ns / _SECOND_NS, self._rung)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._file >= 0:
            self._loop.remove_reader(self._file)
            os.close(self._file)
            self._file = -1

    def _ring(self) -> None:
        try:
            os.read(self._file, 8)
        except BlockingIOError:
            return  # it was set anew in between
        self._rung()
