"""Time, as the core sees it: handed in by the caller, never read.

One clock says what time it is, the other how much has passed; nothing mixes the two.
"""

from typing import NamedTuple, Protocol


class Now(NamedTuple):
    """One instant on both clocks."""

    wall_ms: int
    """Milliseconds since 1970: only for stamps that people and the protocol see. It may jump."""
    monotonic_ms: int
    """Milliseconds since some start: for every deadline and interval. It never goes back."""


class Clock(Protocol):
    def now(self) -> Now: ...

    def monotonic_ms(self) -> int:
        """Of the present, when nothing else of it is wanted: cheaper."""
