"""By how much the wall clock was set forward since a message was stored.

A time of day is the wall clock's to decide. A delay is not: it was made a time of day when the
message was stored, and a clock that is set forward afterwards would cut it short. So of every such
step is kept how far the timer's queue had come; what lies before it is due so much later. Steps of
an earlier process are not known. A clock that is set back makes a delay longer by as much: its
message would have to be looked for in slots that are yet to come.
"""

from collections import deque
from typing import NamedTuple

from aerobee.ports.clock import Now

STEP_MS_MIN = 20  # less is two readings of two clocks, or a clock that is being slewed
_STEPS_MAX = 64


class _Step(NamedTuple):
    before: int
    """What lies before this queue offset was stored before the clock was set."""
    after: int
    """What lies from here on was stored after it."""
    until_ms: int
    """Of what lies between: stored before it, if it was stored by this time."""
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
        """By how much the clock was set since the last look."""
        last, self._last = self._last, now
        last_end, self._last_end = self._last_end, queue_end
        until_ms = last.wall_ms + now.monotonic_ms - last.monotonic_ms
        step_ms = now.wall_ms - until_ms
        if abs(step_ms) < STEP_MS_MIN:
            return 0
        if len(self._steps) == _STEPS_MAX:
            # The oldest two as one: what lay between them is a little late.
            first, second = self._steps.popleft(), self._steps.popleft()
            self._steps.appendleft(second._replace(ms=first.ms + second.ms))
        self._steps.append(_Step(last_end, queue_end, until_ms, step_ms))
        return step_ms

    def since(self, queue_offset: int, stored_ms: int) -> int:
        """How much later what was stored there and then is due; never earlier."""
        total_ms = 0
        for step in reversed(self._steps):
            if queue_offset >= step.after:
                break
            if queue_offset < step.before or stored_ms <= step.until_ms:
                total_ms += step.ms
        return max(0, total_ms)
