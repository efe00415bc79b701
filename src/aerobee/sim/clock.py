"""Time that moves only when told.

Both clocks move together, unless a test sets the wall clock as an operator would.
"""

from aerobee.ports.clock import Now


class SimClock:
    __slots__ = ("_monotonic_ms", "_wall_ms")

    def __init__(self, wall_ms: int = 1_700_000_000_000, monotonic_ms: int = 0) -> None:
        self._wall_ms = wall_ms
        self._monotonic_ms = monotonic_ms

    def now(self) -> Now:
        return Now(self._wall_ms, self._monotonic_ms)

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def advance(self, ms: int) -> Now:
        """Time passes on both clocks."""
        if ms < 0:
            raise ValueError("time does not go back; jump_wall moves the wall clock alone")
        self._wall_ms += ms
        self._monotonic_ms += ms
        return self.now()

    def jump_wall(self, ms: int) -> Now:
        """Somebody sets the wall clock, forwards or back. The monotonic clock does not notice."""
        self._wall_ms += ms
        return self.now()
