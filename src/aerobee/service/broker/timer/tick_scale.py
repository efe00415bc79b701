"""TickScale computes the tick of a delivery time, and the slot of a record in the wheel.

    deliver time     t − p < … ≤ t         p: precision, a tick
    TIMER_OUT_MS     the multiple of p below it: the tick in which the last of it passes
    delivered        when the tick is over, at TIMER_OUT_MS + p: never early, less than p late

A message that waits for longer than the window is put into a nearer slot, and back into the timer's
queue when that is due: otherwise its record would be removed with the rest of the log. The slot
depends on the record alone, so that wheel and log can be built again from the queue.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython


def is_compiled() -> bool:
    return cython.compiled


class TickScale:
    """`precision_ms`: a tick; `window_ms`: the used range of the wheel, a multiple of the tick."""

    __slots__ = ("precision_ms", "window_ms")

    def __init__(self, precision_ms: int, window_ms: int) -> None:
        self.precision_ms = precision_ms
        self.window_ms = window_ms

    def floor(self, time_ms: int) -> int:
        return time_ms - time_ms % self.precision_ms

    def ceiling(self, time_ms: int) -> int:
        return -self.floor(-time_ms)

    def out_ms(self, deliver_ms: int) -> int:
        """The TIMER_OUT_MS for a delivery time."""
        return self.floor(deliver_ms - 1)

    def is_beyond(self, out_ms: int, written_ms: int) -> bool:
        """Whether a record that was stored in this tick waits for longer than the window."""
        return out_ms - written_ms >= self.window_ms

    def slot_ms(self, out_ms: int, written_ms: int) -> int:
        """The slot of a record that was stored in this tick: its own, or a nearer one."""
        window_ms = self.window_ms
        beyond_ms = out_ms - written_ms - window_ms
        if beyond_ms < 0:
            return self.floor(out_ms)
        step_ms = window_ms // 2 if beyond_ms < window_ms // 3 else window_ms
        return written_ms + self.floor(step_ms)
