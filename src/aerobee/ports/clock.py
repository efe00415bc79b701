"""Now and Clock: time, passed into the core by the caller, never read there.

The wall clock gives dates, the monotonic clock durations; they are never mixed.
"""

from typing import NamedTuple, Protocol


class Now(NamedTuple):
    """One instant on both clocks."""

    wall_ms: int
    """Milliseconds since 1970: only for timestamps of users and the protocol. It may jump."""
    monotonic_ms: int
    """Milliseconds since some start: for every deadline and interval. It never goes back."""


class Clock(Protocol):
    def now(self) -> Now: ...

    def monotonic_ms(self) -> int:
        """The monotonic time alone: cheaper than `now`."""
