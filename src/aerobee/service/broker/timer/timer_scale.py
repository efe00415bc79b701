"""The arithmetic of ticks: which tick a time belongs to, and how far ahead the wheel is used.

    deliver time     t − p < … ≤ t         p: precision, a tick
    TIMER_OUT_MS     the multiple of p below it: the tick in which the last of it passes
    delivered        when the tick is over, at TIMER_OUT_MS + p: never early, less than p late

A message that waits for longer than the window is put into a nearer slot, and back into the timer's
queue when that comes: its record would be removed with the rest of the log otherwise. Which slot
depends on the record alone, so that wheel and log can be built again from the queue.
"""

from typing import NamedTuple


class TimerScale(NamedTuple):
    precision_ms: int
    window_ms: int

    def floor(self, time_ms: int) -> int:
        return time_ms - time_ms % self.precision_ms

    def ceiling(self, time_ms: int) -> int:
        return -self.floor(-time_ms)

    def out_ms(self, deliver_ms: int) -> int:
        """What a message that is to be delivered then gets as TIMER_OUT_MS."""
        return self.floor(deliver_ms - 1)

    def place(self, out_ms: int, written_ms: int) -> tuple[int, bool]:
        """The slot of a record that was stored in this tick, and whether it is a nearer one."""
        ahead_ms, window_ms = out_ms - written_ms, self.window_ms
        if ahead_ms < window_ms:
            return self.floor(out_ms), False
        beyond_ms = ahead_ms - window_ms
        step_ms = window_ms // 2 if beyond_ms < window_ms // 3 else window_ms
        return written_ms + self.floor(step_ms), True
