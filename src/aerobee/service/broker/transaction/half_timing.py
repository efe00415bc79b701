"""HalfTiming computes when a half message is checked and given up, on the monotonic clock.

A half that arrives while the process runs is timed from its arrival. One that was found at the
start has only wall-clock timestamps: the remaining time is computed from them and bounded by the
full time, so a clock that was set delays no check longer than for a new half.
"""

from collections.abc import Callable

from aerobee.ports.clock import Now
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.transaction.open_half_recovery import OpenHalf

HalfTerms = tuple[int, int, int]
"""The limit of open half messages, and for one stored now the monotonic times in milliseconds at
which its producers are asked and at which it is given up."""


class HalfTiming:
    def __init__(self, config: Callable[[], BrokerConfig], retention_ms: int) -> None:
        """`config` returns the current settings. `retention_ms`: the log keeps a half no longer, so
        it is given up somewhat earlier."""
        self._config = config
        self._kept_ms = retention_ms - retention_ms // 64

    def first_check_ms(self, immunity_ms: int | None, now: Now) -> int:
        """The time of the first check of a half that just arrived."""
        return now.monotonic_ms + self._wait_ms(immunity_ms)

    def next_check_ms(self, now: Now) -> int:
        """The time of the next check."""
        return now.monotonic_ms + self._config().transaction_check_interval_ms

    def expiry_ms(self, now: Now) -> int:
        return now.monotonic_ms + self._kept_ms

    @property
    def times_max(self) -> int:
        return self._config().transaction_checks_max

    # Of halves that were found at the start.

    def found_check_ms(self, half: OpenHalf, now: Now) -> int:
        wait_ms = (
            self._config().transaction_check_interval_ms
            if half.times
            else self._wait_ms(half.immunity_ms)
        )
        return now.monotonic_ms + _left_ms(half.stored_ms, wait_ms, now)

    def found_expiry_ms(self, half: OpenHalf, now: Now) -> int:
        # A half that is stored again has a new store timestamp; its age is taken from the born
        # timestamp, if that is plausible.
        is_likely = 0 <= half.stored_ms - half.born_ms <= self._kept_ms
        since_ms = half.born_ms if is_likely else half.stored_ms
        return now.monotonic_ms + _left_ms(since_ms, self._kept_ms, now)

    def _wait_ms(self, immunity_ms: int | None) -> int:
        if immunity_ms is None:
            return self._config().transaction_timeout_ms
        return min(immunity_ms, self._kept_ms)


def _left_ms(since_ms: int, wait_ms: int, now: Now) -> int:
    """The remaining part of a wait that began by the wall clock."""
    return max(0, min(since_ms + wait_ms - now.wall_ms, wait_ms))
