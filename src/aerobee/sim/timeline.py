"""Timeline runs events in order of time: one heap of events on one virtual clock.

Time passes only from event to event. Events of one instant happen in the order in which they were
asked for, so a run is a function of its seed and of nothing else: no thread, no real clock, no
order of a set.
"""

import heapq
from collections.abc import Callable

from aerobee.ports.clock import Now
from aerobee.sim.clock import SimClock

Action = Callable[[], None]


class Event:
    """Something that will happen, unless it is cancelled."""

    __slots__ = ("_action", "at_ms")

    def __init__(self, at_ms: int, action: Action) -> None:
        self.at_ms = at_ms
        self._action: Action | None = action

    def cancel(self) -> None:
        self._action = None

    @property
    def is_cancelled(self) -> bool:
        return self._action is None

    def happen(self) -> None:
        action, self._action = self._action, None
        if action is not None:
            action()


class Timeline:
    """The one order of everything. T1. No event is behind the clock."""

    def __init__(self, clock: SimClock | None = None) -> None:
        self.clock = clock or SimClock()
        self._events: list[tuple[int, int, Event]] = []
        self._count = 0

    @property
    def now_ms(self) -> int:
        return self.clock.now().monotonic_ms

    @property
    def pending(self) -> int:
        return len(self._events)

    def after(self, ms: int, action: Action) -> Event:
        """Have something happen so many milliseconds from now: 0 is next, not at once."""
        event = Event(self.now_ms + max(0, ms), action)
        self._count += 1
        heapq.heappush(self._events, (event.at_ms, self._count, event))
        return event

    def run(self, until_ms: int, is_over: Callable[[], bool] = lambda: False) -> bool:
        """Let everything happen up to an instant, or until `is_over`; whether that is why."""
        while not is_over():
            if not self._events or self._events[0][0] > until_ms:
                self.clock.advance(max(0, until_ms - self.now_ms))
                return False
            at_ms, _, event = heapq.heappop(self._events)
            self.clock.advance(at_ms - self.now_ms)
            event.happen()
        return True


class HostClock:
    """A machine's clocks: the wall clock may be wrong, the monotonic one begins at its boot."""

    def __init__(self, clock: SimClock) -> None:
        self._clock = clock
        self._skew_ms = 0
        self._booted_ms = 0

    def now(self) -> Now:
        wall_ms, monotonic_ms = self._clock.now()
        return Now(wall_ms + self._skew_ms, monotonic_ms - self._booted_ms)

    def monotonic_ms(self) -> int:
        return self._clock.monotonic_ms() - self._booted_ms

    def jump_wall(self, ms: int) -> None:
        """Somebody sets the clock of this machine."""
        self._skew_ms += ms

    def boot(self) -> None:
        """The machine has just been switched on."""
        self._booted_ms = self._clock.now().monotonic_ms
