"""ClockShifts records by how much the wall clock was set while messages waited in the timer.

A message for a time of day follows the wall clock. A delay must not: it was converted to a time of
day when the message was stored, and a clock that is set forward afterwards would cut it short. So
for every step of the clock the end of the timer's queue is kept; messages before it are due that
much later. Steps during an earlier process are not known. A clock that is set back makes a delay
longer by as much: the message is in a slot that is yet to come.
"""

from collections import deque
from typing import NamedTuple

from aerobee.ports.clock import Now

STEP_MS_MIN = 20  # less is the gap between reading two clocks, or a clock that is slewed
_STEPS_MAX = 64


class _Step(NamedTuple):
    before: int
    """Messages before this queue offset were stored before the step."""
    after: int
    """Messages from this queue offset on were stored after the step."""
    until_ms: int
    """Messages in between were stored before the step if their store timestamp is not later."""
    ms: int


class ClockShifts:
    def __init__(self, now: Now, queue_end: int) -> None:
        self._last = now
        self._last_end = queue_end
        self._steps: deque[_Step] = deque()

    @property
    def has_steps(self) -> bool:
        return bool(self._steps)

    def watch(self, now: Now, queue_end: int) -> int:
        """The step of the clock since the last call, in ms; 0: none."""
        last, self._last = self._last, now
        last_end, self._last_end = self._last_end, queue_end
        until_ms = last.wall_ms + now.monotonic_ms - last.monotonic_ms
        step_ms = now.wall_ms - until_ms
        if abs(step_ms) < STEP_MS_MIN:
            return 0
        if len(self._steps) == _STEPS_MAX:
            # Join the oldest two: messages between them are delivered a little late.
            first, second = self._steps.popleft(), self._steps.popleft()
            self._steps.appendleft(second._replace(ms=first.ms + second.ms))
        self._steps.append(_Step(last_end, queue_end, until_ms, step_ms))
        return step_ms

    def since(self, queue_offset: int, stored_ms: int) -> int:
        """The delay in ms for a message with this queue offset and store timestamp; never
        negative."""
        total_ms = 0
        for step in reversed(self._steps):
            if queue_offset >= step.after:
                break
            if queue_offset < step.before or stored_ms <= step.until_ms:
                total_ms += step.ms
        return max(0, total_ms)
